import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createClientAddresses } from './client-address.ts';

const message = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;

describe('createClientAddresses()', () => {
  it('believes no header unless a trusted proxy sent it', () => {
    const clients = createClientAddresses([]);
    assert.equal(clients.of(message('192.0.2.1', { 'x-forwarded-for': '198.51.100.7' })), '192.0.2.1');
    const others = createClientAddresses(['10.0.0.0/8']);
    assert.equal(others.of(message('192.0.2.1', { forwarded: 'for=198.51.100.7' })), '192.0.2.1');
  });

  it('takes the nearest address that is no trusted proxy', () => {
    const clients = createClientAddresses(['10.0.0.0/8', '2001:db8::/32', '127.0.0.1']);
    const of = (value: string) => clients.of(message('::ffff:10.1.2.3', { 'x-forwarded-for': value }));
    assert.equal(of('198.51.100.7'), '198.51.100.7');
    assert.equal(of('203.0.113.9, 198.51.100.7, 10.9.9.9'), '198.51.100.7');
    assert.equal(of('10.9.9.9'), '10.9.9.9');
    assert.equal(of('nonsense'), '10.1.2.3');
    assert.equal(of('203.0.113.9, unknown'), '10.1.2.3');
  });

  it('reads forwarded, with quotes, brackets and ports', () => {
    const clients = createClientAddresses(['10.0.0.0/8']);
    const of = (value: string) =>
      clients.of(message('10.1.2.3', { forwarded: value, 'x-forwarded-for': '192.0.2.99' }));
    assert.equal(of('for=198.51.100.7;proto=https'), '198.51.100.7');
    assert.equal(of('proto=https;For="198.51.100.7:4711"'), '198.51.100.7');
    assert.equal(of('for="[2001:db8::1]:4711"'), '2001:db8::1');
    assert.equal(of('for=192.0.2.1, for=198.51.100.7, for=10.0.0.1'), '198.51.100.7');
    assert.equal(of('for=_hidden'), '10.1.2.3');
  });
});
