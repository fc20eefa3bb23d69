// Makes `common-passwords.txt.br` out of a list of passwords, the most used ones first, a line each:
//
//   node packages/server/data/build-common-passwords.ts <list>
//
// README.md beside this says which list it was.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { brotliCompressSync, constants } from 'node:zlib';
import { minPasswordLength } from '@tenon/protocol';

/** How many of the first lines count where they are too short to be a password here: people put digits behind these. */
const shortOnes = 20_000;
const minCoreLength = 4;

const [list] = process.argv.slice(2);
if (list === undefined) throw new Error('Name the list: node packages/server/data/build-common-passwords.ts <list>');

const kept = new Set<string>();
for (const [at, line] of readFileSync(list, 'utf8').split(/\r?\n/).entries()) {
  const password = line.toLowerCase();
  if (!/^[\x20-\x7e]+$/.test(password)) continue;
  if (password.length >= minPasswordLength || (at < shortOnes && password.length >= minCoreLength)) kept.add(password);
}
const text = `\n${[...kept].sort().join('\n')}\n`;
const packed = brotliCompressSync(text, {
  params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_LGWIN]: 24 },
});
writeFileSync(new URL('./common-passwords.txt.br', import.meta.url), packed);
console.log(`${kept.size} passwords, ${text.length} bytes, ${packed.length} compressed`);
