import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { quotaLimit, quotas } from '../domain/quotas.ts';
import { quotaList } from './quota-list.ts';

describe('quotaList()', () => {
  const [app, user] = [newId('app'), newId('user')];

  it('reads values for all, and for one account or application', () => {
    const read = quotaList(`applications=30, app-bytes=50GiB,${app}:app-bytes=1GiB,${app}:plugins=7,${user}:tokens=2,`);
    assert.equal(quotaLimit(read, 'applications', user), 30);
    assert.equal(quotaLimit(read, 'app-bytes', newId('app')), 50 * 2 ** 30);
    assert.equal(quotaLimit(read, 'app-bytes', app), 2 ** 30);
    assert.equal(quotaLimit(read, 'plugins', app), 7);
    assert.equal(quotaLimit(read, 'tokens', user), 2);
    assert.equal(quotaLimit(read, 'tokens', newId('user')), quotas.tokens.default);
  });

  it('refuses what it does not know', () => {
    const refused: Readonly<Record<string, RegExp>> = {
      'apps=3': /must hold quotas such as applications=100, not "apps=3"; quotas: applications, tokens/,
      constructor: /must hold quotas/,
      'toString=1': /must hold quotas/,
      'tokens=0': /whole number above 0/,
      'app-bytes=much': /number of bytes/,
      [`${user}:plugins=3`]: /"plugins", which is a quota of an application/,
      [`${app}:tokens=3`]: /"tokens", which is a quota of an account/,
      'app_x:plugins=3': /"app_x"/,
    };
    for (const [text, message] of Object.entries(refused)) assert.throws(() => quotaList(text), { message }, text);
  });
});

describe('docs/reference/limits.md', () => {
  it('has every quota with its default', () => {
    const page = readFileSync(new URL('../../../../docs/reference/limits.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \|/gm)].map(([, ...cells]) => cells);
    const expected = Object.entries(quotas).map(([name, quota]) => {
      const value = 'isBytes' in quota ? bytesInWords(quota.default) : quota.default.toLocaleString('en');
      return [name, quota.of, value];
    });
    assert.deepEqual(rows, expected);
  });
});

function bytesInWords(bytes: number): string {
  return bytes >= 2 ** 30 ? `${bytes / 2 ** 30} GiB` : `${bytes / 2 ** 20} MiB`;
}
