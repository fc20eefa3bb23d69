import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import type { Fixture, SimulationReport } from '@tenon/protocol';
import type { SimulationInputs, SimulationTask } from '@tenon/run-kit/simulation';
import { until } from '../../../test/helpers/until.ts';
import { loadConfig } from '../src/config/config.ts';
import { createSimulator, type Simulator } from '../src/simulations/simulator.ts';
import { wat } from './helpers/wat.ts';

const greet = readFileSync(new URL('../sample/greet.wasm', import.meta.url));
const MiB = 2 ** 20;

function open(changes: Partial<Parameters<typeof createSimulator>[0]> = {}): Simulator {
  const settings = { ...loadConfig({}, {}), simulationsAtOnce: 2, simulationMemoryBytes: 64 * MiB };
  return createSimulator({ ...settings, simulationTimeoutMs: 3_000, ...changes }, undefined);
}

function task(plugin: Uint8Array, inputs: Partial<SimulationInputs> = {}): Omit<SimulationTask, 'limits'> {
  const fixtures: Fixture[] = [{ export: 'run', expect: { equals: '' } }];
  return { plugin, schemaJson: null, simulation: { name: 'hostile', revision: 7, fixtures, ...inputs } };
}

const greeting = (input = 'Ada') =>
  task(greet, { name: 'greets', fixtures: [{ export: 'greet', input, expect: { equals: `Hello, ${input}!` } }] });

/** A plugin whose function `run` has this body. */
const plugin = (body: string, declarations = '') =>
  wat(`(module
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (import "extism:host/env" "log_info" (func $log_info (param i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    ${declarations}
    (func $run (export "run") (result i32) (local $a i64) ${body}))`);

describe('a simulation of a hostile plugin', () => {
  let simulator: Simulator;
  before(() => {
    simulator = open();
  });
  // For what fails by itself, which takes seconds on a busy machine.
  let patient: Simulator;
  before(() => {
    patient = open({ simulationTimeoutMs: 60_000 });
  });
  after(async () => {
    await simulator.close();
    await patient.close();
  });

  const run = (module: Uint8Array, by = simulator): Promise<SimulationReport> =>
    by.run(task(module), { fairnessKey: 'a' });
  const memory = '(memory (export "memory") 1)';

  it('passes or fails as a plugin that does its work', async () => {
    const passed = await simulator.run(greeting(), { fairnessKey: 'a' });
    assert.deepEqual([passed.verdict, passed.detail, passed.name, passed.revision], ['passed', null, 'greets', 7]);
    assert.equal(passed.calls[0]?.output?.text, 'Hello, Ada!');
    const { functions, blocks } = passed.coverage ?? assert.fail('no coverage');
    assert.ok(functions.covered > 0 && functions.covered < functions.total, JSON.stringify(functions));
    assert.ok(blocks.covered > functions.covered && blocks.covered < blocks.total, JSON.stringify(blocks));
    const failed = await run(greet);
    assert.deepEqual([failed.verdict, failed.revision], ['failed', 7]);
  });

  for (const [what, module] of Object.entries({
    'a function that loops': () => plugin('(loop $l (br $l)) (i32.const 0)'),
    'a start function that loops': () => plugin('(i32.const 0)', '(func $loop (loop $l (br $l))) (start $loop)'),
    'a loop of calls to the host': () => plugin('(loop $l (drop (call $length (i64.const 0))) (br $l)) (i32.const 0)'),
    'an endless log': () =>
      plugin(
        '(local.set $a (call $alloc (i64.const 100000))) (loop $l (call $log_info (local.get $a)) (br $l)) (i32.const 0)',
      ),
  })) {
    it(`times out with ${what}`, async () => {
      const { verdict, detail } = await run(module());
      assert.equal(verdict, 'timed_out', detail ?? '');
      // A fast machine reaches the limit of instructions first.
      assert.match(detail ?? '', /took longer than 3000 ms\.$|used up 20,000,000,000 instructions\.$/);
    });
  }

  for (const [what, module] of Object.entries({
    'memory that grows': () =>
      plugin('(loop $l (br_if $l (i32.ge_s (memory.grow (i32.const 16)) (i32.const 0)))) unreachable', memory),
    'a large memory': () => plugin('(i32.const 0)', '(memory (export "memory") 60000)'),
    'blocks of memory without an end': () =>
      plugin('(loop $l (drop (call $alloc (i64.const 1000000))) (br $l)) (i32.const 0)'),
    'a block of 2⁶³ bytes': () => plugin('(drop (call $alloc (i64.const 0x7fffffffffffffff))) (i32.const 0)'),
    'a table that grows': () =>
      plugin(
        '(loop $l (br_if $l (i32.ge_s (table.grow $t (ref.null func) (i32.const 100000)) (i32.const 0)))) unreachable',
        '(table $t 1 funcref)',
      ),
    'more output than a call may have': () =>
      plugin(
        '(local.set $a (call $alloc (i64.const 30000000))) (call $output_set (local.get $a) (i64.const 30000000)) (i32.const 0)',
      ),
    'recursion without an end': () => plugin('(drop (call $run)) (i32.const 0)'),
  })) {
    it(`fails with ${what}`, async () => {
      const report = await run(module(), patient);
      assert.equal(report.verdict, 'failed', report.detail ?? '');
      assert.ok((report.detail ?? '') !== '');
      assert.ok(JSON.stringify(report).length < MiB);
    });
  }

  it('imports everything that there is, and gets nothing of the machine', async () => {
    const wasi = (name: string, params: string) =>
      `(import "wasi_snapshot_preview1" "${name}" (func $${name} (param ${params}) (result i32)))`;
    const module = wat(`(module
      (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
      (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
      (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
      ${wasi('path_open', 'i32 i32 i32 i32 i32 i64 i64 i32 i32')}
      ${wasi('fd_prestat_get', 'i32 i32')}
      ${wasi('environ_sizes_get', 'i32 i32')}
      ${wasi('sock_accept', 'i32 i32 i32')}
      ${wasi('fd_read', 'i32 i32 i32 i32')}
      (memory (export "memory") 1)
      (data (i32.const 100) "etc/passwd")
      (func (export "run") (result i32) (local $out i64)
        (local.set $out (call $alloc (i64.const 5)))
        (call $store (local.get $out) (i32.add (i32.const 48) (i32.eqz
          (call $path_open (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 10) (i32.const 0)
            (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 200)))))
        (call $store (i64.add (local.get $out) (i64.const 1)) (i32.add (i32.const 48) (i32.eqz
          (call $fd_prestat_get (i32.const 3) (i32.const 200)))))
        (drop (call $environ_sizes_get (i32.const 300) (i32.const 304)))
        (call $store (i64.add (local.get $out) (i64.const 2)) (i32.add (i32.const 48) (i32.load (i32.const 300))))
        (call $store (i64.add (local.get $out) (i64.const 3)) (i32.add (i32.const 48) (i32.eqz
          (call $sock_accept (i32.const 3) (i32.const 0) (i32.const 200)))))
        (i32.store (i32.const 400) (i32.const 500)) (i32.store (i32.const 404) (i32.const 10))
        (drop (call $fd_read (i32.const 0) (i32.const 400) (i32.const 1) (i32.const 408)))
        (call $store (i64.add (local.get $out) (i64.const 4)) (i32.add (i32.const 48) (i32.load (i32.const 408))))
        (call $output_set (local.get $out) (i64.const 5))
        (i32.const 0)))`);
    const fixtures: Fixture[] = [{ export: 'run', expect: { equals: '00000' } }];
    const report = await simulator.run(task(module, { fixtures }), { fairnessKey: 'a' });
    assert.deepEqual([report.verdict, report.calls[0]?.output?.text], ['passed', '00000'], report.detail ?? '');
    const unknown = wat('(module (import "node:fs" "readFileSync" (func $f)) (func (export "run") (call $f)))');
    assert.equal((await run(unknown)).verdict, 'failed');
  });

  it('reads no clock of the machine', async () => {
    const module = wat(`(module
      (import "wasi_snapshot_preview1" "clock_time_get" (func $now (param i32 i64 i32) (result i32)))
      (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
      (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
      (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
      (memory (export "memory") 1)
      (func (export "run") (result i32) (local $out i64) (local $n i32)
        (local.set $n (i32.const 10000000))
        (loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
        (drop (call $now (i32.const 1) (i64.const 0) (i32.const 8)))
        (local.set $out (call $alloc (i64.const 8)))
        (call $store (local.get $out) (i64.load (i32.const 8)))
        (call $output_set (local.get $out) (i64.const 8))
        (i32.const 0)))`);
    const [first, second] = [await run(module), await run(module)];
    assert.ok(first.calls[0]?.output?.sha256 !== undefined, first.calls[0]?.error ?? '');
    assert.equal(first.calls[0].output.sha256, second.calls[0]?.output?.sha256);
  });
});

describe('the simulator', () => {
  const childrenOf = () =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

  it('runs 100 at once, each in its own process, and one account does not delay another', async () => {
    const simulator = open({ simulationTimeoutMs: 30_000 });
    const ended: string[] = [];
    const runs = Array.from({ length: 100 }, async (_, at) => {
      const report = await simulator.run(greeting(`guest ${at}`), { fairnessKey: 'busy' });
      ended.push('busy');
      return report;
    });
    const other = simulator.run(greeting(), { fairnessKey: 'other' }).then((report) => {
      ended.push('other');
      return report;
    });
    const reports = await Promise.all([...runs, other]);
    assert.deepEqual(new Set(reports.map(({ verdict }) => verdict)), new Set(['passed']));
    assert.ok(ended.indexOf('other') < 20, `after ${ended.indexOf('other')} others`);
    await simulator.close();
  });

  it('rejects what does not fit its queue', async () => {
    const simulator = open({ simulationQueue: 2 });
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, () => simulator.run(greeting(), { fairnessKey: 'a' })),
    );
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : result.value.verdict));
    assert.deepEqual([...new Set(codes)].sort(), ['passed', 'queue_full']);
    await simulator.close();
  });

  it('reports `errored` when its process is killed, and continues', async () => {
    const simulator = open({ simulationTimeoutMs: 60_000, simulationSpares: 0 });
    const running = simulator.run(task(plugin('(loop $l (br $l)) (i32.const 0)')), { fairnessKey: 'a' });
    await until(() => childrenOf().length > 0, { message: 'no process' });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    for (const pid of childrenOf()) process.kill(pid, 'SIGKILL');
    const { verdict, detail } = await running;
    assert.deepEqual([verdict, detail], ['errored', 'The worker process exited with SIGKILL.']);
    assert.equal((await simulator.run(greeting(), { fairnessKey: 'a' })).verdict, 'passed');
    await simulator.close();
  });

  it('ends all processes when it closes', async () => {
    const simulator = open({ simulationTimeoutMs: 60_000 });
    const running = Array.from({ length: 4 }, () =>
      simulator.run(task(plugin('(loop $l (br $l)) (i32.const 0)')), { fairnessKey: 'a' }),
    );
    const settled = Promise.allSettled(running);
    await until(() => childrenOf().length === 3, { message: 'two run, one is spare' });
    await simulator.close();
    assert.deepEqual(childrenOf(), []);
    const results = await settled;
    assert.ok(results.every((result) => result.status === 'rejected' && result.reason.code === 'closed'));
    await assert.rejects(simulator.run(greeting(), { fairnessKey: 'a' }), { code: 'closed' });
  });

  it('starts no process until it is needed, and none where simulations are off', async () => {
    const [on, off] = [open(), open({ simulations: 'off' })];
    const report = await off.run(greeting(), { fairnessKey: 'a' });
    assert.deepEqual([report.verdict, off.protections], ['errored', []]);
    off.warm();
    assert.deepEqual(childrenOf(), []);
    on.warm();
    await until(() => childrenOf().length === 1, { message: 'no spare' });
    await Promise.all([on.close(), off.close()]);
  });
});
