import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { pinnedNodes } from './node-binaries.mjs';
import { root } from './workspace.mjs';

it('docs/reference/node-binaries.md tells of the executables that package-lock.json pins', () => {
  const page = readFileSync(join(root, 'docs/reference/node-binaries.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(.+?)` \| `[0-9a-f]{64}` \| (the same|not compared: .+) \|$/gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(
    rows,
    pinnedNodes(root).map(({ name, version }) => `${name}@${version}`),
    'run `node scripts/compare-node.mjs`',
  );
});
