import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings } from '@tenon/server';
import { root } from './helpers/server.ts';

describe('docs/reference/configuration.md', () => {
  const page = readFileSync(join(root, 'docs', 'reference', 'configuration.md'), 'utf8');
  const rows = new Map(
    [...page.matchAll(/^\| `((?:TENON|OTEL)_\w+)` \| (?:`([^`]*)`)? +\| (.+) \|$/gm)].map(
      ([, variable = '', fallback, description = '']) => [variable, { fallback, description }],
    ),
  );

  it('lists exactly the settings that there are', () => {
    const variables = Object.values(settings).map(({ variable }) => variable);
    assert.deepEqual([...rows.keys()].sort(), variables.sort());
  });

  for (const [name, setting] of Object.entries(settings)) {
    it(`shows what ${setting.variable} is, and its default`, () => {
      const row = rows.get(setting.variable);
      assert.equal(row?.description, setting.description);
      if (name === 'moduleWorkers') return; // as many as this machine has cores
      const value: unknown = setting.default;
      if (value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0))
        assert.equal(row?.fallback, undefined);
      else assert.deepEqual(setting.read(row?.fallback ?? ''), setting.default);
    });
  }
});
