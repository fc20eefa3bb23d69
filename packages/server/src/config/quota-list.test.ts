import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { quotaList } from './quota-list.ts';
import { quotaLimit, quotas } from './quotas.ts';

describe('quotaList()', () => {
  const [app, user] = [newId('app'), newId('user')];

  it('parses values for all, and for one account or application', () => {
    const read = quotaList(`applications=30, app-bytes=50GiB,${app}:app-bytes=1GiB,${app}:plugins=7,${user}:tokens=2,`);
    assert.equal(quotaLimit(read, 'applications', user), 30);
    assert.equal(quotaLimit(read, 'app-bytes', newId('app')), 50 * 2 ** 30);
    assert.equal(quotaLimit(read, 'app-bytes', app), 2 ** 30);
    assert.equal(quotaLimit(read, 'plugins', app), 7);
    assert.equal(quotaLimit(read, 'tokens', user), 2);
    assert.equal(quotaLimit(read, 'tokens', newId('user')), quotas.tokens.default);
  });

  it('rejects unknown quotas, wrong ids and wrong values', () => {
    const rejected: Readonly<Record<string, RegExp>> = {
      'apps=3':
        /must be a list of quotas such as applications=100 \(got "apps=3"\); the quotas are applications, tokens/,
      constructor: /must be a list of quotas/,
      'toString=1': /must be a list of quotas/,
      'tokens=0': /whole number above 0/,
      'app-bytes=much': /number of bytes/,
      [`${user}:plugins=3`]: /must have the id of an application before ":plugins"/,
      [`${app}:tokens=3`]: /must have the id of an account before ":tokens"/,
      'app_x:plugins=3': /"app_x"/,
    };
    for (const [text, message] of Object.entries(rejected)) assert.throws(() => quotaList(text), { message }, text);
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
