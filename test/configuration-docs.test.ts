import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings } from '@tenon/server';
import { root } from './helpers/server.ts';

/** How the page names a setting: a variable, or an item of the variable that its section is about. */
const nameOf = ({ variable, item }: { variable: string; item: string | undefined }) =>
  item === undefined ? variable : `${variable} ${item}`;

describe('docs/reference/configuration.md', () => {
  const page = readFileSync(join(root, 'docs', 'reference', 'configuration.md'), 'utf8');
  const rows = new Map<string, { fallback: string | undefined; description: string }>();
  for (const section of page.split(/^## /m)) {
    const [, list] = /^`(\w+)`/.exec(section) ?? [];
    for (const [, name = '', fallback, description = ''] of section.matchAll(
      /^\| `([\w-]+)` \| (?:`([^`]*)`)? *\| (.+) \|$/gm,
    )) {
      rows.set(list === undefined ? name : `${list} ${name}`, { fallback, description });
    }
  }

  it('has exactly the settings that there are, and the lists that hold some', () => {
    const lists = Object.values(settings).flatMap(({ variable, item }) => (item === undefined ? [] : variable));
    assert.deepEqual([...rows.keys()].sort(), [...new Set([...lists, ...Object.values(settings).map(nameOf)])].sort());
  });

  for (const [name, setting] of Object.entries(settings)) {
    it(`shows what ${nameOf(setting)} is, and its default`, () => {
      const row = rows.get(nameOf(setting));
      assert.equal(row?.description, setting.description);
      if (name === 'moduleWorkers' || name === 'simulationsAtOnce') return; // by the cores of this machine
      const value: unknown = setting.default;
      // The default of a file's settings has no text.
      if (
        value === undefined ||
        name === 'signIn' ||
        (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
      )
        assert.equal(row?.fallback, undefined);
      else assert.deepEqual(setting.read(row?.fallback ?? ''), setting.default);
    });
  }

  it('are few', () => {
    const variables = [...new Set(Object.values(settings).map(({ variable }) => variable))];
    assert.ok(variables.filter((name) => name.startsWith('TENON_')).length <= 40);
    assert.ok(variables.filter((name) => name.startsWith('OTEL_')).length <= 8);
  });
});
