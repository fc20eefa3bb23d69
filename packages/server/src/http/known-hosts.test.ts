import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { DomainError } from './domain-errors.ts';
import { requireKnownHost } from './known-hosts.ts';

const addresses = { base: () => 'https://tenon.example/plugins', instrument: () => 'https://rewrite.example' };

function refusalOf(host: string, listenHost = '127.0.0.1', isBrowser = true): string | undefined {
  const message = { headers: { host }, rawHeaders: ['Host', host] } as unknown as IncomingMessage;
  try {
    requireKnownHost({ addresses, listenHost }, message, isBrowser);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof DomainError);
    return error.code;
  }
}

describe('requireKnownHost()', () => {
  it('accepts the names of the public URLs, loopback names, and the listen address, with any port', () => {
    for (const host of [
      'tenon.example',
      'TENON.example.:8366',
      'rewrite.example:443',
      'localhost:9000',
      'app.localhost',
      '127.0.0.1:1',
      '[::1]:8366',
    ]) {
      assert.equal(refusalOf(host), undefined, host);
    }
    assert.equal(refusalOf('192.0.2.7:8366', '192.0.2.7'), undefined);
    assert.equal(refusalOf('[2001:db8::7]:8366', '2001:db8::7'), undefined);
    assert.equal(refusalOf('inside.example', 'inside.example'), undefined);
  });

  it('rejects other names and addresses', () => {
    for (const host of [
      'evil.example:8366',
      'tenon.example.evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '192.0.2.7',
      'user@localhost:8366',
      'localhost:8366:evil',
      '',
    ]) {
      assert.equal(refusalOf(host), 'cross_site_request', host);
    }
  });

  it('accepts every address, but no other name, if the server listens on all addresses', () => {
    for (const listenHost of ['0.0.0.0', '::']) {
      assert.equal(refusalOf('192.0.2.7:8366', listenHost), undefined);
      assert.equal(refusalOf('[2001:db8::7]:8366', listenHost), undefined);
      assert.equal(refusalOf('evil.example', listenHost), 'cross_site_request');
    }
  });

  it('accepts any name from programs', () => {
    assert.equal(refusalOf('evil.example', '127.0.0.1', false), undefined);
  });
});
