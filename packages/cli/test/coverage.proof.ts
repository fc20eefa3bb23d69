import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { readCoverageMap } from '@tenon/instrument/coverage';
import { createSourceLookup } from '@tenon/instrument/debug-info';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';
import { wat } from './helpers/wat.ts';

const module = wat(`(module
  (func $sign (export "sign") (param i32) (result i32)
    local.get 0
    i32.const 0
    i32.lt_s
    if (result i32)
      i32.const -1
    else
      i32.const 1
    end)
  (func $spin (export "spin") (loop br 0))
  (func (export "odd<a, \\1b[2J>") nop))`);

const source = 'fn sign\n  if x < 0\n    -1 <negative>\n  else\n    1\nfn spin\n';

/** A source map beside the module, of `src/sign.txt` and of a file outside of the folder. */
function mapOf(bytes: Uint8Array): string {
  const codeStart = createSourceLookup(bytes, { sourceMap: mapText([[1, 0, 0]]) })?.codeStart ?? 0;
  const blocks = readCoverageMap(instrument(bytes, { coverage: true }).bytes)?.functions.flatMap((each) => each.blocks);
  const [sign, negative, positive, , spin] = blocks ?? [];
  const at = (offset: number | undefined, file: number, line: number): [number, number, number] => [
    codeStart + (offset ?? 0),
    file,
    line,
  ];
  return mapText([
    at(sign?.start, 0, 1),
    at(negative?.start, 0, 2),
    at(positive?.start, 0, 4),
    at(positive?.end, 1, 0),
    at(spin?.start, 0, 5),
  ]);
}

/** @param mappings a column, a source, and a line from 0 */
function mapText(mappings: readonly (readonly [number, number, number])[]): string {
  let before = [0, 0, 0];
  const fields = mappings.map((mapping) => {
    const [column = 0, file = 0, line = 0] = mapping.map((value, at) => value - (before[at] ?? 0));
    before = [...mapping];
    return [column, file, line, 0].map(vlq).join('');
  });
  const sources = ['src/sign.txt', '../../../../../../../../etc/passwd'];
  return JSON.stringify({ version: 3, sources, names: [], mappings: fields.join(',') });
}

function vlq(value: number): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

describe('tenon coverage', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  const inFolder = (name: string) => join(folder.path, name);
  const cover = (...args: string[]) => tenon(['coverage', ...args], { workingFolder: folder.path });

  before(async () => {
    folder = await makeFolder();
    await mkdir(inFolder('src'));
    await writeFile(inFolder('src/sign.txt'), source);
    await writeFile(inFolder('plain.wasm'), module);
    const url = [...Buffer.from('mapped.wasm.map')];
    const name = [...Buffer.from('sourceMappingURL')];
    const section = [name.length, ...name, url.length, ...url];
    const mapped = Uint8Array.of(...module, 0, section.length, ...section);
    await writeFile(inFolder('mapped.wasm'), mapped);
    await writeFile(inFolder('mapped.wasm.map'), mapOf(mapped));
  });
  after(() => folder.remove());

  it('writes results to stdout, the table to stderr, and LCOV and pages to files', async () => {
    const files = ['--lcov', inFolder('lcov.info'), '--html', inFolder('pages')];
    const { exitCode, stdout, stderr } = await cover(inFolder('mapped.wasm'), '-i', 'sign', ...files, '--', '5');
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, '1\n');
    assert.match(stderr, /^src\/sign\.txt +50\.0 % +50\.0 % +\S+ % +3,6$/m);
    assert.match(stderr, /1 source file outside of the folder left out/);
    const lcov = await readFile(inFolder('lcov.info'), 'utf8');
    const expected = ['SF:src/sign.txt', 'FN:2,sign', 'FN:6,spin', 'DA:2,1', 'DA:3,0', 'DA:5,1', 'DA:6,0', 'LH:2'];
    assert.deepEqual(
      expected.filter((line) => !lcov.split('\n').includes(line)),
      [],
    );
    assert.doesNotMatch(lcov, /passwd/);
    assert.deepEqual(await readdir(inFolder('pages')), ['index.html', 'src-sign.txt.html']);
    assert.match(await readFile(inFolder('pages/src-sign.txt.html'), 'utf8'), /-1 &#60;negative&#62;/);
  });

  it('adds the runs of a module, and refuses those of another one', async () => {
    const merge = ['--merge', inFolder('counts.json'), '--json'];
    const args = (value: string) => cover(inFolder('mapped.wasm'), '-i', 'sign', ...merge, '--', value);
    assert.equal((await args('5')).json().lines.covered, 2);
    const both = (await args('-5')).json();
    assert.deepEqual(both.files, [{ ...both.files[0], path: 'src/sign.txt', uncovered: [[6, 6]] }]);
    assert.deepEqual(both.lines, { total: 4, covered: 3, percent: 75 });
    const other = await cover(inFolder('plain.wasm'), '-i', 'sign', ...merge, '--', '1');
    assert.equal(other.exitCode, 7);
    assert.match(other.stderr, /coverage of the same module/);
    await writeFile(inFolder('counts.json'), '{}');
    assert.match((await args('5')).stderr, /tenon coverage --merge/);
  });

  it('lists functions and offsets without debug information', async () => {
    const { exitCode, stdout, stderr } = await cover(inFolder('plain.wasm'), '-i', 'sign', '--', '5');
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, '1\n');
    assert.match(stderr, /^plain\.wasm +33\.3 % +\S+ %$/m);
    assert.match(stderr, /^0x\w+ +0 +0 of \d+ +odd<a, \\u\{1b\}\[2J>$/m);
    assert.match(stderr, /no debug information/);
  });

  it('fails below a percentage', async () => {
    const args = ['-i', 'sign', '--fail-under', '50.1', '--', '5'];
    const { exitCode, stderr } = await cover(inFolder('mapped.wasm'), ...args);
    assert.equal(exitCode, 1);
    assert.match(stderr, /50\.0 % of the lines are covered; --fail-under requires 50\.1 %/);
  });

  it('reports what ran before the fuel was used up', async () => {
    const { exitCode, stderr } = await cover(inFolder('mapped.wasm'), '-i', 'spin', '--fuel', '1000');
    assert.equal(exitCode, 9);
    assert.match(stderr, /used up 1000 instructions/);
    assert.match(stderr, /^src\/sign\.txt +25\.0 %/m);
  });

  it('reports what ran before the time limit', async () => {
    const { exitCode, stderr } = await cover(inFolder('mapped.wasm'), '-i', 'spin', '--timeout', '300ms');
    assert.equal(exitCode, 1);
    assert.match(stderr, /longer than 300ms/);
    assert.match(stderr, /^src\/sign\.txt +25\.0 %/m);
  });

  it('refuses options that exclude each other, and files that are not modules', async () => {
    assert.equal((await cover(inFolder('plain.wasm'), '-i', 'spin', '--json', '--lcov', '-')).exitCode, 2);
    assert.equal((await cover(inFolder('plain.wasm'), '--fail-under', '101')).exitCode, 2);
    assert.equal((await cover(inFolder('plain.wasm'))).exitCode, 2);
    assert.equal((await cover(inFolder('src/sign.txt'))).exitCode, 7);
  });
});
