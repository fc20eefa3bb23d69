// Counts the hand-written words of the README, docs/, and the packages' READMEs; fails when there are more than `maxWords`.
//
//   node scripts/count-words.mjs [--pages]
//
// A word is text between white space that has a letter or a digit. Counted: prose, headings, and tables. Not counted: fenced code, which
// tests run or type-check (shown apart), and what scripts generate: whole pages, and the rows that `write-reference-rows.mjs` writes.
import './lib/require-node.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { codeBlocks } from './lib/markdown.mjs';
import { codeRows } from './lib/reference-rows.mjs';
import { findFiles, root } from './lib/workspace.mjs';

const maxWords = 36_000;
const generatedPages = ['docs/reference/cli.md', 'docs/reference/errors.md', 'docs/reference/node-binaries.md'];

const files = findFiles(['README.md', 'docs/**/*.md', 'packages/*/README.md']).filter(
  (file) => !generatedPages.includes(file),
);
/** @type {Record<string, RegExp>} */
const generatedRows = codeRows;
const pages = files.map((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const rows = generatedRows[file];
  const written = rows === undefined ? text : text.replaceAll(rows, '');
  const code = codeBlocks(written).reduce((sum, block) => sum + words(block.code), 0);
  const withoutFences = written.replaceAll(/^\s*```.*$/gm, '');
  return { file, words: words(withoutFences) - code, code };
});

const total = pages.reduce((sum, page) => sum + page.words, 0);
const code = pages.reduce((sum, page) => sum + page.code, 0);
if (process.argv.includes('--pages')) {
  for (const page of pages) console.log(`${String(page.words).padStart(6)} ${page.file}`);
}
console.log(`${total} hand-written words in ${pages.length} pages, at most ${maxWords} (and ${code} in code blocks)`);
if (total > maxWords) process.exitCode = 1;

/** @param {string} text */
function words(text) {
  return text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;
}
