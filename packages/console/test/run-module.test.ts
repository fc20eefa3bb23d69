import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';
import type { RunMessage, RunRequest, RunResult } from '../src/pages/trace/run/messages.ts';
import { runModule } from '../src/pages/trace/run/run-module.ts';

interface Ran {
  readonly result: RunResult;
  readonly stdout: string;
  readonly stderr: string;
  readonly messages: readonly RunMessage[];
  readonly sleptMs: readonly number[];
}

/** Runs a module as the page's worker does, with everything traced and nothing left out. */
function run(bytes: Uint8Array, request: Partial<RunRequest> = {}): Ran {
  const text = { stdout: '', stderr: '' };
  const messages: RunMessage[] = [];
  const sleptMs: number[] = [];
  const result = runModule(
    {
      bytes: Uint8Array.from(bytes).buffer,
      isInstrumented: false,
      options: {},
      exportName: 'f',
      args: [],
      programArgs: [],
      env: [],
      input: '',
      missing: 'fail',
      minDurationMicroseconds: 0,
      fileName: 'program.wasm',
      demangler: undefined,
      stopFlag: undefined,
      ...request,
    },
    {
      now: () => performance.now(),
      wallClock: () => 1_700_000_000_000.5,
      random: (part) => void part.fill(7),
      sleep: (ms) => void sleptMs.push(ms),
      write: (stream, part) => {
        text[stream] += new TextDecoder().decode(part);
      },
      tell: (message) => void messages.push(message),
    },
  );
  return { result, ...text, messages, sleptMs };
}

const callsOf = ({ result }: Ran) => new Map(result.functions.map(({ name, calls }) => [name, calls]));

describe('runModule()', () => {
  const fib = wat(`(module
    (func $fib (export "fib") (param i32) (result i32)
      (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
        (then (local.get 0))
        (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
    (func $mix (export "mix") (param i64 f64) (result i64 f64) (local.get 0) (local.get 1)))`);

  it('calls an export with numbers, and tells its calls', () => {
    const ran = run(fib, { exportName: 'fib', args: [10] });
    assert.deepEqual(ran.result.outcome, { kind: 'returned', results: '55 (i32)' });
    assert.equal(callsOf(ran).get('fib'), 177);
    assert.equal(ran.result.spans, 177);
    assert.equal(ran.result.flame.name.length, 177);
    assert.equal(ran.result.flame.parent.filter((parent) => parent === -1).length, 1);
    assert.deepEqual(
      ran.messages.map((message) => (message.kind === 'phase' ? message.phase : message.kind)),
      ['instrumenting', 'compiling', 'running', 'gathering'],
    );
    const { outcome } = run(fib, { exportName: 'mix', args: [-5n, 0.25] }).result;
    assert.deepEqual(outcome, { kind: 'returned', results: '-5 (i64), 0.25 (f64)' });
  });

  it('leaves out what is short, and counts it', () => {
    const { result } = run(fib, { exportName: 'fib', args: [10], minDurationMicroseconds: 60_000_000 });
    assert.equal(result.spans, 1, 'the root alone');
    assert.equal(result.functions[0]?.calls, 177);
    assert.equal(result.flame.folded[0]?.[1], 176);
  });

  it('traces what is chosen', () => {
    const module = wat(`(module
      (func $inner (export "inner"))
      (func $other (call $inner))
      (func (export "f") (call $inner) (call $other)))`);
    assert.deepEqual([...callsOf(run(module, { options: { allowed: ['inner'] } }))], [['inner', 2]]);
    assert.deepEqual([...callsOf(run(module, { options: { banned: ['inner'] } })).keys()].sort(), ['f', 'other']);
  });

  it('runs what is instrumented already, as it is', () => {
    const instrumented = instrument(fib).bytes;
    assert.throws(() => run(instrumented, { exportName: 'fib', args: [5] }), { code: 'already_instrumented' });
    const ran = run(instrumented, { exportName: 'fib', args: [5], isInstrumented: true });
    assert.deepEqual(ran.result.outcome, { kind: 'returned', results: '5 (i32)' });
    assert.equal(callsOf(ran).get('fib'), 15);
  });

  it('tells traps, with the calls that led there', () => {
    const module = wat(`(module (func $deep unreachable) (func (export "f") (call $deep)))`);
    const { result } = run(module);
    assert.equal(result.outcome.kind, 'failed');
    assert.match('message' in result.outcome ? result.outcome.message : '', /It trapped: unreachable/);
    assert.equal(result.flame.failures.length, 2);
    const endless = wat(`(module (func $again (export "f") (call $again)))`);
    const overflow = run(endless).result;
    assert.equal(overflow.outcome.kind, 'failed');
    assert.ok(overflow.spans > 100);
  });

  it('tells what the start function does, and that it failed', () => {
    const fine = wat(`(module (func $first) (start $first) (func (export "f")))`);
    assert.equal(callsOf(run(fine)).get('first'), 1);
    const failing = wat(`(module (func $first unreachable) (start $first) (func (export "f")))`);
    assert.equal(run(failing).result.outcome.kind, 'failed');
  });

  it('ends a run that calls what is not here, or answers zero, as one likes', () => {
    const module = wat(`(module
      (import "env" "ask" (func $ask (param i32) (result i64)))
      (import "env" "pair" (func $pair (result i32 f64)))
      (func (export "f") (result i64) (drop (drop (call $pair))) (call $ask (i32.const 1))))`);
    const { outcome } = run(module).result;
    assert.match('message' in outcome ? outcome.message : '', /The module called env\.pair, .* not here/);
    assert.deepEqual(run(module, { missing: 'zero' }).result.outcome, { kind: 'returned', results: '0 (i64)' });
  });

  it('gives a memory that is imported, and says which import nobody can guess', () => {
    const memory = wat(`(module (import "env" "memory" (memory 2 5)) (func (export "f") (result i32) memory.size))`);
    assert.deepEqual(run(memory).result.outcome, { kind: 'returned', results: '2 (i32)' });
    const shared = wat(`(module (import "e" "m" (memory 1 3 shared)) (func (export "f") (result i32) memory.size))`);
    assert.deepEqual(run(shared).result.outcome, { kind: 'returned', results: '1 (i32)' });
    const table = wat(`(module (import "env" "__proto__" (table 1 funcref)) (func (export "f")))`);
    assert.throws(() => run(table), /imports the table env\.__proto__/);
  });

  it('knows names of imports that objects have by themselves', () => {
    const module = wat(`(module
      (import "__proto__" "constructor" (func $a)) (import "wasi_snapshot_preview1" "toString" (func $b (result i32)))
      (func (export "f") (result i32) (call $b)))`);
    assert.deepEqual(run(module).result.outcome, { kind: 'returned', results: '52 (i32)' });
  });

  it('stops at the next call once it is told to, and tells what was done until then', () => {
    const stopFlag = new SharedArrayBuffer(4);
    const module = wat(`(module
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (func $say (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))))
      (data (i32.const 0) "\\20\\00\\00\\00\\01\\00\\00\\00")
      (func (export "f") (loop $again (call $say) (br $again))))`);
    let written = 0;
    const ran = runModule(
      {
        bytes: Uint8Array.from(module).buffer,
        isInstrumented: false,
        options: {},
        exportName: 'f',
        args: [],
        programArgs: [],
        env: [],
        input: '',
        missing: 'fail',
        minDurationMicroseconds: 0,
        fileName: 'x.wasm',
        demangler: undefined,
        stopFlag,
      },
      {
        now: () => performance.now(),
        wallClock: Date.now,
        random: () => {},
        sleep: () => {},
        tell: () => {},
        write() {
          written += 1;
          if (written === 50) Atomics.store(new Int32Array(stopFlag), 0, 1); // as the page does meanwhile
        },
      },
    );
    assert.deepEqual(ran.outcome, { kind: 'stopped', message: 'You stopped it.' });
    assert.equal(written, 50);
    assert.equal(ran.spans, 1 + 2 * 50);
  });

  it('tells when it begins to stop, and when the module goes on all the same', () => {
    const stopFlag = new SharedArrayBuffer(4);
    new Int32Array(stopFlag).fill(1);
    const catching = wat(`(module (tag $t) (func $work) (func $try (try (do (call $work)) (catch_all)))
      (func (export "f") (call $try) (call $try)))`);
    const phases = ({ messages }: Ran) => messages.map((message) => (message.kind === 'phase' ? message.phase : ''));
    const plain = run(wat('(module (func $work) (func (export "f") (call $work)))'), { stopFlag });
    assert.deepEqual(phases(plain), ['instrumenting', 'compiling', 'running', 'gathering', 'gathering']);
    // Only what is allowed comes by: the export itself does not.
    const caught = run(catching, { stopFlag, options: { allowed: ['work'] } });
    assert.deepEqual(phases(caught), ['instrumenting', 'compiling', 'running', 'gathering', 'running', 'gathering']);
    assert.equal(caught.result.outcome.kind, 'returned');
  });

  it('holds up what takes more than a gibibyte of memory', () => {
    const growing = wat(`(module (memory (export "memory") 1)
      (func (export "f") (loop $again (drop (memory.grow (i32.const 4096))) (br $again))))`);
    const { result } = run(growing);
    assert.deepEqual(result.outcome, { kind: 'stopped', message: 'Its memory grew to more than a GiB.' });
    assert.equal(result.functions[0]?.pages, 16_384);
    const large = wat(`(module (memory 20000) (func (export "f")))`);
    assert.throws(() => run(large), /1310720000 bytes of memory at once/);
  });

  it('keeps a bounded number of spans of who reports calls by hand', () => {
    const module = wat(`(module
      (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
      (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
      (func (export "f") (local i32)
        (loop $again
          (call $enter (i32.const 2)) (call $exit (i32.const 2))
          (br_if $again (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 120000))))))`);
    const { result } = run(module, { isInstrumented: true });
    assert.equal(result.outcome.kind, 'returned');
    assert.equal(result.spans, 100_000);
    assert.equal(result.dropped.spans, 20_000);
  });
});

describe('runModule() of WASI', () => {
  const program = (body: string) =>
    wat(`(module
      (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
      (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
      (memory (export "memory") 1)
      (func $print (param $fd i32) (param $at i32) (param $length i32)
        (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $length))
        (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))))
      (func (export "f") (result i32) ${body})
      (func (export "_initialize") (i32.store (i32.const 1024) (i32.const 99))))`);

  it('hands on arguments, variables and input, and shows output', () => {
    const { stdout, stderr, result } = run(
      program(`
        (drop (call $args_sizes_get (i32.const 100) (i32.const 104)))
        (drop (call $args_get (i32.const 108) (i32.const 200)))
        (call $print (i32.const 1) (i32.const 200) (i32.load (i32.const 104)))
        (drop (call $environ_get (i32.const 108) (i32.const 300)))
        (call $print (i32.const 2) (i32.load (i32.const 112)) (i32.const 5))
        (i32.store (i32.const 16) (i32.const 400)) (i32.store (i32.const 20) (i32.const 3))
        (i32.store (i32.const 24) (i32.const 403)) (i32.store (i32.const 28) (i32.const 50))
        (drop (call $fd_read (i32.const 0) (i32.const 16) (i32.const 2) (i32.const 32)))
        (call $print (i32.const 1) (i32.const 400) (i32.load (i32.const 32)))
        (i32.load (i32.const 1024))`),
      {
        programArgs: ['grüß', ''],
        env: [
          ['A', '1'],
          ['B', 'two'],
        ],
        input: 'from outside',
      },
    );
    assert.equal(stdout, 'program.wasm\0grüß\0\0from outside');
    assert.equal(stderr, 'B=two');
    assert.deepEqual(result.outcome, { kind: 'returned', results: '99 (i32)' }, '_initialize was called before');
  });

  it('tells the time and random bytes, waits, and has no files', () => {
    const { stdout, sleptMs, result } = run(
      program(`
        (drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 200)))
        (drop (call $random_get (i32.const 208) (i32.const 2)))
        (call $print (i32.const 1) (i32.const 208) (i32.const 2))
        (i32.store8 (i32.const 408) (i32.const 0)) (i32.store (i32.const 416) (i32.const 1))
        (i64.store (i32.const 424) (i64.const 2500000))
        (drop (call $poll_oneoff (i32.const 400) (i32.const 500) (i32.const 1) (i32.const 600)))
        (if (i64.ne (i64.load (i32.const 200)) (i64.const 1700000000000500000)) (then unreachable))
        (i32.add (i32.mul (i32.const 100) (i32.load (i32.const 600))) (call $fd_prestat_get (i32.const 3) (i32.const 0)))`),
    );
    assert.equal(stdout, '\u0007\u0007');
    assert.deepEqual(sleptMs, [2.5]);
    assert.deepEqual(result.outcome, { kind: 'returned', results: '108 (i32)' }, 'one event, and no folder (EBADF)');
  });

  it('tells a program that a pointer leads nowhere', () => {
    const answers = [
      `(call $fd_write (i32.const 1) (i32.const -8) (i32.const 1) (i32.const 8))`,
      `(call $random_get (i32.const 65535) (i32.const 2))`,
      `(call $args_get (i32.const -4) (i32.const 0))`,
    ];
    for (const body of answers) {
      assert.deepEqual(run(program(body)).result.outcome, { kind: 'returned', results: '21 (i32)' }, body);
    }
    const closed = `(call $fd_write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 8))`;
    assert.deepEqual(run(program(closed)).result.outcome, { kind: 'returned', results: '8 (i32)' });
  });

  it('ends when the program ends itself, which is a failure unless it says 0', () => {
    for (const code of [0, 3]) {
      const { result } = run(program(`(call $proc_exit (i32.const ${code})) (i32.const 1)`));
      assert.deepEqual(result.outcome, { kind: 'exited', code });
      assert.equal(result.flame.failures.length > 0, code !== 0);
    }
  });
});

describe('runModule() of an Extism plugin', () => {
  const greet = readFileSync(new URL('../../server/sample/greet.wasm', import.meta.url));
  const outputOf = ({ result }: Ran) => new TextDecoder().decode(result.output);

  it('hands it its input, and shows its output', () => {
    const ran = run(greet, { exportName: 'greet', input: 'Ada Løvelace' });
    assert.deepEqual(ran.result.outcome, { kind: 'returned', results: '' });
    assert.equal(outputOf(ran), 'Hello, Ada Løvelace!');
    assert.equal(outputOf(run(greet, { exportName: 'count_vowels', input: 'aeiou'.repeat(2000) })), '{"count":10000}');
    assert.equal(outputOf(run(greet, { exportName: 'greet' })), 'Hello, !');
  });

  it('keeps blocks and variables for it, logs, and tells its own errors', () => {
    const plugin = (body: string) =>
      wat(`(module
        (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "free" (func $free (param i64)))
        (import "extism:host/env" "length" (func $length (param i64) (result i64)))
        (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
        (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
        (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
        (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
        (import "extism:host/env" "error_set" (func $error_set (param i64)))
        (import "extism:host/env" "log_info" (func $log_info (param i64)))
        (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
        (func $text (param i32) (result i64) (local i64)
          (local.set 1 (call $alloc (i64.const 1))) (call $store_u8 (local.get 1) (local.get 0)) (local.get 1))
        (func (export "f") (result i32) ${body}))`);
    const failed = run(
      plugin(
        `(call $log_info (call $text (i32.const 65))) (call $error_set (call $text (i32.const 66))) (i32.const 1)`,
      ),
    );
    assert.deepEqual(failed.result.outcome, { kind: 'failed', message: 'B' });
    assert.equal(failed.stderr, '[info] A\n');
    const kept = run(
      plugin(`(local i64)
        (call $var_set (call $text (i32.const 65)) (call $text (i32.const 66)))
        (local.set 0 (call $var_get (call $text (i32.const 65))))
        (call $output_set (local.get 0) (call $length (local.get 0)))
        (i32.const 0)`),
    );
    assert.equal(outputOf(kept), 'B');
    const wrong = run(
      plugin(`
        (call $store_u8 (i64.const -1) (i32.const 1))
        (drop (call $load_u64 (i64.const 0xffffffffffff)))
        (call $free (i64.const 77))
        (i32.wrap_i64 (i64.add (call $alloc (i64.const 0x7fffffffffffffff)) (call $var_get (call $text (i32.const 70)))))`),
    );
    assert.deepEqual(wrong.result.outcome, { kind: 'returned', results: '' }, 'beyond the end is nothing');
    const beyond = run(plugin(`(call $output_set (i64.const 1) (i64.const 99999999)) (i32.const 0)`));
    assert.match('message' in beyond.result.outcome ? beyond.result.outcome.message : '', /memory that is not there/);
  });
});
