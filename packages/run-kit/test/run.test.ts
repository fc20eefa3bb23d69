import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { describeModule, type InstrumentOptions, instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';
import {
  type Argument,
  createRunner,
  createStopper,
  createWasi,
  type MissingRule,
  programKind,
  type RunResult,
  usesExtism,
} from '../src/index.ts';

interface Request {
  readonly exportName?: string;
  readonly args?: readonly Argument[];
  readonly isInstrumented?: boolean;
  readonly options?: InstrumentOptions;
  readonly programArgs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly config?: Readonly<Record<string, string>>;
  readonly missing?: MissingRule;
  readonly minDurationMicroseconds?: number;
  readonly repeat?: number;
  readonly flags?: Int32Array;
  readonly onWrite?: () => void;
}

interface Ran {
  readonly result: RunResult;
  readonly stdout: string;
  readonly stderr: string;
  readonly sleptMs: readonly number[];
  /** Numbers of the stopper's throws. */
  readonly throws: readonly number[];
}

const gibibyte = 1024 ** 3;

/** Runs a module with every call shown. */
function run(bytes: Uint8Array, request: Request = {}): Ran {
  const { exportName = 'f', args = [], input = '', flags, repeat = 1, missing = 'trap' } = request;
  const text = { stdout: '', stderr: '' };
  const sleptMs: number[] = [];
  const throws: number[] = [];
  const { imports, exports } = describeModule(bytes);
  const params = exports.find(({ name }) => name === exportName)?.type?.params ?? [];
  const encoded = new TextEncoder().encode(input);
  let read = 0;
  const runner = createRunner(
    {
      module: Uint8Array.from(request.isInstrumented ? bytes : instrument(bytes, request.options).bytes),
      program: { kind: programKind(usesExtism(imports), exportName, params), exportName, args },
      input: encoded,
      pluginConfig: new Map(Object.entries(request.config ?? {})),
      missing,
      minDurationMicroseconds: request.minDurationMicroseconds ?? 0,
      maxSpans: 100_000,
      maxMemoryBytes: gibibyte,
      repeat,
    },
    {
      createWasi: (module) =>
        createWasi(module, {
          args: ['program.wasm', ...(request.programArgs ?? [])],
          environment: request.environment ?? {},
          read(into) {
            const part = encoded.subarray(read, read + into.length);
            into.set(part);
            read += part.length;
            return part.length;
          },
          write(stream, part) {
            text[stream] += new TextDecoder().decode(part);
            request.onWrite?.();
            return 0;
          },
          isTerminal: () => true,
          sleep: (ms) => void sleptMs.push(ms),
          wallClock: () => 1_700_000_000_000.5,
          random: (part) => void part.fill(7),
        }),
      log(level, message) {
        text.stderr += `[${level}] ${message}\n`;
      },
      stopper: flags && createStopper(flags, (count) => void throws.push(count)),
      demangle: (name) => name,
    },
  );
  return { result: runner(), ...text, sleptMs, throws };
}

const callsOf = ({ result }: Ran) =>
  new Map(result.statistics.functions.map(({ function: { name }, calls }) => [name, calls]));
const returned = { kind: 'returned', exitCode: undefined };
const valuesOf = ({ result: { ending, values } }: Ran) => {
  assert.deepEqual(ending, returned);
  return values;
};
const reasonOf = ({ result: { ending } }: Ran) => ('reason' in ending ? ending.reason : ending.kind);

describe('createRunner()', () => {
  const fib = wat(`(module
    (func $fib (export "fib") (param i32) (result i32)
      (if (result i32) (i32.lt_s (local.get 0) (i32.const 2))
        (then (local.get 0))
        (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
    (func $mix (export "mix") (param i64 f64) (result i64 f64) (local.get 0) (local.get 1)))`);

  it('calls an export with numbers, and records its calls', () => {
    const ran = run(fib, { exportName: 'fib', args: [10] });
    assert.deepEqual(valuesOf(ran), ['55']);
    assert.equal(callsOf(ran).get('fib'), 177);
    assert.equal(ran.result.spans.length, 177);
    assert.equal(ran.result.spans.filter(({ parentSpanId }) => parentSpanId === undefined).length, 1);
    assert.deepEqual(valuesOf(run(fib, { exportName: 'mix', args: [-5n, 0.25] })), ['-5', '0.25']);
  });

  it('folds short calls, and counts them', () => {
    const { result } = run(fib, { exportName: 'fib', args: [10], minDurationMicroseconds: 60_000_000 });
    assert.deepEqual(
      result.spans.map(({ folded }) => folded.calls),
      [176],
    );
    assert.equal(result.statistics.functions[0]?.calls, 177);
  });

  it('traces the selected functions', () => {
    const module = wat(`(module
      (func $inner (export "inner"))
      (func $other (call $inner))
      (func (export "f") (call $inner) (call $other)))`);
    assert.deepEqual([...callsOf(run(module, { options: { allowed: ['inner'] } }))], [['inner', 2]]);
    assert.deepEqual([...callsOf(run(module, { options: { banned: ['inner'] } })).keys()].sort(), ['f', 'other']);
  });

  it('runs an instrumented module unchanged', () => {
    const instrumented = instrument(fib).bytes;
    assert.throws(() => run(instrumented, { exportName: 'fib', args: [5] }), { code: 'already_instrumented' });
    const ran = run(instrumented, { exportName: 'fib', args: [5], isInstrumented: true });
    assert.deepEqual(valuesOf(ran), ['5']);
    assert.equal(callsOf(ran).get('fib'), 15);
  });

  it('reports traps and exceptions with their calls', () => {
    const module = wat(`(module (func $deep unreachable) (func (export "f") (call $deep)))`);
    const ran = run(module);
    assert.deepEqual(ran.result.ending, { kind: 'failed', reason: 'unreachable' });
    assert.deepEqual(
      ran.result.spans.map(({ status }) => status),
      [
        { code: 'error', message: 'unreachable' },
        { code: 'error', message: 'unreachable' },
      ],
    );
    const overflow = run(wat(`(module (func $again (export "f") (call $again)))`));
    assert.match(reasonOf(overflow), /call stack/);
    assert.ok(overflow.result.spans.length > 100);
    const throwing = wat(`(module (tag $t) (func (export "f") (throw $t)))`);
    assert.equal(reasonOf(run(throwing)), 'uncaught exception');
  });

  it('traces the start function and its failure', () => {
    const fine = wat(`(module (func $first) (start $first) (func (export "f")))`);
    assert.equal(callsOf(run(fine)).get('first'), 1);
    const failing = wat(`(module (func $first unreachable) (start $first) (func (export "f")))`);
    assert.equal(reasonOf(run(failing)), 'unreachable');
  });

  it('ends the run at a missing function, or returns zero', () => {
    const module = wat(`(module
      (import "env" "ask" (func $ask (param i32) (result i64)))
      (import "env" "pair" (func $pair (result i32 f64)))
      (func (export "f") (result i64) (drop (drop (call $pair))) (call $ask (i32.const 1))))`);
    assert.match(reasonOf(run(module)), /The module called env\.pair, which is not available/);
    assert.deepEqual(valuesOf(run(module, { missing: 'zero' })), ['0']);
  });

  it('creates imported memories, and refuses other missing imports', () => {
    const memory = wat(`(module (import "env" "memory" (memory 2 5)) (func (export "f") (result i32) memory.size))`);
    assert.deepEqual(valuesOf(run(memory)), ['2']);
    assert.equal(run(memory).result.initialPages, 2);
    const shared = wat(`(module (import "e" "m" (memory 1 3 shared)) (func (export "f") (result i32) memory.size))`);
    assert.deepEqual(valuesOf(run(shared)), ['1']);
    const table = wat(`(module (import "env" "__proto__" (table 1 funcref)) (func (export "f")))`);
    const refused = { kind: 'refused', reason: 'The module imports the table env.__proto__, which is not available' };
    assert.deepEqual(run(table, { missing: 'zero' }).result.ending, refused);
  });

  it('distinguishes imports from properties of objects', () => {
    const module = wat(`(module
      (import "__proto__" "constructor" (func $a)) (import "wasi_snapshot_preview1" "toString" (func $b (result i32)))
      (func (export "f") (result i32) (call $b)))`);
    assert.match(reasonOf(run(module)), /called wasi_snapshot_preview1\.toString/);
    assert.deepEqual(valuesOf(run(module, { missing: 'zero' })), ['0']);
  });

  it('stops at the next call after a stop request, and reports the calls so far', () => {
    const flags = new Int32Array(1);
    const module = wat(`(module
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (func $say (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))))
      (data (i32.const 0) "\\20\\00\\00\\00\\01\\00\\00\\00")
      (func (export "f") (loop $again (call $say) (br $again))))`);
    let written = 0;
    const { result } = run(module, {
      flags,
      onWrite() {
        written += 1;
        if (written === 50) flags[0] = 1; // as another thread does meanwhile
      },
    });
    assert.deepEqual(result.ending, { kind: 'stopped' });
    assert.equal(written, 50);
    assert.equal(result.spans.length, 1 + 2 * 50);
    assert.deepEqual(result.spans[0]?.status, { code: 'error', message: 'stopped' });
  });

  it('counts its throws, which a module may catch', () => {
    const flags = new Int32Array([1]);
    const catching = wat(`(module (tag $t) (func $work) (func $try (try (do (call $work)) (catch_all)))
      (func (export "f") (call $try) (call $try)))`);
    const plain = run(wat('(module (func $work) (func (export "f") (call $work)))'), { flags });
    assert.deepEqual([plain.throws, plain.result.ending.kind], [[1], 'stopped']);
    // Only allowed functions call the stopper, not the export itself.
    const caught = run(catching, { flags, options: { allowed: ['work'] } });
    assert.deepEqual([caught.throws, caught.result.ending.kind], [[1, 2], 'returned']);
  });

  it('limits memory', () => {
    const growing = wat(`(module (memory (export "memory") 1)
      (func (export "f") (loop $again (drop (memory.grow (i32.const 4096))) (br $again))))`);
    const { result } = run(growing);
    assert.deepEqual(result.ending, { kind: 'failed', reason: 'its memory grew beyond the limit of 1073741824 bytes' });
    assert.equal(result.statistics.functions[0]?.grownPages, 16_384);
    const large = wat(`(module (memory 20000) (func (export "f")))`);
    assert.throws(() => run(large), /needs 1310720000 bytes of memory; the limit is 1073741824/);
  });

  it('limits the spans of a module that reports its calls itself', () => {
    const module = wat(`(module
      (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
      (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
      (func (export "f") (local i32)
        (loop $again
          (call $enter (i32.const 2)) (call $exit (i32.const 2))
          (br_if $again (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 120000))))))`);
    const { result } = run(module, { isInstrumented: true });
    assert.equal(result.ending.kind, 'returned');
    assert.equal(result.spans.length, 100_000);
    assert.equal(result.statistics.dropped.spans, 20_000);
  });

  it('initialises an instance once, as hosts of Extism do', () => {
    const module = (exports: readonly string[], isPlugin = false) =>
      wat(`(module
        ${isPlugin ? '(import "extism:host/env" "input_length" (func (result i64)))' : ''}
        (global $order (mut i32) (i32.const 0))
        (func $note (param i32) (global.set $order (i32.add (i32.mul (global.get $order) (i32.const 10)) (local.get 0))))
        ${exports
          .map((name, at) =>
            name === 'hs_init'
              ? `(func (export "hs_init") (param i32 i32) (call $note (i32.const ${at + 1})))`
              : `(func (export "${name}") (call $note (i32.const ${at + 1})))`,
          )
          .join('')}
        (func (export "f") (param i32) (result i32) (global.get $order)))`);
    const orderOf = (exports: readonly string[], isPlugin = false) =>
      valuesOf(run(module(exports, isPlugin), { args: [0], repeat: 3 }))[0];
    assert.equal(orderOf(['hs_init', '__wasm_call_ctors', '_initialize']), '31');
    assert.equal(orderOf(['__wasm_call_ctors', '_initialize'], true), '2');
    assert.equal(orderOf(['__wasm_call_ctors', 'hs_init'], true), '12');
    assert.equal(orderOf(['_start']), '0');
    const initialized = run(module(['_initialize']), { exportName: '_initialize' });
    assert.equal(callsOf(initialized).get('_initialize'), 1);
  });

  it('repeats a run, and counts the calls of each', () => {
    const { result } = run(fib, { exportName: 'fib', args: [5], repeat: 4 });
    assert.deepEqual(
      result.runs.map(({ functions }) => functions.map(({ calls }) => calls)),
      [[15], [15], [15], [15]],
    );
    assert.equal(result.statistics.functions[0]?.calls, 60);
    assert.equal(result.spans.length, 15, 'of the last run');
    const failing = wat(`(module (global $runs (mut i32) (i32.const 0))
      (func (export "f") (global.set $runs (i32.add (global.get $runs) (i32.const 1)))
        (if (i32.eq (global.get $runs) (i32.const 3)) (then unreachable))))`);
    assert.equal(run(failing, { repeat: 9 }).result.runs.length, 3);
  });
});

describe('createRunner() of a module with fuel', () => {
  const counting = wat(`(module (func (export "f") (param $n i32) (result i32)
    (loop $next (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.const 7)))`);
  // More than a slice of 50 million.
  const args = [20_000_000];

  it('runs it until its fuel is used up, in slices or at once', () => {
    for (const onOutOfFuel of ['call', 'trap'] as const) {
      const options = (fuel: number) => ({ args, options: { trace: false, fuel, onOutOfFuel } });
      const enough = run(counting, options(1e9)).result;
      assert.deepEqual([enough.values, enough.isOutOfFuel], [['7'], false], onOutOfFuel);
      const { ending, isOutOfFuel } = run(counting, options(60_000_000)).result;
      assert.deepEqual([ending.kind, isOutOfFuel], ['failed', onOutOfFuel === 'call'], onOutOfFuel);
    }
  });
});

describe('createRunner() of WASI', () => {
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

  it('passes arguments, variables and input, and writes output', () => {
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
        environment: { A: '1', B: 'two' },
        input: 'from outside',
      },
    );
    assert.equal(stdout, 'program.wasm\0grüß\0\0from outside');
    assert.equal(stderr, 'B=two');
    assert.deepEqual(result.values, ['99'], '_initialize was called before');
  });

  it('has clocks, random bytes and waits, and no files', () => {
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
    assert.deepEqual(result.values, ['108'], 'one event, and no folder (EBADF)');
  });

  it('returns an error for a wrong address', () => {
    const answers = [
      `(call $fd_write (i32.const 1) (i32.const -8) (i32.const 1) (i32.const 8))`,
      `(call $random_get (i32.const 65535) (i32.const 2))`,
      `(call $args_get (i32.const -4) (i32.const 0))`,
    ];
    for (const body of answers) {
      assert.deepEqual(valuesOf(run(program(body))), ['21'], body);
    }
    const closed = `(call $fd_write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 8))`;
    assert.deepEqual(valuesOf(run(program(closed))), ['8']);
  });

  it('ends with the exit code, which is a failure unless it is 0', () => {
    for (const code of [0, 3]) {
      const { result } = run(program(`(call $proc_exit (i32.const ${code})) (i32.const 1)`));
      assert.deepEqual(result.ending, { kind: 'returned', exitCode: code });
      assert.equal(
        result.spans.some(({ status }) => status.code === 'error'),
        code !== 0,
      );
    }
  });
});

describe('createRunner() of an Extism plugin', () => {
  const greet = readFileSync(new URL('../../server/sample/greet.wasm', import.meta.url));
  const outputOf = ({ result }: Ran) => new TextDecoder().decode(result.output);

  it('passes input, and returns output', () => {
    const ran = run(greet, { exportName: 'greet', input: 'Ada Løvelace' });
    assert.deepEqual(valuesOf(ran), []);
    assert.equal(outputOf(ran), 'Hello, Ada Løvelace!');
    assert.equal(outputOf(run(greet, { exportName: 'count_vowels', input: 'aeiou'.repeat(2000) })), '{"count":10000}');
    assert.equal(outputOf(run(greet, { exportName: 'greet' })), 'Hello, !');
  });

  it('has blocks, variables and logs, and reports errors of the plugin', () => {
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
        (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
        (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
        (func $text (param i32) (result i64) (local i64)
          (local.set 1 (call $alloc (i64.const 1))) (call $store_u8 (local.get 1) (local.get 0)) (local.get 1))
        (func (export "f") (result i32) ${body}))`);
    const failed = run(
      plugin(
        `(call $log_info (call $text (i32.const 65))) (call $error_set (call $text (i32.const 66))) (i32.const 1)`,
      ),
    );
    assert.equal(reasonOf(failed), 'the plugin reported an error: B');
    assert.equal(failed.stderr, '[info] A\n');
    const kept = run(
      plugin(`(local i64)
        (call $var_set (call $text (i32.const 65)) (call $text (i32.const 66)))
        (local.set 0 (call $var_get (call $text (i32.const 65))))
        (call $output_set (local.get 0) (call $length (local.get 0)))
        (i32.const 0)`),
    );
    assert.equal(outputOf(kept), 'B');
    const configured = plugin(`(local i64)
      (local.set 0 (call $config_get (call $text (i32.const 65))))
      (call $output_set (local.get 0) (call $length (local.get 0))) (i32.const 0)`);
    assert.equal(outputOf(run(configured, { config: { A: 'value' } })), 'value');
    assert.equal(reasonOf(run(plugin('(i32.const 7)'))), 'the plugin returned 7');
    const beyond = run(plugin(`(call $output_set (i64.const 1) (i64.const 99999999)) (i32.const 0)`));
    assert.match(reasonOf(beyond), /memory outside of a block/);
  });
});
