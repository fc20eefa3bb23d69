import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';
import { whyNoCompiler } from './helpers/words.ts';

const source = join(import.meta.dirname, 'programs', 'collatz.c');

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, `${program}: ${stderr}`);
  return stdout;
}

/** The counts of lines in LCOV. */
async function linesOf(file: string): Promise<Record<string, number>> {
  const text = await readFile(file, 'utf8');
  return Object.fromEntries([...text.matchAll(/^DA:(\d+),(\d+)$/gm)].map(([, line, count]) => [line, Number(count)]));
}

describe('the coverage of a program in C', { skip: whyNoCompiler() }, () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  const inFolder = (name: string) => join(folder.path, name);

  before(async () => {
    folder = await makeFolder();
    await copyFile(source, inFolder('collatz.c'));
    for (const level of ['O0', 'O2']) {
      const object = inFolder(`${level}.o`);
      // Linked on its own: clang would have whatever wasm-opt it finds change the code.
      run('clang', '--target=wasm32', '-g', `-${level}`, '-c', '-o', object, inFolder('collatz.c'));
      run('wasm-ld', object, '--no-entry', '--export=collatz', '--export=unused', '-o', inFolder(`${level}.wasm`));
    }
  });
  after(() => folder.remove());

  async function cover(level: string, n: number, ...more: string[]) {
    const lcov = inFolder(`${level}.info`);
    const args = [
      'coverage',
      inFolder(`${level}.wasm`),
      '-i',
      'collatz',
      '--lcov',
      lcov,
      '--json',
      ...more,
      '--',
      `${n}`,
    ];
    const { exitCode, stderr, json } = await tenon(args, { workingFolder: folder.path });
    assert.equal(exitCode, 0, stderr);
    return { lines: await linesOf(lcov), coverage: json() };
  }

  it('has the counts that gcov has of the same program', async () => {
    const { lines, coverage } = await cover('O0', 7);
    // From gcov 12 of a native build. It has no counts for the lines of a `}`.
    const expected = {
      1: 16,
      2: 16,
      3: 11,
      5: 5,
      12: 1,
      13: 1,
      14: 17,
      15: 16,
      16: 0,
      17: 0,
      19: 16,
      20: 16,
      22: 1,
      8: 0,
      9: 0,
    };
    assert.deepEqual({ ...lines, ...expected }, lines);
    assert.deepEqual([coverage.functions.total, coverage.functions.covered], [3, 2]);
    assert.deepEqual(
      coverage.files.map(({ path }: { path: string }) => path),
      ['collatz.c'],
    );
  });

  it('has the same uncovered statements with optimisation, which inlines', async () => {
    const { lines } = await cover('O2', 7);
    for (const line of [3, 5]) assert.ok((lines[line] ?? 1) > 0, `line ${line}`);
    assert.equal(lines[9] ?? 0, 0);
  });

  it('is that of all runs after a merge', async () => {
    const merge = ['--merge', inFolder('counts.json')];
    await cover('O0', 7, ...merge);
    const { lines } = await cover('O0', 0, ...merge);
    assert.deepEqual([lines[13], lines[14], lines[16], lines[17], lines[20]], [2, 18, 1, 1, 16]);
  });

  it('is LCOV that lcov and genhtml read', async (t) => {
    if (spawnSync('lcov', ['--version']).error !== undefined) return t.skip('lcov is not installed here');
    const { coverage } = await cover('O0', 7);
    const { lines, functions } = coverage;
    const summary = run('lcov', '--summary', inFolder('O0.info'));
    assert.match(summary, new RegExp(`\\(${lines.covered} of ${lines.total} lines\\)`));
    assert.match(summary, new RegExp(`\\(${functions.covered} of ${functions.total} functions\\)`));
    const prefix = ['--prefix', folder.path, '--output-directory', inFolder('html')];
    assert.equal(spawnSync('genhtml', [...prefix, inFolder('O0.info')], { cwd: folder.path }).status, 0);
  });
});
