import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultBaseUrl } from './listen-address.ts';

describe('defaultBaseUrl()', () => {
  it('uses localhost for loopback and wildcard addresses', () => {
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '::1', '[::1]', '0.0.0.0', '::']) {
      assert.equal(defaultBaseUrl(host, 8366), 'http://localhost:8366', host);
    }
  });

  it('uses any other address unchanged', () => {
    assert.equal(defaultBaseUrl('192.0.2.7', 80), 'http://192.0.2.7:80');
    assert.equal(defaultBaseUrl('127.0.0.2', 8366), 'http://127.0.0.2:8366');
    assert.equal(defaultBaseUrl('2001:db8::7', 8366), 'http://[2001:db8::7]:8366');
    assert.equal(defaultBaseUrl('tenon.internal', 8366), 'http://tenon.internal:8366');
  });
});
