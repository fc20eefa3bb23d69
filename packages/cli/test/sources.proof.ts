import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { customSection, leb } from '../../../test/helpers/module-bytes.ts';
import { sourceMapOf, sourceMapUrl } from '../../../test/helpers/source-map.ts';
import { wat } from '../../../test/helpers/wat.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

const module = wat(`(module
  (func $divide (param i32) (result i32) (i32.div_u (i32.const 6) (local.get 0)))
  (func $run (export "run") (param i32) (result i32) (call $divide (local.get 0))))`);

/** `divide` is in line 3 of a.ts, and divides in its column 10. `run` is in line 8 of b.ts. */
const map = sourceMapOf(
  ['/home/me/app/src/a.ts', 'src/b.ts'],
  [
    [find(0x41, 6), 0, 2, 4],
    [find(0x6e, 0x0b), 0, 2, 9],
    [find(0x10, 0), 1, 7, 0],
  ],
);

function find(...bytes: number[]): number {
  const at = Buffer.from(module).indexOf(Buffer.from(bytes));
  assert.notEqual(at, -1);
  return at;
}

describe('sources of a module', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let inline: string;
  let beside: string;
  let plain: string;

  async function write(name: string, ...parts: readonly Uint8Array[]): Promise<string> {
    const path = join(folder.path, name);
    await writeFile(path, Buffer.concat([module, ...parts]));
    return path;
  }

  before(async () => {
    folder = await makeFolder();
    inline = await write('inline.wasm', withUrl(sourceMapUrl(map)));
    beside = await write('beside.wasm', withUrl(Buffer.from('beside.wasm.map')));
    await writeFile(join(folder.path, 'beside.wasm.map'), map);
    plain = await write('plain.wasm');
  });
  after(() => folder.remove());

  const trace = (file: string, ...args: string[]) =>
    tenon(['trace', file, '-i', 'run', '--min-duration', '0', ...args]);

  it('are in the tree, the table, and the stack of a trap, from a map in the module or beside it', async () => {
    for (const file of [inline, beside]) {
      const good = await trace(file, '--', '2');
      assert.equal(good.exitCode, 0, good.stderr);
      assert.match(good.stderr, / run src\/b\.ts:8\n.* └─ divide src\/a\.ts:3\n/);
      assert.match(good.stderr, / {2}divide {2}src\/a\.ts:3\n/);
      const bad = await trace(file, '--', '0');
      assert.equal(bad.exitCode, 1);
      const lines = ['    at divide (/home/me/app/src/a.ts:3:10)', '    at run (src/b.ts:8:1)'];
      assert.ok(bad.stderr.endsWith(`error: The program failed: divide by zero\n${lines.join('\n')}\n`), bad.stderr);
    }
  });

  it('are in the JSON, and in files for other programs', async () => {
    const { ending, functions, spans } = (await trace(inline, '--json', '--', '0')).json();
    assert.deepEqual(ending.stack, [
      { function: 'divide', file: '/home/me/app/src/a.ts', line: 3, column: 10 },
      { function: 'run', file: 'src/b.ts', line: 8, column: 1 },
    ]);
    const places = (entries: { file: string; line: number }[]) => entries.map(({ file, line }) => `${file}:${line}`);
    assert.deepEqual(places(functions).sort(), ['/home/me/app/src/a.ts:3', 'src/b.ts:8']);
    const traced = spans.map(({ function: described }: { function: { file: string; line: number } }) => described);
    assert.deepEqual(places(traced), ['src/b.ts:8', '/home/me/app/src/a.ts:3']);
    for (const [format, expected] of [
      ['html', '/home/me/app/src/a.ts:3'],
      ['speedscope', '"file":"/home/me/app/src/a.ts","line":3'],
      ['otlp', '{"key":"code.line.number","value":{"intValue":"3"}}'],
      ['chrome', '"code.file.path":"/home/me/app/src/a.ts","code.line.number":3'],
    ] as const) {
      const output = join(folder.path, `trace.${format}`);
      assert.equal((await trace(inline, '--format', format, '-o', output, '--', '1')).exitCode, 0);
      assert.ok((await readFile(output, 'utf8')).includes(expected), format);
    }
  });

  it('are left out with --no-source, and without debug information', async () => {
    for (const args of [[inline, '--no-source'], [plain]] as const) {
      const [file, ...flags] = args;
      const { stderr } = await trace(file, ...flags, '--', '0');
      assert.match(stderr, / run ✗ divide by zero\n.* └─ divide ✗ divide by zero\n/);
      assert.ok(stderr.endsWith('error: The program failed: divide by zero\n'), stderr);
    }
  });

  it('are those of a module that was instrumented before', async () => {
    const file = join(folder.path, 'instrumented.wasm');
    await writeFile(file, instrument(await readFile(inline)).bytes);
    const { stderr } = await trace(file, '--', '0');
    assert.match(stderr, / run src\/b\.ts:8 ✗/);
    assert.match(stderr, /at divide \(\/home\/me\/app\/src\/a\.ts:3:10\)\n/);
  });

  it('are in the stack of a call that fails', async () => {
    const { exitCode, stderr } = await tenon(['plugin', 'call', 'run', '--module', beside, '--', '0']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /failed: divide by zero\n {4}at divide \(\/home\/me\/app\/src\/a\.ts:3:10\)\n/);
  });

  it('are announced by tenon inspect', async () => {
    const linesOf = async (file: string) => (await tenon(['inspect', file])).stdout;
    assert.match(await linesOf(inline), /^debug info +a source map$/m);
    assert.match(await linesOf(beside), /^debug info +a source map at beside\.wasm\.map$/m);
    assert.match(await linesOf(plain), /^debug info +none/m);
    const { debugInfo } = (await tenon(['inspect', inline, '--json'])).json();
    assert.deepEqual(debugInfo, {
      dwarfBytes: 0,
      sourceMapUrl: 'data:application/json;base64',
      debugFileUrl: null,
    });
  });
});

function withUrl(url: Uint8Array): Uint8Array {
  return customSection('sourceMappingURL', Buffer.concat([Buffer.of(...leb(url.length)), url]));
}
