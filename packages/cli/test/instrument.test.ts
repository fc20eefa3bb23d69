import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { instrument } from '@tenon/instrument';
import wabt from 'wabt';
import { makeFolder } from './helpers/server.ts';
import { type Setting, tenon } from './helpers/streams.ts';

const sample = fileURLToPath(new URL('../../server/sample/greet.wasm', import.meta.url));

let folder: Awaited<ReturnType<typeof makeFolder>>;

before(async () => {
  folder = await makeFolder();
});

after(() => folder.remove());

const inFolder = (name: string) => join(folder.path, name);

async function demand(args: readonly string[], setting: Setting = {}) {
  const outcome = await tenon(['instrument', ...args], setting);
  assert.equal(outcome.exitCode, 0, outcome.stderr);
  return outcome;
}

describe('tenon instrument', () => {
  it('writes what the rewriter makes of a module, and says what that is', async () => {
    const output = inFolder('traced.wasm');
    const { stdout, stderr } = await demand([sample, '-o', output]);
    const expected = instrument(await readFile(sample));
    assert.deepEqual(new Uint8Array(await readFile(output)), expected.bytes);
    assert.equal(stdout, '');
    assert.ok(
      stderr.includes(`${expected.report.tracedFunctions} of ${expected.report.totalFunctions} traced`),
      stderr,
    );
    assert.match(stderr, /imports +enter, exit added/);
  });

  it('writes beside the input without -o', async () => {
    const input = inFolder('plain.wasm');
    await writeFile(input, await readFile(sample));
    await demand([input]);
    assert.ok((await stat(inFolder('plain.instrumented.wasm'))).isFile());
  });

  it('reads stdin and writes stdout for "-"', async () => {
    const { bytes } = await demand(['-'], { stdin: await readFile(sample) });
    assert.deepEqual(new Uint8Array(bytes), instrument(await readFile(sample)).bytes);
  });

  for (const [what, args] of [
    ['--allowed given twice', ['--allowed', 'greet', '--allowed', 'count_vowels']],
    ['--allowed with a comma', ['--allowed', 'greet, count_vowels']],
    ['a configuration', ['--config', 'allowed.json']],
  ] as const) {
    it(`traces what is allowed: ${what}`, async () => {
      await writeFile(inFolder('allowed.json'), '{"allowed": ["greet", "count_vowels"]}');
      const inPlace = args.map((arg) => (arg === 'allowed.json' ? inFolder(arg) : arg));
      const report = (await demand([sample, '-o', inFolder('some.wasm'), '--json', ...inPlace])).json();
      assert.equal(report.tracedFunctions, 2);
      assert.deepEqual(report.notes, []);
    });
  }

  it('leaves out what is banned, and notes a name that nothing has', async () => {
    const args = [sample, '-o', inFolder('banned.wasm'), '--banned', 'greet,nothing', '--json'];
    const { tracedFunctions, totalFunctions, notes, durationMs } = (await demand(args)).json();
    assert.equal(tracedFunctions, totalFunctions - 1);
    assert.deepEqual(
      notes.map((note: { code: string; name: string }) => [note.code, note.name]),
      [['name_not_found', 'nothing']],
    );
    assert.ok(durationMs > 0);
  });

  it('refuses what it cannot instrument with the code and the offset, and writes nothing', async () => {
    await writeFile(inFolder('text.wasm'), 'not a module');
    const { exitCode, stdout, stderr } = await tenon(['instrument', inFolder('text.wasm'), '--json']);
    assert.deepEqual([exitCode, stdout], [7, '']);
    const { error } = JSON.parse(stderr);
    assert.equal(error.code, 'not_wasm');
    assert.match(error.message, /at offset 0x0/);
    await assert.rejects(stat(inFolder('text.instrumented.wasm')), { code: 'ENOENT' });
  });

  it('has the engine find the faults that the rewriter does not look for', async () => {
    const { parseWat } = await wabt();
    const parsed = parseWat('wrong.wat', '(module (func (result i32)))'); // it promises a number and leaves none
    await writeFile(inFolder('wrong.wasm'), parsed.toBinary({}).buffer);
    parsed.destroy();
    const { exitCode, stderr } = await tenon(['instrument', inFolder('wrong.wasm'), '--json']);
    assert.equal(exitCode, 7);
    assert.equal(JSON.parse(stderr).error.code, 'invalid_module');
    await assert.rejects(stat(inFolder('wrong.instrumented.wasm')), { code: 'ENOENT' });
    await demand([inFolder('wrong.wasm'), '--no-check']);
  });

  for (const [what, args, pattern] of [
    ['both lists', ['--allowed', 'a', '--banned', 'b'], /cannot be used with/],
    ['a list and a configuration', ['--allowed', 'a', '--config', 'x.json'], /cannot be used with/],
    ['a file that is not there', ['-o', 'x.wasm', '--config', '/nowhere/x.json'], /no such file/],
    ['--json and the module both on stdout', ['-o', '-', '--json'], /stdout/],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { exitCode, stdout, stderr } = await tenon(['instrument', sample, ...args]);
      assert.ok(exitCode === 1 || exitCode === 2);
      assert.equal(stdout, '');
      assert.match(stderr, pattern);
    });
  }

  it('shows a module to no terminal', async () => {
    const { exitCode, stdout } = await tenon(['instrument', sample, '-o', '-'], { isTerminal: true });
    assert.deepEqual([exitCode, stdout], [2, '']);
  });

  it('replaces a file as a whole: a link stays one, and so do its permissions', async () => {
    await mkdir(inFolder('links'));
    const [target, link] = [inFolder('links/target.wasm'), inFolder('links/link.wasm')];
    await writeFile(target, 'before', { mode: 0o640 });
    await symlink(target, link);
    await demand([sample, '-o', link]);
    assert.deepEqual(new Uint8Array(await readFile(target)), instrument(await readFile(sample)).bytes);
    assert.equal((await stat(target)).mode & 0o777, 0o640);
    assert.deepEqual((await readdir(inFolder('links'))).sort(), ['link.wasm', 'target.wasm']);
  });

  it('writes to what is no regular file without replacing it', async () => {
    await demand([sample, '-o', '/dev/null']);
    assert.ok((await stat('/dev/null')).isCharacterDevice());
  });
});
