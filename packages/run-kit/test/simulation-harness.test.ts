import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulationReport } from '@tenon/protocol';
import { wat } from '../../../test/helpers/wat.ts';
import { plugin, pluginModule, simulate, testModule } from './helpers/simulation-modules.ts';

const assertions = (report: SimulationReport) =>
  report.assertions.map(({ group, name, passed, reason }) => [group, name, passed, reason]);
const outcomes = (report: SimulationReport) =>
  report.calls.map(({ export: name, output, error }) => [name, output?.text ?? null, error]);
const run = (body: string, rest = {}) => simulate({ testModule: testModule(body), ...rest });

describe('a test module', () => {
  it('calls the plugin, makes assertions in groups, and resets the plugin', () => {
    const report = run(`
      (drop (call $call 'count' (i64.const 0)))
      (local.set $a (call $call 'count' (i64.const 0)))
      (call $assert 'counts' (i64.extend_i32_u (i32.eq (call $load_u8 (local.get $a)) (i32.const 50))) 'wrong count')
      (call $group 'after a reset')
      (call $reset)
      (local.set $a (call $call 'count' (i64.const 0)))
      (call $assert 'starts again' (i64.extend_i32_u (i32.eq (call $load_u8 (local.get $a)) (i32.const 49))) (i64.const 0))
      (local.set $a (call $time 'echo' 'abc'))
      (call $assert 'takes time' (i64.extend_i32_u (i64.gt_u (local.get $a) (i64.const 0))) '')
      (i32.const 0)`);
    assert.deepEqual([report.verdict, report.detail], ['passed', null]);
    assert.deepEqual(assertions(report), [
      [null, 'counts', true, null],
      ['after a reset', 'starts again', true, null],
      ['after a reset', 'takes time', true, null],
    ]);
    assert.deepEqual(outcomes(report), [
      ['count', '1', null],
      ['count', '2', null],
      ['count', '1', null],
      ['echo', 'abc', null],
    ]);
    assert.equal(report.calls[3]?.input.text, 'abc');
    assert.deepEqual([report.calls[0]?.memoryPages, report.isCut], [1, false]);
  });

  it('gets the mock input, or 0', () => {
    const body = `(drop (call $call 'echo' (call $mock_input)))
      (i64.eqz (call $mock_input))`;
    assert.deepEqual(outcomes(run(body, { mockInput: new TextEncoder().encode('given') })), [['echo', 'given', null]]);
    const without = run(body);
    assert.deepEqual([without.verdict, without.detail], ['failed', '"test" returned 1']);
    assert.deepEqual(outcomes(without), [['echo', '', null]]);
  });

  it('fails with a failed assertion, a result other than 0, an error, or a trap', () => {
    const failed = run(`(call $assert 'holds' (i64.const 0) 'because') (i32.const 0)`);
    assert.deepEqual([failed.verdict, failed.detail], ['failed', '1 of 1 assertions failed']);
    assert.deepEqual(assertions(failed), [[null, 'holds', false, 'because']]);
    const detailOf = (body: string) => run(body).detail;
    assert.equal(detailOf('(i32.const 3)'), '"test" returned 3');
    assert.equal(detailOf(`(call $error_set 'oh') (i32.const 0)`), 'The test module reported an error: oh');
    assert.equal(detailOf('unreachable'), '"test" failed: unreachable');
  });

  it('fails at a call that fails, and the report names the call', () => {
    const failure = (name: string) => {
      const report = run(`(drop (call $call '${name}' (i64.const 0))) (i32.const 0)`);
      assert.equal(report.verdict, 'failed');
      assert.equal(report.detail, `"test" failed: the call of "${name}" failed: ${report.calls[0]?.error}`);
      assert.equal(report.calls[0]?.output, null);
      return report.calls[0]?.error;
    };
    assert.equal(failure('trap'), 'unreachable');
    assert.equal(failure('fail'), 'the plugin reported an error: no such user');
    assert.equal(failure('recurse'), 'Maximum call stack size exceeded');
    assert.equal(failure('grow'), 'its memory grew beyond the limit of 67108864 bytes');
    assert.equal(failure('grow_caught'), 'its memory grew beyond the limit of 67108864 bytes');
    assert.equal(failure('hoard'), 'The plugin uses more than 64 MiB of memory shared with the host');
    assert.equal(failure('blocks'), 'The plugin uses more than 65535 blocks of shared memory');
    assert.equal(
      run(`(drop (call $call 'echo' (call $alloc (i64.const 9000000)))) (i32.const 0)`).calls[0]?.error,
      'the input of 9000000 bytes is larger than the limit of 8388608',
    );
    assert.equal(failure('large'), 'the output of 20000000 bytes is larger than the limit of 8388608');
    assert.equal(failure('nothing'), 'the plugin exports no function "nothing"');
    assert.equal(failure('memory'), 'the plugin exports no function "memory"');
    assert.equal(failure('__proto__'), 'the plugin exports no function "__proto__"');
    assert.match(failure('takes') ?? '', /takes parameters/);
  });

  it('can catch a failed call, after which the plugin is a new instance', () => {
    const report = run(`
      (drop (call $call 'count' (i64.const 0)))
      (try (do (drop (call $call 'trap' (i64.const 0)))) (catch_all))
      (drop (call $call 'count' (i64.const 0)))
      (try (do (drop (call $call 'fail' (i64.const 0)))) (catch_all))
      (drop (call $call 'count' (i64.const 0)))
      (i32.const 0)`);
    assert.equal(report.verdict, 'passed');
    assert.deepEqual(
      outcomes(report).map(([, output]) => output),
      ['1', null, '1', null, '2'],
    );
  });

  it('can declare other types where their meaning is clear', () => {
    const older = wat(`(module
      (import "xtp:test/harness" "assert" (func $assert (param i64 i32)))
      (func (export "test") (call $assert (i64.const 0) (i32.const 1))))`);
    assert.deepEqual(assertions(simulate({ testModule: older })), [[null, '', true, null]]);
    const detailOf = (source: string) => simulate({ testModule: wat(source) }).detail;
    assert.equal(detailOf('(module (func (export "test") (result i64) (i64.const 2)))'), '"test" returned 2');
    assert.equal(detailOf('(module)'), 'The test module must export a function "test"');
    assert.equal(
      detailOf('(module (func (export "test") (result f32) (f32.const 0)))'),
      'The test module must export "test" as () -> i32, not as () -> f32',
    );
    assert.equal(
      detailOf('(module (import "xtp:test/harness" "group" (func (param i32))) (func (export "test")))'),
      'The test module must import group as (i64) -> (), not as (i32) -> ()',
    );
    assert.equal(
      detailOf('(module (import "xtp:test/harness" "skip" (func)) (func (export "test")))'),
      'The test module must not import "xtp:test/harness.skip"; xtp:test/harness has call, time, assert, group, reset, mock_input',
    );
    assert.match(simulate({ testModule: new Uint8Array(9) }).detail ?? '', /^The test module is not a valid module: /);
    assert.match(
      simulate({ testModule: wat('(module (func (result i32)))').slice(0, -1) }).detail ?? '',
      /not a valid/,
    );
  });

  it('fails with addresses that are not those of blocks', () => {
    for (const body of [
      `(call $assert (i64.const 77) (i64.const 1) (i64.const 0))`,
      `(call $assert 'a' (i64.const 1) (i64.const -1))`,
      `(call $group (i64.const -9223372036854775808))`,
      `(drop (call $call (i64.const 281474976710656000) (i64.const 0)))`,
      `(drop (call $time 'echo' (i64.const 12)))`,
    ]) {
      const report = run(`${body} (i32.const 0)`);
      assert.match(report.detail ?? '', /is not the address of a block of memory/, body);
      assert.deepEqual(report.assertions, []);
    }
  });

  it('keeps hostile names as data, and makes them valid Unicode', () => {
    const [first] = run(`
      (local.set $a 'ab') (call $store_u8 (local.get $a) (i32.const 255)) (call $store_u8 (i64.add (local.get $a) (i64.const 1)) (i32.const 0))
      (call $assert (local.get $a) (i64.const 1) (i64.const 0)) (i32.const 0)`).assertions;
    assert.equal(first?.name, '\ufffd\0');
    const long = `${'x'.repeat(198)}😀😀`;
    const [cut] = run(`(call $assert '${long}' (i64.const 0) '${'é'.repeat(3000)}') (i32.const 0)`).assertions;
    assert.equal(cut?.name, `${'x'.repeat(198)}…`);
    assert.deepEqual([cut?.reason?.length, cut?.reason?.at(-1)], [2000, '…']);
  });

  it('bounds the report, and counts what is left out', () => {
    const many = run(`
      (loop $again
        (call $assert 'passes' (i64.const 1) (i64.const 0))
        (drop (call $call 'echo' '${'x'.repeat(100)}'))
        (br_if $again (i64.lt_u (local.tee $b (i64.add (local.get $b) (i64.const 1))) (i64.const 1500))))
      (call $assert 'last' (i64.const 0) 'the end') (call $call 'flood' (i64.const 0)) (drop) (i32.const 0)`);
    assert.deepEqual([many.verdict, many.detail, many.isCut], ['failed', '1 of 1501 assertions failed', true]);
    assert.ok(Buffer.byteLength(JSON.stringify(many)) < 256 * 1024);
    assert.deepEqual(many.assertions.at(-1)?.name, 'last');
    assert.ok(many.log.length > 500);
    assert.deepEqual(many.log[0], { from: 'plugin', level: 'warn', text: 'hello' });
  });

  it('limits its own memory', () => {
    assert.match(run('(drop (memory.grow (i32.const 4096))) (i32.const 0)').detail ?? '', /grew beyond the limit/);
    assert.match(run('(drop (call $alloc (i64.const 99999999))) (i32.const 0)').detail ?? '', /more than 64 MiB/);
    const large = wat('(module (memory 4096) (func (export "test")))');
    assert.match(simulate({ testModule: large }).detail ?? '', /^The test module needs 268435456 bytes/);
    assert.match(
      simulate({ plugin: large, testModule: testModule('(i32.const 0)') }).detail ?? '',
      /^The plugin needs/,
    );
  });

  it('gives the same report for the same modules, apart from times', () => {
    const clocks = pluginModule(
      `(func (export "now") (result i32)
        (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 2048)))
        (drop (call $random (i32.const 2056) (i32.const 8)))
        (call $answer (call $text (i32.const 2048) (i32.const 16))))`,
      `(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
       (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))`,
    );
    const body = `(drop (call $call 'now' (i64.const 0))) (drop (call $call 'now' (i64.const 0))) (i32.const 0)`;
    const withoutTimes = () => {
      const { durationMs, calls, ...rest } = run(body, { plugin: clocks });
      assert.ok(durationMs > 0);
      return { ...rest, calls: calls.map(({ timeNano, ...call }) => ({ ...call, isTimed: timeNano > 0 })) };
    };
    const report = withoutTimes();
    assert.equal(report.verdict, 'passed');
    assert.notEqual(report.calls[0]?.output?.sha256, report.calls[1]?.output?.sha256);
    assert.deepEqual(withoutTimes(), report);
  });

  it('lists the host calls of a call up to a limit, and keeps the call', () => {
    const busy = pluginModule(
      `(func (export "ask") (result i32) (local $n i32) (local $key i64)
         (local.set $key '${'k'.repeat(500)}')
         (loop $again (drop (call $read (local.get $key)))
           (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000)))) (i32.const 0))`,
      '(import "extism:host/user" "read" (func $read (param i64) (result i64)))',
    );
    const mockHost = wat('(module (func (export "read") (param i64) (result i64) (local.get 0)))');
    const report = run(`(drop (call $call 'ask' (i64.const 0))) (i32.const 0)`, { plugin: busy, mockHost });
    assert.deepEqual([report.verdict, report.isCut, report.calls.length], ['passed', true, 1]);
    assert.equal(report.calls[0]?.hostCalls.length, 16);
  });

  it('logs the lines of WASI streams, and counts calls', () => {
    const writing = pluginModule(
      `(func $line (drop (call $write (i32.const 1) (i32.const 2048) (i32.const 1) (i32.const 2060))))
       (func (export "say") (result i32)
         (i32.store (i32.const 2048) (i32.const 2064)) (i32.store (i32.const 2052) (i32.const 5))
         (call $line) (call $line) (i32.const 0))
       (data (i32.const 2064) "ab\\0acd")`,
      `(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))`,
    );
    const report = run(`(drop (call $call 'say' (i64.const 0))) (i32.const 0)`, { plugin: writing });
    assert.deepEqual(report.log, [
      { from: 'plugin', level: 'stdout', text: 'ab' },
      { from: 'plugin', level: 'stdout', text: 'cdab' },
      { from: 'plugin', level: 'stdout', text: 'cd' },
    ]);
    assert.equal(report.calls[0]?.functionCalls, 3);
  });

  it('treats an exit of the plugin as its end', () => {
    const exiting = (code: number) =>
      pluginModule(
        `(func (export "leave") (result i32) (drop (call $answer 'bye')) (call $exit (i32.const ${code})) (i32.const 1))`,
        `(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))`,
      );
    const body = `(drop (call $call 'leave' (i64.const 0))) (i32.const 1)`;
    assert.deepEqual(outcomes(run(body, { plugin: exiting(0) })), [['leave', 'bye', null]]);
    assert.equal(run(body, { plugin: exiting(0) }).detail, '"test" returned 1', 'the test goes on');
    assert.equal(run(body, { plugin: exiting(4) }).calls[0]?.error, 'the plugin exited with code 4');
  });
});

describe('a mock host', () => {
  const store = `
    (import "extism:host/user" "read" (func $read (param i64) (result i64)))
    (import "other" "mix" (func $mix (param i32 f32 f64) (result f64)))`;
  const caller = pluginModule(
    `(func (export "ask") (result i32) (call $answer (call $read (call $input_offset))))
     (func (export "mixed") (result i32)
       (drop (call $mix (i32.const -1) (f32.const 0.5) (f64.const nan))) (i32.const 0))`,
    store,
  );
  /** Returns the key of the previous call. */
  const host = pluginModule(
    `(func (export "read") (param $key i64) (result i64) (local $before i64)
       (call $log_warn 'asked')
       (local.set $before (call $var_get 'last'))
       (call $var_set 'last' (local.get $key))
       (select (local.get $key) (local.get $before) (i64.eqz (local.get $before))))
     (func (export "mix") (param i32 f32 f64) (result f64) (local.get 2))`,
  );

  it('provides host functions in memory shared with the plugin, and is reset with it', () => {
    const report = run(
      `(drop (call $call 'ask' 'a')) (drop (call $call 'ask' 'b')) (call $reset) (drop (call $call 'ask' 'c'))
       (drop (call $call 'mixed' (i64.const 0))) (i32.const 0)`,
      { plugin: caller, mockHost: host },
    );
    assert.equal(report.detail, null);
    assert.deepEqual(
      outcomes(report).map(([, output]) => output),
      ['a', 'a', 'c', ''],
    );
    assert.deepEqual(report.calls[1]?.hostCalls, [{ name: 'read', args: ['b'], returns: 'a' }]);
    assert.deepEqual(report.calls[3]?.hostCalls, [{ name: 'mix', args: [-1, 0.5, 'NaN'], returns: 'NaN' }]);
    assert.deepEqual(report.log[0], { from: 'host', level: 'warn', text: 'asked' });
  });

  it('can read the mock input', () => {
    const reading = pluginModule(
      `(func (export "read") (param i64) (result i64) (call $mock_input))
       (func (export "mix") (param i32 f32 f64) (result f64) (local.get 2))`,
      `(import "xtp:test/harness" "mock_input" (func $mock_input (result i64)))`,
    );
    const mockInput = new TextEncoder().encode('{"user":1}');
    const report = run(`(drop (call $call 'ask' 'a')) (i32.const 0)`, { plugin: caller, mockHost: reading, mockInput });
    assert.deepEqual(outcomes(report), [['ask', '{"user":1}', null]]);
  });

  it('must provide what the plugin imports', () => {
    const body = `(drop (call $call 'ask' 'a')) (i32.const 0)`;
    const detailOf = (mockHost?: Uint8Array) => run(body, { plugin: caller, ...(mockHost && { mockHost }) }).detail;
    assert.equal(
      detailOf(),
      'The plugin imports extism:host/user.read, but the simulation has no mock host, which would provide it',
    );
    assert.equal(
      detailOf(pluginModule('(func (export "read") (param i64) (result i64) (i64.const 0))')),
      'The plugin imports other.mix, which the mock host does not export',
    );
    assert.equal(
      detailOf(wat('(module (func (export "read") (param i32)))')),
      'The plugin imports extism:host/user.read as (i64) -> i64; the mock host exports it as (i32) -> ()',
    );
    assert.equal(
      detailOf(wat('(module (func $f unreachable) (start $f))')),
      'The mock host must export the host functions that plugins import',
    );
    assert.equal(
      detailOf(wat('(module (import "xtp:test/harness" "reset" (func)) (func (export "read")))')),
      'The mock host must not import "xtp:test/harness.reset"; xtp:test/harness has mock_input',
    );
    const caught = testModule(`(try (do (drop (call $call 'ask' 'a'))) (catch_all)) (i32.const 0)`);
    assert.equal(simulate({ plugin: caller, testModule: caught }).verdict, 'failed', 'also if the test catches it');
  });

  it('fails the call when it fails', () => {
    const failing = pluginModule(
      `(func (export "read") (param i64) (result i64) unreachable)
       (func (export "mix") (param i32 f32 f64) (result f64) (drop (memory.grow (i32.const 4096))) (local.get 2))`,
    );
    const errorOf = (name: string) =>
      run(`(drop (call $call '${name}' 'a')) (i32.const 0)`, { plugin: caller, mockHost: failing }).calls[0]?.error;
    assert.equal(errorOf('ask'), "the mock host's function read failed: unreachable");
    assert.match(errorOf('mixed') ?? '', /^the mock host's function mix failed: its memory grew beyond/);
  });
});

describe('a plugin', () => {
  it('that does not start fails the simulation', () => {
    const trapping = wat('(module (func $f unreachable) (start $f) (func (export "echo")))');
    const body = `(drop (call $call 'echo' 'a')) (i32.const 0)`;
    assert.equal(run(body, { plugin: trapping }).detail, 'The plugin does not start: unreachable');
    const table = wat('(module (import "env" "t" (table 1 funcref)) (func (export "echo")))');
    assert.match(run(body, { plugin: table }).detail ?? '', /does not start: The module imports the table env\.t/);
    assert.match(
      run(body, { plugin: new Uint8Array([0, 97, 115, 109]) }).detail ?? '',
      /^The plugin is not a valid module/,
    );
  });

  it('that reports its calls itself runs as it is', () => {
    const traced = wat(`(module
      (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
      (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
      (import "dylibso:observe/api" "metric" (func $metric (param i32 i64 i32)))
      (func (export "echo") (result i32) (call $enter (i32.const 0)) (call $metric (i32.const 0) (i64.const 0) (i32.const 0))
        (call $exit (i32.const 0)) (i32.const 0)))`);
    const report = run(`(drop (call $call 'echo' 'a')) (i32.const 0)`, { plugin: traced });
    assert.deepEqual([report.verdict, report.calls[0]?.functionCalls], ['passed', 1]);
  });

  it('that can not be instrumented runs without a count of its calls', () => {
    const grows = `(module (memory (export "memory") 1)
      (func (export "echo") (result i32) (i32.const 0))
      (func (export "grow") (result i32) (drop (memory.grow (i32.const 2000))) (i32.const 0)))`;
    const linking = [0, 9, 7, ...new TextEncoder().encode('linking'), 2]; // the section of an object file
    const relocatable = Uint8Array.from([...wat(grows), ...linking]);
    const report = run(`(drop (call $call 'echo' 'a')) (drop (call $call 'grow' 'a')) (i32.const 0)`, {
      plugin: relocatable,
    });
    assert.deepEqual(
      report.calls.map(({ functionCalls, error }) => [functionCalls, error]),
      [
        [null, null],
        [null, 'its memory grew beyond the limit of 67108864 bytes'],
      ],
    );
  });

  it('that executes too many instructions times out the simulation, at the same place each time', () => {
    const spinning = wat(`(module
      (func (export "work") (result i32) (local $n i32)
        (loop $again (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200))))
        (i32.const 0))
      (func (export "spin") (result i32) (loop $again (br $again)) (i32.const 0))
      (func (export "short") (result i32) (i32.const 0)))`);
    const limited = { plugin: spinning, maxInstructions: 100_000 };
    const body = `(drop (call $call 'short' (i64.const 0)))
      (try (do (drop (call $call 'spin' (i64.const 0)))) (catch_all)) (drop (call $call 'short' (i64.const 0))) (i32.const 0)`;
    const detail = 'The call of "spin" used up 100,000 instructions.';
    const { verdict, detail: found, calls } = run(body, limited);
    assert.deepEqual([verdict, found], ['timed_out', detail]);
    assert.deepEqual(
      calls.map(({ error }) => error),
      [null, detail],
    );
    const many = `(local $n i32) (loop $again (drop (call $call 'work' (i64.const 0)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100)))) (i32.const 0)`;
    assert.equal(run(many, { ...limited, maxInstructions: 60_000 }).verdict, 'passed', 'each call has its own limit');
    const fixtures = [{ export: 'spin', expect: { fails: true } }];
    assert.deepEqual(simulate({ ...limited, fixtures }).verdict, 'timed_out');
    const start = wat('(module (func (export "_initialize") (loop $again (br $again))) (func (export "short")))');
    const started = simulate({ ...limited, plugin: start, fixtures: [{ export: 'short', expect: {} }] });
    assert.equal(started.detail, 'The plugin, when it started, used up 100,000 instructions.');
    const starting = wat('(module (func $s (loop $l (br $l))) (start $s) (func (export "short")))');
    const fixture = { export: 'short', expect: {} };
    assert.equal(simulate({ ...limited, plugin: starting, fixtures: [fixture] }).verdict, 'timed_out');
    const test = simulate({
      testModule: wat('(module (func (export "test") (loop $again (br $again))))'),
      maxInstructions: 9,
    });
    assert.deepEqual([test.verdict, test.detail], ['timed_out', '"test" used up 9 instructions.']);
  });

  it('has the coverage of all its instances, if it is measured', () => {
    const sign = wat(`(module
      (global $n (mut i32) (i32.const 0))
      (func (export "once") (result i32)
        (if (global.get $n) (then (nop) (return (i32.const 0))))
        (global.set $n (i32.const 1)) (i32.const 0))
      (func (export "trap") (result i32) unreachable)
      (func (export "never") (result i32) (i32.const 0)))`);
    const coverage = (body: string, measuresCoverage = true) => run(body, { plugin: sign, measuresCoverage }).coverage;
    const once = `(drop (call $call 'once' (i64.const 0)))`;
    assert.equal(coverage(`${once} (i32.const 0)`, false), undefined);
    const first = coverage(`${once} (i32.const 0)`);
    assert.deepEqual(first?.functions, { total: 3, covered: 1 });
    assert.deepEqual(coverage(`${once} (call $reset) ${once} (i32.const 0)`), first);
    const both = coverage(`${once} ${once} (i32.const 0)`);
    assert.deepEqual(both?.functions, first?.functions);
    assert.equal(both?.blocks.covered, (first?.blocks.covered ?? 0) + 1);
    const trapped = coverage(`${once} (drop (call $call 'trap' (i64.const 0))) (i32.const 0)`);
    assert.deepEqual(trapped?.functions, { total: 3, covered: 2 });
  });

  it('is not called by a test module that makes no calls', () => {
    assert.deepEqual(run('(i32.const 0)', { plugin }).calls, []);
  });
});
