import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type AuditAction, auditActions } from '@tenon/protocol';
import { root } from './helpers/server.ts';

describe('docs/reference/audit.md', () => {
  const page = readFileSync(join(root, 'docs', 'reference', 'audit.md'), 'utf8');

  it('lists exactly the actions that there are, with their words, targets and details', () => {
    const rows = page.matchAll(/^\| `(\w+\.\w+)` \| (.*) \| (\w+) \| (.*) \|$/gm);
    const listed = Array.from(rows, ([, action, words, target, details = '']) => [
      action,
      words,
      target,
      Array.from(details.matchAll(/`(\w+)`/g), ([, name]) => name),
    ]);
    const expected = Object.entries(auditActions).map(([action, info]) => [
      action,
      info.phrase,
      info.target,
      [...info.details],
    ]);
    const byAction = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1);
    assert.deepEqual(listed.sort(byAction), expected.sort(byAction));
  });

  it('puts each under the trail that it is in', () => {
    const [inApps = '', ofAccounts = ''] = page.split('## Actions of accounts');
    for (const [action, { trail }] of Object.entries(auditActions) as [AuditAction, { trail: string }][]) {
      assert.equal(inApps.includes(`| \`${action}\` |`), trail === 'app', action);
      assert.equal(ofAccounts.includes(`| \`${action}\` |`), trail !== 'app', action);
    }
  });
});
