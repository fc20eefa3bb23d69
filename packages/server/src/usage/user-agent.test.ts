import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reduceUserAgent } from './user-agent.ts';

describe('reduceUserAgent()', () => {
  it('keeps the first product and its version', () => {
    const known: Readonly<Record<string, string>> = {
      'tenon-client/0.1.0': 'tenon-client/0.1.0',
      'tenon-client/0.1.0-beta.2 (node; arm64)': 'tenon-client/0.1.0',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36': 'Mozilla/5.0',
      'Go-http-client/1.1': 'Go-http-client/1.1',
      'python-requests/2.32.3': 'python-requests/2.32.3',
      'okhttp/v4.12': 'okhttp/4.12',
      'curl/8.5.0': 'curl/8.5.0',
      node: 'node',
      'undici, something': 'undici',
    };
    for (const [text, expected] of Object.entries(known)) assert.equal(reduceUserAgent(text), expected);
  });

  it('keeps nothing of what may be a secret, an address, or a name', () => {
    const odd = [
      ...[undefined, '', ' ', '/', '1/2', 'x', '10.1.2.3', 'ada@example.org', 'tnn_0123456789', '=cmd()', '\u0000a'],
      ...[`a${'b'.repeat(100_000)}`, 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0', 'host/123456789', 'a_b/1', 'läden/1'],
    ];
    for (const text of odd) assert.equal(reduceUserAgent(text), 'other', String(text).slice(0, 40));
  });
});
