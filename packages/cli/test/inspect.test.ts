import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';
import { wat } from './helpers/wat.ts';

const module = wat(`(module
  (import "host\\1b[2J" "log" (func (param i32 i64) (result f64)))
  (memory (export "memory") 1 3)
  (func $sum (export "sum") (param v128) (result i32) (i32.const 1)))`);

describe('tenon inspect', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let file: string;

  before(async () => {
    folder = await makeFolder();
    file = join(folder.path, 'module.wasm');
    await writeFile(file, module);
  });
  after(() => folder.remove());

  it('shows imports, exports, features, names and sizes, and no control characters', async () => {
    const { exitCode, stdout, stderr } = await tenon(['inspect', file]);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^instrumented +no$/m);
    assert.match(stdout, /^functions +2, 1 of them imported$/m);
    assert.match(stdout, /^memory +1 page at the start, at most 3$/m);
    assert.match(stdout, /^features +simd$/m);
    assert.match(stdout, /^host\\u\{1b\}\[2J +log +\(i32, i64\) → \(f64\)$/m);
    assert.match(stdout, /^sum +\(v128\) → \(i32\)$/m);
    assert.match(stdout, /^code +\d+ B$/m);
    assert.doesNotMatch(stdout, /\u001b/);
  });

  it('tells an instrumented module by what it imports, here from stdin', async () => {
    const { bytes } = instrument(module);
    const found = (await tenon(['inspect', '-', '--json'], { stdin: bytes })).json();
    assert.deepEqual([found.isInstrumented, found.bytes, found.features], [true, bytes.length, ['simd']]);
    assert.equal((await tenon(['inspect', file, '--json'])).json().isInstrumented, false);
    const sum = found.sections.reduce((total: number, section: { bytes: number }) => total + section.bytes, 8);
    assert.equal(sum, bytes.length);
  });

  it('shows what differs from an earlier module', async () => {
    const earlier = join(folder.path, 'earlier.wasm');
    await writeFile(
      earlier,
      wat(`(module (memory (export "memory") 1 3) (func (export "old\\1b[2J"))
        (func $sum (export "sum") (param v128) (result i32) (i32.const 2)))`),
    );
    const { exitCode, stdout, stderr } = await tenon(['inspect', file, '--against', earlier]);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^functions +2$/m);
    assert.match(stdout, /^added +host\\u\{1b\}\[2J\.log +\(i32, i64\) → \(f64\)$/m);
    assert.match(stdout, /^removed +old\\u\{1b\}\[2J +\(\) → \(\)$/m);
    assert.match(stdout, /^changed +sum +4 B$/m);
    assert.match(stdout, /^unchanged +0$/m);
    const { functions } = (await tenon(['inspect', file, '--against', earlier, '--json'])).json();
    assert.deepEqual(functions.changed.items, [{ name: 'sum', bytes: 4, bytesBefore: 4 }]);
    assert.equal((await tenon(['inspect', file, '--against', '-'], { stdin: 'text' })).exitCode, 7);
  });

  it('refuses what is no module', async () => {
    const { exitCode, stderr } = await tenon(['inspect', '-'], { stdin: 'text' });
    assert.equal(exitCode, 7);
    assert.match(stderr, /Expected a WebAssembly module/);
  });
});
