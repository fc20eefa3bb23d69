import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLoopbackAddress } from './loopback.ts';

describe('isLoopbackAddress()', () => {
  it('takes the callback on this machine, at any port, with any query', () => {
    for (const address of [
      'http://127.0.0.1:51004/callback?code=a&state=b',
      'http://[::1]:1/callback?error=access_denied',
    ]) {
      assert.equal(isLoopbackAddress(address), true, address);
    }
  });

  it('takes nothing else', () => {
    const others = [
      '',
      '/callback',
      '//127.0.0.1/callback',
      'https://127.0.0.1:51004/callback',
      'http://localhost:51004/callback',
      'http://127.0.0.1.example.org/callback',
      'http://127.0.0.1:51004/other',
      'http://user@127.0.0.1:51004/callback',
      'http://127.0.0.1@example.org/callback',
      'javascript:alert(1)//127.0.0.1/callback',
      'data:text/html,127.0.0.1/callback',
    ];
    for (const address of others) assert.equal(isLoopbackAddress(address), false, address);
  });
});
