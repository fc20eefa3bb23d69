import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPrivatePath, parseServerUrl } from './server-url.ts';

describe('parseServerUrl()', () => {
  it('writes equal URLs alike', () => {
    for (const url of [
      'https://example.org/tenon',
      'HTTPS://Example.ORG:443/tenon//',
      'https://example.org/x/../tenon/',
    ]) {
      assert.equal(parseServerUrl(url), 'https://example.org/tenon');
    }
  });

  it("takes no text that is no server's URL", () => {
    for (const text of ['', 'example.org', 'file:///x', 'https://a:b@host', 'https://:b@host', 'https://host/#x']) {
      assert.equal(parseServerUrl(text), undefined, text);
    }
  });
});

describe('isPrivatePath()', () => {
  it('is so with TLS, or within this machine', () => {
    for (const url of ['https://example.org', 'http://localhost:1', 'http://127.1.2.3', 'http://[::1]:8366/x']) {
      assert.equal(isPrivatePath(url), true, url);
    }
    for (const url of [
      'http://example.org',
      'http://192.0.2.1',
      'http://127.example.org',
      'http://localhost.example',
    ]) {
      assert.equal(isPrivatePath(url), false, url);
    }
  });
});
