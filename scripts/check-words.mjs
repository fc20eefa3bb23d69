// Fails where a word is used that the project has replaced by a standard term; `retired-words.json` lists them.
import './lib/require-node.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { retiredWordFaults } from './lib/retired-words.mjs';
import { findFiles, root } from './lib/workspace.mjs';

/** @type {import('./lib/retired-words.mjs').RetiredWord[]} */
const words = JSON.parse(readFileSync(join(root, 'scripts/retired-words.json'), 'utf8'));
const files = findFiles([...new Set(words.flatMap(({ in: globs }) => globs))]);
const faults = retiredWordFaults(root, files, words);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
