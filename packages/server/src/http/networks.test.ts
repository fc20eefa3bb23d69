import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createNetworkSet, isWithin, toCidr } from './networks.ts';

describe('toCidr()', () => {
  it('accepts addresses and CIDR blocks of both families', () => {
    assert.equal(toCidr('192.0.2.7'), '192.0.2.7/32');
    assert.equal(toCidr('192.0.2.0/24'), '192.0.2.0/24');
    assert.equal(toCidr('2001:DB8::/32'), '2001:db8::/32');
    assert.equal(toCidr('::1'), '::1/128');
  });

  it('refuses other texts', () => {
    const texts = [
      '',
      'x',
      '192.0.2.0/33',
      '192.0.2.0/',
      '192.0.2.0/-1',
      '192.0.2/24',
      '::/129',
      'fe80::1%eth0',
      '1.2.3.4/8/8',
    ];
    for (const text of [...texts, '::ffff:192.0.2.1', '::ffff:0:0/96', ' 192.0.2.1', '192.0.2.0/1e1'])
      assert.equal(toCidr(text), undefined, text);
  });
});

describe('createNetworkSet()', () => {
  it('has the addresses of its networks', () => {
    const { has } = createNetworkSet(['192.0.2.0/24', '2001:db8::/32']);
    for (const address of ['192.0.2.255', '2001:db8:1::1', '::ffff:192.0.2.1', '::ffff:c000:201'])
      assert.ok(has(address), address);
    for (const address of ['192.0.3.0', '2001:db9::1', '::ffff:192.0.3.1', '', 'unknown'])
      assert.ok(!has(address), address);
  });
});

describe('isWithin()', () => {
  it('compares networks', () => {
    assert.ok(isWithin('192.0.2.128/25', ['10.0.0.0/8', '192.0.2.0/24']));
    assert.ok(isWithin('2001:db8::1/128', ['2001:db8::/32']));
    assert.ok(!isWithin('192.0.2.0/23', ['192.0.2.0/24']));
    assert.ok(!isWithin('2001:db8::/32', ['0.0.0.0/0']));
    assert.ok(!isWithin('192.0.2.0/24', ['::/0']));
  });
});
