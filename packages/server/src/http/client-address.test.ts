import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createClientAddresses, networkOf } from './client-address.ts';

const message = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

const clientsBehind = (trustedProxies: readonly string[], forwardedHeader = 'x-forwarded-for') =>
  createClientAddresses({ trustedProxies, forwardedHeader });

describe('createClientAddresses()', () => {
  it('ignores the header unless a trusted proxy sent it', () => {
    const clients = clientsBehind([]);
    assert.equal(clients.of(message('192.0.2.1', { 'x-forwarded-for': '198.51.100.7' })), '192.0.2.1');
    const others = clientsBehind(['10.0.0.0/8']);
    assert.equal(others.of(message('192.0.2.1', { forwarded: 'for=198.51.100.7' })), '192.0.2.1');
  });

  it('returns the nearest address that is not a trusted proxy', () => {
    const clients = clientsBehind(['10.0.0.0/8', '2001:db8::/32', '127.0.0.1']);
    const of = (value: string) => clients.of(message('::ffff:10.1.2.3', { 'x-forwarded-for': value }));
    assert.equal(of('198.51.100.7'), '198.51.100.7');
    assert.equal(of('203.0.113.9, 198.51.100.7, 10.9.9.9'), '198.51.100.7');
    assert.equal(of('10.9.9.9'), '10.9.9.9');
    assert.equal(of('nonsense'), '10.1.2.3');
    assert.equal(of('203.0.113.9, unknown'), '10.1.2.3');
  });

  it('reads only the configured header', () => {
    const sent = { forwarded: 'for=203.0.113.7', 'x-forwarded-for': '198.51.100.66', 'cf-connecting-ip': '192.0.2.5' };
    const addressBy = (name?: string) => clientsBehind(['10.0.0.0/8'], name).of(message('10.1.2.3', sent));
    assert.equal(addressBy(), '198.51.100.66');
    assert.equal(addressBy('forwarded'), '203.0.113.7');
    assert.equal(addressBy('cf-connecting-ip'), '192.0.2.5');
    assert.equal(addressBy('x-real-ip'), '10.1.2.3', 'the proxy speaks for its clients');
  });

  it('parses forwarded with quotes, brackets and ports', () => {
    const clients = clientsBehind(['10.0.0.0/8'], 'forwarded');
    const of = (value: string) =>
      clients.of(message('10.1.2.3', { forwarded: value, 'x-forwarded-for': '192.0.2.99' }));
    assert.equal(of('for=198.51.100.7;proto=https'), '198.51.100.7');
    assert.equal(of('proto=https;For="198.51.100.7:4711"'), '198.51.100.7');
    assert.equal(of('for="[2001:db8::1]:4711"'), '2001:db8::1');
    assert.equal(of('for=192.0.2.1, for=198.51.100.7, for=10.0.0.1'), '198.51.100.7');
    assert.equal(of('for=_hidden'), '10.1.2.3');
  });
});

describe('networkOf()', () => {
  it('returns the /64 network of an IPv6 address in any notation', () => {
    for (const [address, network] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
      ['2001:db8::6', '2001:db8:0:0::/64'],
      ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['::', '0:0:0:0::/64'],
      ['1::', '1:0:0:0::/64'],
      ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
      ['1:2:3:4:5:6:192.0.2.33', '1:2:3:4::/64'],
    ] as const) {
      assert.equal(networkOf(address), network, address);
    }
  });

  it('returns IPv4 addresses and other text unchanged', () => {
    for (const address of ['192.0.2.1', '', 'unknown']) assert.equal(networkOf(address), address);
  });
});
