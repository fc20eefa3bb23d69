import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { until } from '../../../test/helpers/until.ts';
import { binary } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';
import { hasScript, inTerminal } from './helpers/terminal.ts';
import { commands } from './helpers/trace-modules.ts';
import { compileWords, makeText, whyNoCompiler } from './helpers/words.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;

before(async () => {
  folder = await makeFolder();
});

after(() => folder.remove());

const inFolder = (name: string) => join(folder.path, name);

async function write(name: string, bytes: Uint8Array): Promise<string> {
  await writeFile(inFolder(name), bytes);
  return inFolder(name);
}

describe('tenon trace of programs that others have compiled', () => {
  it('traces a command in C: what it reads, writes and calls', { skip: whyNoCompiler() }, async () => {
    const module = await compileWords(folder.path);
    const { text: input, counted } = makeText(5_000);
    const child = spawn(process.execPath, [binary, 'trace', module, '--json', '-o', inFolder('words.json')], {
      env: { PATH: process.env.PATH },
    });
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.equal(stdout, counted, stderr);
    const { ending, spans, functions, initialPages } = JSON.parse(await readFile(inFolder('words.json'), 'utf8'));
    assert.deepEqual(ending, { kind: 'returned', exitCode: 0 });
    const calls = new Map(functions.map(({ name, calls }: { name: string; calls: number }) => [name, calls]));
    assert.deepEqual(
      ['_start', 'count_words', 'count_line', 'count_word', 'hash', 'write_line'].map((name) => calls.get(name)),
      [1, 1, 5_001, 40_000, 40_000, 10], // the last line is empty
    );
    const grown = functions.reduce((sum: number, { grownPages }: { grownPages: number }) => sum + grownPages, 0);
    const ofSpans = spans.reduce((sum: number, { grownPages }: { grownPages: number }) => sum + grownPages, 0);
    assert.equal(grown, ofSpans);
    assert.ok(initialPages >= 2 && grown >= Math.floor(input.length / 65_536) - initialPages, `${grown} pages`);
  });

  it('traces a plugin made of the template in C', { skip: whyNoCompiler() }, async () => {
    const made = await tenon(['plugin', 'init', inFolder('greeter'), '--template', 'c', '--json']);
    assert.equal(made.exitCode, 0, made.stderr);
    const toml = await readFile(inFolder('greeter/tenon.toml'), 'utf8');
    const build = /^build = "(.+)"$/m.exec(toml)?.[1] ?? assert.fail(toml);
    const module = /^module = "(.+)"$/m.exec(toml)?.[1] ?? assert.fail(toml);
    const built = spawn(build, { shell: true, cwd: inFolder('greeter'), stdio: 'inherit' });
    assert.equal(await new Promise((resolve) => built.on('close', resolve)), 0);
    const args = ['trace', inFolder(`greeter/${module}`), '-i', 'greet', '--input', 'Ada', '--min-duration', '0'];
    const { stdout, stderr, exitCode } = await tenon(args);
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, 'Hello, Ada!');
    assert.match(stderr, /extism:host\/env\.output_set/);
  });

  it('calls what Emscripten and AssemblyScript have made, with stand-ins for what their scripts would bring', async () => {
    const require = createRequire(import.meta.url);
    const sha256 = join(require.resolve('@chainsafe/as-sha256'), '../../build/untouched.wasm');
    for (const [path, invoke, argument, answer] of [
      [require.resolve('sql.js/dist/sql-wasm-debug.wasm'), 'malloc', '1000', /^[1-9]\d+\n$/],
      [sha256, 'digest', '3', /^$/],
    ] as const) {
      const { stdout, stderr, exitCode } = await tenon(['trace', path, '-i', invoke, '--stub-imports', '--', argument]);
      assert.equal(exitCode, 0, stderr);
      assert.match(stdout, answer);
      assert.ok(stderr.includes(` ${invoke}`), stderr);
    }
  });
});

describe('tenon trace in a real terminal', { skip: !hasScript() }, () => {
  const environment = { HOME: '/nowhere' };

  it('shows what the program writes, then the report, with nothing left of what was shown meanwhile', async () => {
    const path = await write('hello.wasm', commands.hello);
    const { screen, exitCode } = await inTerminal(['trace', path], { environment }).ended;
    assert.equal(exitCode, 0, screen);
    assert.match(stripVTControlCharacters(screen), /^hello\r\nhello\.wasm: .+\r\n\r\n +total +self\r\n/);
  });

  it('puts an answer on a line of its own', async () => {
    const greet = join(import.meta.dirname, '../../server/sample/greet.wasm');
    const { screen } = await inTerminal(['trace', greet, '-i', 'greet', '--input', 'Ada'], { environment }).ended;
    assert.match(stripVTControlCharacters(screen), /^Hello, Ada!\r\ngreet\.wasm greet: /);
  });

  it('lets the program read what is typed', async () => {
    const path = await write('copy.wasm', commands.copyStdin);
    const typed = inTerminal(['trace', path], { environment });
    typed.child.stdin?.write('typed\r');
    await until(() => (typed.screen().match(/typed/g)?.length === 2 ? true : undefined)); // its echo, and the copy
    typed.child.stdin?.write('\u0004');
    const { screen, exitCode } = await typed.ended;
    assert.equal(exitCode, 0, screen);
    assert.match(stripVTControlCharacters(screen), /copy\.wasm: /);
  });

  it('ends at Ctrl-C, whether the program waits or works, and reports what there was', async () => {
    const waiting = inTerminal(['trace', await write('copy.wasm', commands.copyStdin)], { environment });
    waiting.child.stdin?.write('typed\r');
    await until(() => (waiting.screen().match(/typed/g)?.length === 2 ? true : undefined));
    waiting.child.stdin?.write('\u0003');
    const ended = await waiting.ended;
    assert.equal(ended.exitCode, 130, ended.screen);
    assert.match(stripVTControlCharacters(ended.screen), /_start.*✗ stopped(?![\s\S]*error)/);

    const working = inTerminal(['trace', await write('works.wasm', commands.worksForEver)], { environment });
    await until(() => (working.screen().includes('hello') ? true : undefined));
    working.child.stdin?.write('\u0003');
    const { screen, exitCode } = await working.ended;
    assert.equal(exitCode, 130, screen);
    assert.match(stripVTControlCharacters(screen), /_start.*✗ stopped(?![\s\S]*error)/);
  });
});
