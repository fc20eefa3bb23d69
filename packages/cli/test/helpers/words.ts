import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { createRandom } from '../../../../test/helpers/random.ts';

/** Why the program can't be made on this machine; `false` when it can. CI installs the compilers, and says that none may be missing. */
export function whyNoCompiler(): string | false {
  const absent = ['clang', 'wasm-ld'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (absent.length === 0) return false;
  assert.ok(!process.env.COMPILERS_REQUIRED, `${absent.join(' and ')} should be installed`);
  return `${absent.join(' and ')} are not installed here`;
}

/** Compiles the program that counts words. @returns where it is */
export async function compileWords(folder: string): Promise<string> {
  const source = join(import.meta.dirname, '..', 'programs', 'words.c');
  const [object, module] = [join(folder, 'words.o'), join(folder, 'words.wasm')];
  // Linked on its own: clang would have whatever wasm-opt it finds take the names away.
  compile('clang', ['--target=wasm32', '-O1', '-Wall', '-Wextra', '-Werror', '-c', '-o', object, source]);
  compile('wasm-ld', [object, '-o', module]);
  await rm(object);
  return module;
}

function compile(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** A text of many lines, and how often its words come, the most first: what the program writes of it. */
export function makeText(lines: number): { readonly text: string; readonly counted: string } {
  const words = ['mortise', 'tenon', 'dovetail', 'spruce', 'oak', 'joint', 'plane', 'chisel', 'a', 'the', 'of', 'Saw'];
  const random = createRandom(7);
  const next = () => words[Math.floor(random.next() ** 2 * words.length)] as string;
  const counts = new Map<string, number>();
  const text = Array.from({ length: lines }, () => {
    const line = Array.from({ length: 8 }, next);
    for (const word of line) counts.set(word, (counts.get(word) ?? 0) + 1);
    return `${line.join(', ')}.\n`;
  }).join('');
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const shown = sorted.slice(0, 10).map(([word, count]) => `${word} ${count}\n`);
  return { text, counted: shown.join('') };
}
