import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { instrument, listFunctions } from '@tenon/instrument';
import { findDebugInfo } from '@tenon/instrument/debug-info';
import wabt from 'wabt';
import { customSection, text } from '../../../test/helpers/module-bytes.ts';
import { run } from '../src/run.ts';
import { makeFolder } from './helpers/folder.ts';
import { createIo, type Setting, tenon } from './helpers/streams.ts';

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

  it('rewrites the source map beside the module', async () => {
    const map = JSON.stringify({ version: 3, sources: ['greet.c'], names: [], mappings: 'gmBAAA' });
    await mkdir(inFolder('inside/folder'), { recursive: true });
    const input = inFolder('inside/mapped.wasm');
    const write = async (url: string) =>
      writeFile(input, Buffer.concat([await readFile(sample), customSection('sourceMappingURL', text(url))]));
    await write('./mapped.wasm.map');
    await writeFile(inFolder('inside/mapped.wasm.map'), map);
    await demand([input]);
    const output = inFolder('inside/mapped.instrumented.wasm');
    const rewritten = JSON.parse(await readFile(`${output}.map`, 'utf8'));
    assert.deepEqual([rewritten.sources, rewritten.mappings === 'gmBAAA'], [['greet.c'], false]);
    assert.equal(findDebugInfo(await readFile(output)).sourceMapUrl, 'mapped.instrumented.wasm.map');
    assert.equal(await readFile(inFolder('inside/mapped.wasm.map'), 'utf8'), map);
    const { bytes } = await demand([input, '-o', '-']);
    assert.match(findDebugInfo(new Uint8Array(bytes)).sourceMapUrl ?? '', /^data:application\/json;base64,/);

    await writeFile(inFolder('outside.map'), map);
    const urls = ['absent.map', '../outside.map', inFolder('outside.map'), `file://${inFolder('outside.map')}`];
    for (const url of [
      ...urls,
      '%2e%2e/outside.map',
      'https://example.org/a.map',
      'inside',
      '%',
      'mapped.wasm.map?v=1',
    ]) {
      await write(url);
      const { notes } = (await demand([input, '--dry-run', '--json'])).json();
      assert.equal(notes[0]?.section, 'sourceMappingURL', url);
    }
  });

  it('writes nothing under --strict when a name matches no function, or nothing is traced', async () => {
    const output = inFolder('strict.wasm');
    const refused = async (...args: string[]) => {
      const { exitCode, stderr } = await tenon(['instrument', sample, '-o', output, '--strict', ...args]);
      assert.equal(exitCode, 7, stderr);
      await assert.rejects(stat(output), { code: 'ENOENT' });
      return stderr;
    };
    assert.match(await refused('--allowed', 'greet,gret'), /^error: No function is called "gret".*"greet"/);
    assert.match(await refused('--patterns', '--banned', 'none*'), /No function is called "none\*"/);
    assert.match(await refused('--patterns', '--banned', '*'), /^error: No function is traced\.\n.*--list/);
    await demand([sample, '-o', output, '--strict', '--allowed', 'greet']);
    assert.ok((await stat(output)).isFile());
  });

  it('reads stdin and writes stdout for "-"', async () => {
    const { bytes } = await demand(['-'], { stdin: await readFile(sample) });
    assert.deepEqual(new Uint8Array(bytes), instrument(await readFile(sample)).bytes);
  });

  for (const [what, args] of [
    ['--allowed given twice', ['--allowed', 'greet', '--allowed', 'count_vowels']],
    ['--allowed with a comma', ['--allowed', 'greet, count_vowels']],
    ['a configuration', ['--config', 'allowed.json']],
    ['a file of names', ['--allowed-file', 'allowed.txt']],
    ['a file of names and more', ['--allowed-file', 'allowed.txt', '--allowed', 'greet']],
    ['patterns', ['--patterns', '--allowed', 'gre?t,count_*']],
  ] as const) {
    it(`traces what is allowed: ${what}`, async () => {
      await writeFile(inFolder('allowed.json'), '{"allowed": ["greet", "count_vowels"]}');
      await writeFile(inFolder('allowed.txt'), '# what is worth it\ngreet\r\n\n  count_vowels  \n');
      const inPlace = args.map((arg) => (arg.startsWith('allowed.') ? inFolder(arg) : arg));
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

  it('leaves out what a file of names bans, from stdin too', async () => {
    const args = [sample, '-o', inFolder('banned.wasm'), '--banned-file', '-', '--json'];
    const { tracedFunctions, totalFunctions } = (await demand(args, { stdin: 'greet\nis_vowel' })).json();
    assert.equal(tracedFunctions, totalFunctions - 2);
  });

  it('names what may have been meant, and where to look when nothing is traced', async () => {
    const { stderr } = await demand([sample, '--dry-run', '--allowed', 'gret']);
    assert.match(stderr, /note +No function is called "gret".+"greet"/);
    assert.match(stderr, /warning: No function is traced\. tenon instrument .+greet\.wasm --list shows/);
  });

  it('writes nothing in a dry run, and says what it would have done', async () => {
    const input = inFolder('dry.wasm');
    await writeFile(input, await readFile(sample));
    const before = await readdir(folder.path);
    const { stderr } = await demand([input, '--dry-run']);
    const { report } = instrument(await readFile(sample));
    assert.match(stderr, /dry run, nothing is written/);
    assert.ok(stderr.includes(`${report.tracedFunctions} of ${report.totalFunctions} traced`), stderr);
    const json = (await demand([input, '--dry-run', '--json'])).json();
    assert.deepEqual([json.output, json.outputBytes], [null, report.outputBytes]);
    assert.deepEqual(await readdir(folder.path), before);
  });

  it('lists the functions, and which would be traced', async () => {
    const { stdout, stderr } = await demand([sample, '--list', '--allowed', 'greet,is_vowel,grete']);
    const { functions } = listFunctions(await readFile(sample));
    const [heading, ...lines] = stdout.trimEnd().split('\n');
    assert.match(heading ?? '', /^ *index +bytes +traced +name$/);
    assert.equal(lines.length, functions.length);
    for (const { index, name, bodyBytes } of functions) {
      const traced = name === 'say_hello' || name === 'is_vowel' ? 'yes' : 'no';
      assert.match(
        lines[index] ?? '',
        new RegExp(`^ *${index} +${bodyBytes ?? 'import'} +${traced} +${name}(  \\(|$)`),
      );
    }
    assert.match(stdout, /say_hello {2}\(exported as greet\)/);
    assert.match(stdout, /imported as extism:host\/env\.alloc/);
    assert.match(stderr, /note: No function is called "grete".+"greet".+\n2 of 14 functions would be traced\.\n$/);
  });

  it('lists as JSON what the library lists', async () => {
    const json = (await demand([sample, '--list', '--json', '--banned', 'greet'])).json();
    const { functions, notes } = listFunctions(await readFile(sample), { banned: ['greet'] });
    assert.deepEqual(json, {
      input: sample,
      tracedFunctions: functions.length - 1,
      totalFunctions: functions.length,
      functions,
      notes,
    });
  });

  it('takes the given generation of exception handling', async () => {
    const { parseWat } = await wabt();
    const parsed = parseWat('throws.wat', '(module (tag $e) (func (export "f") (throw $e)))', { exceptions: true });
    await writeFile(inFolder('throws.wasm'), parsed.toBinary({}).buffer);
    parsed.destroy();
    for (const generation of ['legacy', 'exnref']) {
      const args = [inFolder('throws.wasm'), '--exception-handling', generation, '--json'];
      const { notes } = (await demand(args)).json();
      assert.deepEqual(
        notes.map((note: { exceptionHandling: string }) => note.exceptionHandling),
        [generation],
      );
    }
  });

  it('shows on a terminal how far it is, when that takes long, and takes it away', async () => {
    const large = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm');
    for (const isTerminal of [true, false]) {
      const { io, stderr } = createIo({ isTerminal });
      let nowMs = 0;
      const slowly = () => {
        nowMs += 1000;
        return nowMs;
      };
      assert.equal(await run(['instrument', large, '-o', '/dev/null'], { ...io, nowMs: slowly }), 0);
      const [, bar = '', rest = ''] =
        /^(\r\u001b\[KInstrumenting .+ %.+\r\u001b\[K)?([^\r]+)$/s.exec(stderr.text) ?? [];
      assert.equal(bar !== '', isTerminal);
      assert.match(rest, /functions/);
    }
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
    ['a file of one list and the other', ['--allowed-file', 'a.txt', '--banned', 'b'], /cannot be used with/],
    ['a list and a file to write to', ['--list', '-o', 'x.wasm'], /cannot be used with/],
    ['two things from stdin', ['--allowed-file', '-', '--config', '-'], /cannot be used with/],
    ['an unknown generation', ['--exception-handling', 'both'], /legacy, exnref/],
    ['half an instruction of fuel', ['--fuel', '0.5'], /--fuel/],
    ['an action without fuel', ['--dry-run', '--on-out-of-fuel', 'call'], /"fuel"/],
    ['a list of what is not traced', ['--dry-run', '--no-trace', '--allowed', 'f'], /"allowed"/],
    ['a pattern beyond bounds', ['--patterns', '--dry-run', '--allowed', `*${'a'.repeat(1000)}`], /1000 bytes/],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { exitCode, stdout, stderr } = await tenon(['instrument', sample, ...args]);
      assert.ok([1, 2, 7].includes(exitCode), stderr);
      assert.equal(stdout, '');
      assert.match(stderr, pattern);
    });
  }

  it('counts blocks and limits instructions without tracing', async () => {
    const output = inFolder('limited.wasm');
    const { exitCode, stderr } = await tenon([
      'instrument',
      sample,
      '--no-trace',
      '--coverage',
      '--fuel',
      '9',
      '-o',
      output,
    ]);
    assert.equal(exitCode, 0, stderr);
    assert.doesNotMatch(stderr, /No function is traced/);
    const module = new WebAssembly.Module(await readFile(output));
    const names = WebAssembly.Module.exports(module).map(({ name }) => name);
    assert.deepEqual(names.slice(-2), ['tenon:fuel', 'tenon:count']);
    assert.ok(WebAssembly.Module.imports(module).every((entry) => !entry.module.startsWith('dylibso')));
  });

  it('refuses to read two things from stdin', async () => {
    const { exitCode, stderr } = await tenon(['instrument', '-', '--allowed-file', '-', '-o', inFolder('x.wasm')]);
    assert.equal(exitCode, 2);
    assert.match(stderr, /can not both come from stdin/);
  });

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
