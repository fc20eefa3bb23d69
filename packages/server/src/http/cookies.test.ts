import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cookieName } from './cookies.ts';

describe('cookieName()', () => {
  it('differs for servers on different ports of one host', () => {
    const names = [
      'http://localhost:8366',
      'http://localhost:8367/tenon',
      'http://localhost',
      'https://localhost:8443',
    ];
    assert.deepEqual(
      names.map((base) => cookieName('session', base)),
      ['tenon-session-8366', 'tenon-session-8367', 'tenon-session', '__Host-tenon-session'],
    );
  });
});
