import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { anchors } from '../scripts/lib/markdown.mjs';

const root = join(import.meta.dirname, '..');

it('the console links to pages of the documentation that exist', () => {
  const sources = globSync('packages/console/src/**/*.tsx', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const pages = sources.flatMap((source) =>
    [...source.matchAll(/<DocsLink page="([^"]*)"/g)].map((match) => match[1] ?? ''),
  );
  assert.ok(pages.length >= 4);
  for (const page of pages) {
    const [path = '', anchor] = page.split('#');
    const file = join(root, 'docs', `${path === '' ? 'README' : path}.md`);
    assert.ok(existsSync(file), page);
    if (anchor !== undefined) assert.ok(anchors(readFileSync(file, 'utf8')).has(anchor), page);
  }
});
