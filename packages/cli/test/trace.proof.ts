import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../../../test/helpers/until.ts';
import { CliError } from '../src/errors.ts';
import { exitCodes } from '../src/exit-codes.ts';
import { run } from '../src/run.ts';
import { binary } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { createIo, type Setting, tenon } from './helpers/streams.ts';
import { commands, hostileExport, logsForEver, numbers } from './helpers/trace-modules.ts';
import { wat } from './helpers/wat.ts';

const greet = fileURLToPath(new URL('../../server/sample/greet.wasm', import.meta.url));

let folder: Awaited<ReturnType<typeof makeFolder>>;
let numbersPath: string;

before(async () => {
  folder = await makeFolder();
  numbersPath = await write('numbers.wasm', numbers);
});

after(() => folder.remove());

const inFolder = (name: string) => join(folder.path, name);

async function write(name: string, bytes: Uint8Array | string): Promise<string> {
  await writeFile(inFolder(name), bytes);
  return inFolder(name);
}

/** Traces in this process: for programs that write nothing themselves. */
const trace = (args: readonly string[], setting: Setting = {}) => tenon(['trace', ...args], setting);

async function demand(args: readonly string[], setting: Setting = {}) {
  const outcome = await trace(args, setting);
  assert.equal(outcome.exitCode, 0, outcome.stderr);
  return outcome;
}

/** Traces in a process of its own: what a program writes goes to the process's own streams. */
async function traceApart(args: readonly string[], { input = '', environment = {} }: Apart = {}) {
  const child = spawn(process.execPath, [binary, 'trace', ...args], {
    env: { PATH: process.env.PATH, ...environment },
    cwd: folder.path,
  });
  child.stdin.on('error', () => {}); // it may have ended without reading
  child.stdin.end(input);
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { stdout, stderr, exitCode };
}

interface Apart {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
}

interface JsonSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly durationNano: number;
  readonly grownPages: number;
  readonly failure: string | null;
  readonly folded: { readonly calls: number };
}

describe('tenon trace: commands of WASI', () => {
  it('leaves stdout to the program, and reports on stderr', async () => {
    const path = await write('hello.wasm', commands.hello);
    const { stdout, stderr, exitCode } = await traceApart([path, '--min-duration', '0us']);
    assert.equal(stdout, 'hello\n');
    assert.equal(exitCode, 0);
    assert.match(stderr, /^hello\.wasm: [\d.]+ .?s in 3 calls of 3 functions, 3 spans\n/);
    assert.match(stderr, / _start\n.* └─ .+\n.* {3}└─ wasi_snapshot_preview1\.fd_write\n/);
    assert.doesNotMatch(stderr, /Experimental/);
  });

  it('hands stdin to it, however much, arguments as they are, and no more of the environment than was asked for', async () => {
    const input = Buffer.alloc(300_000, 'a line of text\n');
    const copy = await write('copy.wasm', commands.copyStdin);
    assert.equal((await traceApart([copy], { input })).stdout, input.toString());
    const args = await write('arguments.wasm', commands.writeArguments);
    const written = await traceApart([args, '--top', '0', '--', '--invoke', '-x', '', 'ü y']);
    assert.equal(written.stdout, 'arguments.wasm\0--invoke\0-x\0\0ü y\0');
    const environment = { HANDED_ON: '1', SECRET: '2' };
    const variables = await write('environment.wasm', commands.writeEnvironment);
    const { stdout } = await traceApart([variables, '--env', 'A=b=c', '--env', 'HANDED_ON'], { environment });
    assert.deepEqual(stdout.split('\0').filter(Boolean).sort(), ['A=b=c', 'HANDED_ON=1']);
  });

  it('shows it the folders that it is given, and no other', async () => {
    const path = await write('note.wasm', commands.writeNote);
    await write('note.txt', 'a note\n');
    assert.equal((await traceApart([path, '--dir', '.'])).stdout, 'a note\n');
    assert.equal((await traceApart([path, '--dir', `${folder.path}::/notes`])).stdout, 'a note\n');
    const { exitCode, stdout, stderr } = await traceApart([path]);
    assert.deepEqual([exitCode, stdout], [1, '']);
    assert.match(stderr, /error: The program exited with code 8\./); // badf: there is no such folder
  });

  it('tells its exit code, and takes success for no failure', async () => {
    const { stdout, stderr, exitCode } = await traceApart([await write('three.wasm', commands.exit(3))]);
    assert.deepEqual([stdout, exitCode], ['hello\n', 1]);
    assert.match(stderr, /_start.* ✗ exit code 3\n/);
    assert.match(stderr, /error: The program exited with code 3\.\n$/);
    const zero = await traceApart([await write('zero.wasm', commands.exit(0))]);
    assert.equal(zero.exitCode, 0);
    assert.doesNotMatch(zero.stderr, /✗|error/);
  });

  it('keeps stdout for the report under --json and "-o -", and moves what the program writes to stderr', async () => {
    const path = await write('hello.wasm', commands.hello);
    const asJson = await traceApart([path, '--json']);
    assert.equal(asJson.stderr, 'hello\n');
    assert.equal(JSON.parse(asJson.stdout).title, 'hello.wasm');
    const asTree = await traceApart([path, '-o', '-']);
    assert.equal(asTree.stderr, 'hello\n');
    assert.match(asTree.stdout, /^hello\.wasm: /);
  });

  it('runs it again for each of several runs, all of which read the same', async () => {
    const copy = await write('copy.wasm', commands.copyStdin);
    const { stdout, stderr, exitCode } = await traceApart([copy, '--repeat', '3'], { input: 'twice said\n' });
    assert.equal(stdout, 'twice said\n'.repeat(3));
    assert.equal(exitCode, 0, stderr);
    assert.match(stderr, /3 runs, .*\n +min +median +p95 +max +total +calls +function\n.* whole run\n/);
  });
});

describe('tenon trace --repeat', { skip: process.platform === 'win32' }, () => {
  it('lets go of what a run has opened before the next one', async () => {
    const path = await write('note.wasm', commands.writeNote);
    await write('note.txt', 'x');
    const limited = `ulimit -n 200 && exec "$0" "$@"`;
    const child = spawn(
      'sh',
      ['-c', limited, process.execPath, binary, 'trace', path, '--dir', '.', '--repeat', '300'],
      {
        env: { PATH: process.env.PATH },
        cwd: folder.path,
      },
    );
    const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.equal(await exit, 0, stderr);
    assert.equal(stdout, 'x'.repeat(300));
  });
});

describe('tenon trace --invoke', () => {
  it('calls an export with numbers, and writes what it answers', async () => {
    const { stdout, stderr } = await demand([numbersPath, '--invoke', 'grow', '--', '-5', '2.5e-1']);
    assert.equal(stdout, '0.25\n-5\n');
    assert.match(stderr, /numbers\.wasm grow: /);
    assert.match(stderr, / 192 KiB +/);
    assert.equal((await demand([numbersPath, '-i', 'fib', '--', '0x14'])).stdout, '6765\n');
  });

  it('counts every call, those too short for a span too', async () => {
    const args = [numbersPath, '-i', 'fib', '--json'];
    const all = (await demand([...args, '--min-duration', '0us', '--', '10'])).json();
    const none = (await demand([...args, '--full', '--min-duration', '1000s', '--', '10'])).json();
    const adaptive = (await demand([...args, '--min-duration', '1000s', '--', '10'])).json();
    const calls = 177; // 2 · fib(11) − 1
    for (const { functions } of [all, none, adaptive]) assert.equal(functions[0].calls, calls);
    assert.deepEqual([none.functions[0].untimedCalls, adaptive.functions[0].untimedCalls > 100], [0, true]);
    assert.equal(all.spans.length, calls);
    assert.deepEqual(
      none.spans.map(({ name, folded }: JsonSpan) => [name, folded.calls]),
      [['fib', calls - 1]],
    );
    const ids = new Set(all.spans.map(({ spanId }: JsonSpan) => spanId));
    const orphans = all.spans.filter(({ parentSpanId }: JsonSpan) => !ids.has(parentSpanId ?? ''));
    assert.deepEqual([ids.size, orphans.length], [calls, 1]);
  });

  it('keeps 20 µs and longer without the option', async () => {
    const { minDurationMicroseconds } = (await demand([numbersPath, '-i', 'fib', '--json', '--', '3'])).json();
    assert.equal(minDurationMicroseconds, 20);
  });

  it('reports all the same after a trap, and ends with 1', async () => {
    const { exitCode, stderr } = await trace([numbersPath, '-i', 'trap', '--min-duration', '0us']);
    assert.equal(exitCode, 1);
    assert.match(stderr, / trap ✗ unreachable\n/);
    assert.match(stderr, / {2}├─ fib\n/);
    assert.match(stderr, /error: The program failed: unreachable\n$/);
    const json = await trace([numbersPath, '-i', 'trap', '--json']);
    assert.deepEqual(json.json().ending, { kind: 'failed', reason: 'unreachable' });
    assert.equal(JSON.parse(json.stderr).error.code, 'program_failed');
  });

  it('stops at --timeout, and reports what there was', async () => {
    const { exitCode, stderr } = await trace([numbersPath, '-i', 'calls_for_ever', '--timeout', '300ms']);
    assert.equal(exitCode, 1);
    assert.match(stderr, / calls_for_ever .*✗ stopped\n/);
    assert.match(stderr, /error: The program was stopped: it took longer than 300ms/);
  });

  it('stops what calls nothing too, and says that nothing is known of it', async () => {
    const { exitCode, stderr } = await trace([numbersPath, '-i', 'silent_for_ever', '--timeout', '100ms']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /No report: the program never reached a traced function/);
  });

  it('stops when the user wants it, and reports what there was', async () => {
    const controller = new AbortController();
    const { io, stderr } = createIo({ signal: controller.signal });
    const running = run(['trace', await write('logs.wasm', logsForEver), '-i', 'log'], io);
    await until(() => (stderr.text.includes('plugin info: ') ? true : undefined));
    controller.abort(new CliError('interrupted', 'Ended by SIGINT.', { exitCode: exitCodes.interrupted }));
    assert.equal(await running, 130);
    assert.match(stderr.text, / log .*✗ stopped\n/);
    assert.doesNotMatch(stderr.text, /error/);
  });

  for (const [what, args, message] of [
    ['no export', [], /The module is not a WASI command.*\nIt exports fib\(i32\), grow\(i64, f64\), trap\(\)/],
    ['an export that is not there', ['-i', 'memory'], /exports no function memory/],
    ['too few arguments', ['-i', 'grow', '--', '1'], /grow takes 2 arguments \(i64, f64\); got 1\./],
    ['a text', ['-i', 'fib', '--', 'ten'], /Argument 1 is i32: expected an integer.*got "ten"/],
    ['--json beside another format', ['-i', 'trap', '--json', '--format', 'html'], /--json and --format are exclusive/],
    ['two inputs', ['-i', 'trap', '--input', 'x', '--input-file', 'y'], /--input/],
    ['--repeat 0', ['-i', 'trap', '--repeat', '0'], /an integer/],
    ['a duration below zero', ['-i', 'trap', '--min-duration', '-1us'], /20us/],
    ['an unknown format', ['-i', 'trap', '--format', 'svg'], /Allowed choices/],
  ] as const) {
    it(`refuses ${what} as a wrong command line`, async () => {
      const { exitCode, stderr, stdout } = await trace([numbersPath, ...args]);
      assert.equal(exitCode, 2, stderr);
      assert.match(stderr, message);
      assert.equal(stdout, '');
    });
  }

  it('has names that come from strangers as texts, on the screen and in the page', async () => {
    const { stderr } = await demand([numbersPath, '-i', hostileExport, '--min-duration', '0us']);
    assert.match(stderr, /\\u\{202e\}\\u\{1b\}\[2J<\/script>/);
    assert.doesNotMatch(stderr, /[\u202e\u001b]/);
    const page = inFolder('hostile.html');
    await demand([numbersPath, '-i', hostileExport, '--format', 'html', '-o', page]);
    assert.equal((await readFile(page, 'utf8')).match(/<\/script/g)?.length, 2);
  });
});

describe('tenon trace: plugins of Extism', () => {
  it('calls one with bytes, and writes what it answers', async () => {
    const { stdout, stderr } = await demand([greet, '-i', 'greet', '--input', 'Ada', '--min-duration', '0']);
    assert.equal(stdout, 'Hello, Ada!');
    assert.match(stderr, / say_hello\n/);
    assert.match(stderr, / extism:host\/env\.output_set| output_set/);
  });

  it('takes its input from a file or from stdin', async () => {
    const file = await write('name.txt', 'Grace');
    assert.equal((await demand([greet, '-i', 'greet', '--input-file', file])).stdout, 'Hello, Grace!');
    const piped = await demand([greet, '-i', 'greet', '--input-file', '-'], { stdin: 'Edsger' });
    assert.equal(piped.stdout, 'Hello, Edsger!');
    assert.equal((await demand(['-', '-i', 'greet'], { stdin: await readFile(greet) })).stdout, 'Hello, !');
    const both = await trace(['-', '-i', 'greet', '--input-file', '-']);
    assert.equal(both.exitCode, 2);
  });

  it('gives it configuration, and tells what it logs and what it calls a failure', async () => {
    const plugin = await write(
      'settings.wasm',
      wat(`(module
        (import "extism:host/env" "input_offset" (func $input (result i64)))
        (import "extism:host/env" "length" (func $length (param i64) (result i64)))
        (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
        (import "extism:host/env" "log_warn" (func $log_warn (param i64)))
        (import "extism:host/env" "error_set" (func $error_set (param i64)))
        (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
        (func (export "look_up") (result i32) (local $found i64)
          (call $log_warn (call $input))
          (local.set $found (call $config_get (call $input)))
          (if (i64.eqz (local.get $found)) (then (call $error_set (call $input)) (return (i32.const 1))))
          (call $output_set (local.get $found) (call $length (local.get $found)))
          (i32.const 0)))`),
    );
    const args = [plugin, '-i', 'look_up', '--plugin-config', 'city=Zürich', '--input'];
    const found = await demand([...args, 'city']);
    assert.equal(found.stdout, 'Zürich');
    assert.match(found.stderr, /^plugin warn: city\n/);
    const none = await trace([...args, 'none']);
    assert.equal(none.exitCode, 1);
    assert.match(none.stderr, /error: The program failed: the plugin reported an error: none\n$/);
  });

  it('repeats a call on the same instance, and sums up', async () => {
    const { stderr } = await demand([greet, '-i', 'greet', '--input', 'Ada', '--repeat', '25']);
    assert.match(stderr, /25 runs/);
    const { repeat, functions } = (
      await demand([greet, '-i', 'greet', '--input', 'Ada', '--repeat', '25', '--json'])
    ).json();
    assert.equal(repeat.runs, 25);
    const once = (await demand([greet, '-i', 'greet', '--input', 'Ada', '--json'])).json();
    for (const { name, calls } of once.functions as { name: string; calls: number }[]) {
      assert.equal(functions.find((entry: { name: string }) => entry.name === name)?.calls, calls * 25, name);
    }
    for (const { total } of repeat.functions) {
      assert.ok(total.min <= total.median && total.median <= total.p95 && total.p95 <= total.max);
    }
  });
});

describe('tenon trace: what is traced', () => {
  it('instruments on the fly what --allowed and --banned choose', async () => {
    const namesOf = async (...args: string[]) => {
      const { functions } = (await demand([greet, '-i', 'greet', '--json', ...args])).json();
      return (functions as { rawName: string }[]).map(({ rawName }) => rawName).sort();
    };
    assert.deepEqual(await namesOf('--allowed', 'write_words,greet'), ['say_hello', 'write_words']);
    const all = await namesOf();
    assert.deepEqual(
      await namesOf('--banned', 'write_words'),
      all.filter((name) => name !== 'write_words'),
    );
    assert.deepEqual(await namesOf('--patterns', '--allowed', 'write_*'), ['write_input', 'write_words']);
  });

  it('warns of a name that nothing has, and when nothing is traced', async () => {
    const { stderr } = await demand([greet, '-i', 'greet', '--allowed', 'gret']);
    assert.match(stderr, /warning: No function is called "gret"/);
    assert.match(stderr, /warning: No function is traced\./);
    assert.match(stderr, /No traced function was called\./);
  });

  it('takes a module that is instrumented already as it is', async () => {
    const instrumented = inFolder('greet.instrumented.wasm');
    await tenon(['instrument', greet, '-o', instrumented, '--allowed', 'write_words']);
    const { functions } = (await demand([instrumented, '-i', 'greet', '--json'])).json();
    assert.deepEqual(
      functions.map(({ name }: JsonSpan) => name),
      ['write_words'],
    );
    const { exitCode, stderr } = await trace([instrumented, '-i', 'greet', '--banned', 'x']);
    assert.equal(exitCode, 2);
    assert.match(stderr, /already instrumented/);
  });

  it('refuses what is no module, and one that is not valid', async () => {
    for (const [bytes, code] of [
      ['text', 'not_wasm'],
      [Buffer.from('0061736d0d000100', 'hex'), 'component_not_supported'],
      // A function that answers nothing where an i32 is due.
      [Buffer.from('0061736d010000000105016000017f03020100070501016600000a040102000b', 'hex'), 'invalid_module'],
    ] as const) {
      const { exitCode, stderr } = await trace([await write('bad.wasm', bytes), '-i', 'f', '--json']);
      assert.equal(exitCode, 7, stderr);
      assert.equal(JSON.parse(stderr).error.code, code);
    }
  });

  it('names missing imports, and replaces them on request', async () => {
    const needy = await write(
      'needy.wasm',
      wat(`(module
        (import "env" "now" (func $now (result i64)))
        (import "env" "memory" (memory 3))
        (func (export "later") (result i64) (i64.add (call $now) (i64.extend_i32_u (memory.size)))))`),
    );
    const { exitCode, stderr } = await trace([needy, '-i', 'later']);
    assert.equal(exitCode, 7);
    assert.match(stderr, /has missing imports: env\.now, env\.memory \(a memory\)\.\n.*--stub-imports/);
    assert.equal((await demand([needy, '-i', 'later', '--stub-imports'])).stdout, '3\n');
    const table = await write('table.wasm', wat('(module (import "env" "t" (table 1 funcref)) (func (export "f")))'));
    const refused = await trace([table, '-i', 'f', '--stub-imports']);
    assert.equal(refused.exitCode, 7);
    assert.match(refused.stderr, /env\.t \(a table\)/);
  });
});

describe('tenon trace --format', () => {
  for (const [format, file, holds] of [
    ['html', 'numbers.trace.html', /^<!doctype html>/],
    ['chrome', 'numbers.chrome.json', /"traceEvents"/],
    ['speedscope', 'numbers.speedscope.json', /speedscope\.app\/file-format-schema/],
    ['folded', 'numbers.folded.txt', /^(fib;)*fib \d+\n/],
    ['otlp', 'numbers.otlp.json', /"resourceSpans"/],
  ] as const) {
    it(`writes ${format} beside the module, where -o says, or to stdout`, async () => {
      const args = [numbersPath, '-i', 'fib', '--format', format, '--min-duration', '0us'];
      const { stdout, stderr } = await demand([...args, '--', '5']);
      assert.equal(stdout, '5\n');
      assert.match(stderr, new RegExp(`^numbers\\.wasm fib: .+ → .+${file.replaceAll('.', '\\.')}\n$`));
      const written = await readFile(inFolder(file), 'utf8');
      assert.match(written, holds);
      if (file.endsWith('.json')) JSON.parse(written);
      await demand([...args, '-o', inFolder('elsewhere'), '--', '5']);
      assert.match(await readFile(inFolder('elsewhere'), 'utf8'), holds);
      const piped = await demand([...args, '-o', '-', '--', '5']);
      assert.match(piped.stdout, holds);
      assert.equal(piped.stderr, '5\n');
      assert.deepEqual(
        (await readdir(folder.path)).filter((name) => name.endsWith('.tmp')),
        [],
      );
    });
  }

  it('writes a tree into a file without colours, whatever the terminal', async () => {
    const file = inFolder('tree.txt');
    const { stderr } = await demand([numbersPath, '-i', 'fib', '-o', file, '--', '5'], { isTerminal: true });
    assert.match(stderr, /→ /);
    assert.doesNotMatch(await readFile(file, 'utf8'), /\u001b/);
    const shown = await demand([numbersPath, '-i', 'fib', '--', '5'], { isTerminal: true });
    assert.match(shown.stderr, /\u001b\[1m/);
    const plain = await demand([numbersPath, '-i', 'fib', '--', '5'], {
      isTerminal: true,
      environment: { NO_COLOR: '1' },
    });
    assert.doesNotMatch(plain.stderr.replaceAll('\r\u001b[K', ''), /\u001b/);
  });

  it('lists as many functions as --top says, and gives each call a line with --each', async () => {
    const args = [numbersPath, '-i', 'fib', '--min-duration', '0us'];
    const one = await demand([...args, '--top', '1', '--', '6']);
    assert.match(one.stderr, /self +total +calls +longest +memory +function\n.+ fib\n/);
    const none = await demand([...args, '--top', '0', '--', '6']);
    assert.doesNotMatch(none.stderr, /longest/);
    const each = await demand([...args, '--top', '0', '--each', '--', '6']);
    assert.equal(each.stderr.match(/ fib\n/g)?.length, 25);
    const few = await demand([...args, '--max-spans', '5', '--top', '0', '--', '6']);
    assert.match(few.stderr, /note: 20 spans dropped: raise --max-spans/);
  });

  it('keeps to --max-spans where every call is a root of its own', async () => {
    const many = await write(
      'many.wasm',
      wat(`(module (func $leaf (export "leaf")) (func (export "many") (param i32)
        (loop $again (call $leaf) (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))`),
    );
    const args = [many, '-i', 'many', '--allowed', 'leaf', '--max-spans', '5'];
    const found = (await trace([...args, '--json', '--repeat', '2', '--', '25'])).json();
    assert.equal(found.spans.length, 5);
    assert.equal(found.dropped.spans, 40);
    assert.deepEqual(
      found.functions.map(({ calls }: { calls: number }) => calls),
      [50],
    );
    const shown = found.spans.reduce(
      (sum: number, { durationNano }: { durationNano: number }) => sum + durationNano,
      0,
    );
    assert.ok(found.timeNano > shown, 'the calls without a span took time as well');
  });
});
