// Writes the table rows of docs/reference that repeat texts of the code: node scripts/write-reference-rows.mjs
import './lib/require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rowsOfCode } from './lib/reference-rows.mjs';
import { root } from './lib/workspace.mjs';

for (const [path, write] of Object.entries(await rowsOfCode())) {
  const file = join(root, path);
  writeFileSync(file, write(readFileSync(file, 'utf8')));
}
