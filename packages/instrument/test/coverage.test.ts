import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { body, emptyType, leb, moduleOf, repeated, section, text, vector } from '../../../test/helpers/module-bytes.ts';
import { wat } from '../../../test/helpers/wat.ts';
import { type InstrumentOptions, instrument, readCounters, readCoverageMap } from '../src/index.ts';
import { createTrace } from './support/trace.ts';

const counting: InstrumentOptions = { trace: false, coverage: true };

/** Runs `run(argument)` for each argument, and returns the counts of the blocks by function. */
function countBlocks(text: string, args: readonly number[], options = counting): number[][] {
  const { bytes } = instrument(wat(text), options);
  const map = readCoverageMap(bytes);
  assert.ok(map !== undefined);
  const imports = { ...createTrace().imports, env: { host() {} } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
  for (const argument of args) {
    try {
      (exports.run as (argument: number) => void)(argument);
    } catch (error) {
      assert.ok(error instanceof WebAssembly.RuntimeError || error instanceof WebAssembly.Exception);
    }
  }
  const counts = readCounters(map, exports);
  return map.functions.map(({ blocks }) => blocks.map(({ counter }) => counts[counter] as number));
}

const run = (body: string) => `(module (tag $e) (func $run (export "run") (param i32) ${body}))`;

describe('instrument() with coverage', () => {
  const cases: readonly (readonly [string, string, readonly number[], readonly number[][]])[] = [
    ['straight code once', '(nop) (block (nop)) (nop)', [1, 1], [[2]]],
    ['an empty body', '', [1, 1, 1], [[3]]],
    [
      'both arms of an if, and the code after it',
      '(if (local.get 0) (then (nop)) (else (nop) (nop))) (nop)',
      [0, 1, 1],
      [[3, 2, 1, 3]],
    ],
    ['the only arm of an if', '(if (local.get 0) (then (nop))) (nop)', [0, 1, 1], [[3, 2, 3]]],
    ['no code after an arm that does not end', '(if (local.get 0) (then (return))) (nop)', [0, 1, 1], [[3, 2, 1]]],
    [
      'a loop apart from the code before it',
      '(loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))',
      [3, 2],
      [[2, 5]],
    ],
    ['the code after a branch', '(block (br_if 0 (local.get 0)) (nop)) (nop)', [0, 1, 1], [[3, 1, 3]]],
    ['no code after a block that nothing leaves', '(block (block (nop)) (nop)) (nop)', [1], [[1]]],
    ['no unreachable code', '(block (br 0) (loop (br 0)) (nop)) (nop) (unreachable) (nop)', [1, 1], [[2, 2]]],
    [
      'each case of a branch table',
      '(block (block (br_table 0 1 (local.get 0))) (return)) (nop)',
      [0, 1, 2],
      [[3, 1, 2]],
    ],
    [
      'a handler',
      '(block (try_table (catch_all 0) (if (local.get 0) (then (throw $e)))) (return)) (nop)',
      [0, 1, 1],
      [[3, 2, 1, 2]],
    ],
    [
      'a legacy handler',
      '(try (do (if (local.get 0) (then (throw $e)))) (catch $e (nop))) (nop)',
      [0, 1, 1],
      [[3, 2, 2, 3]],
    ],
    ['a block that a trap ends', '(nop) (unreachable) (nop)', [1, 1], [[2]]],
  ];
  for (const [what, body, args, expected] of cases) {
    it(`counts ${what}`, () => {
      assert.deepEqual(countBlocks(run(body), args), expected);
    });
  }

  it('counts the same with tracing and with fuel', () => {
    const text = `(module (import "env" "host" (func $host)) (memory (export "m") 1 9)
      (func $f (param i32) (result i32) (drop (memory.grow (i32.const 1))) (call $host)
        (if (i32.eqz (local.get 0)) (then (return (i32.const 1))))
        (return_call $f (i32.sub (local.get 0) (i32.const 1))))
      (func (export "run") (param i32) (drop (call $f (local.get 0)))))`;
    const expected = [[5, 2, 3], [2]];
    for (const options of [{}, { trace: false }, { fuel: 1_000 }, { banned: ['f'] }, { trace: false, fuel: 1_000 }]) {
      assert.deepEqual(countBlocks(text, [1, 2], { ...options, coverage: true }), expected);
    }
  });

  it('adds no import, one export, and no proposal', () => {
    const input = wat(run('(nop)'));
    const module = new WebAssembly.Module(instrument(input, counting).bytes);
    assert.deepEqual(WebAssembly.Module.imports(module), []);
    assert.deepEqual(
      WebAssembly.Module.exports(module).map(({ name, kind }) => `${kind} ${name}`),
      ['function run', 'function tenon:count'],
    );
  });

  it('describes blocks by their offsets in the input and the output', () => {
    const input = wat('(module (func (nop)) (func (param i32) (if (local.get 0) (then (nop)))))');
    const { bytes } = instrument(input, counting);
    assert.deepEqual(readCoverageMap(bytes), {
      blockCount: 3,
      functions: [
        { functionIndex: 0, blocks: [{ counter: 0, start: 3, end: 5, outputStart: 3, outputEnd: 12 }] },
        {
          functionIndex: 1,
          blocks: [
            { counter: 1, start: 7, end: 11, outputStart: 14, outputEnd: 25 },
            { counter: 2, start: 11, end: 13, outputStart: 25, outputEnd: 34 },
          ],
        },
      ],
    });
  });

  it('reads any of many counters', () => {
    const exported = Array.from({ length: 20_000 }, (_, index) => [...text(String(index)), 0, ...leb(index)]);
    const input = moduleOf(
      [section.type, emptyType],
      [section.function, repeated(20_000, [0])],
      [section.export, vector(exported)],
      [section.code, repeated(20_000, [...body()])],
    );
    const { bytes } = instrument(input, counting);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
    const called = [0, 1, 127, 128, 16_383, 16_384, 19_999];
    for (const index of called) (exports[index] as () => void)();
    const map = readCoverageMap(bytes);
    assert.ok(map !== undefined);
    const counts = readCounters(map, exports);
    assert.deepEqual(
      called.map((index) => counts[index]),
      called.map(() => 1),
    );
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      called.length,
    );
    const count = exports['tenon:count'] as (index: number) => bigint;
    for (const index of [20_000, 2_097_152, -1]) assert.throws(() => count(index), WebAssembly.RuntimeError);
  });

  it('refuses to count twice', () => {
    const { bytes } = instrument(wat(run('')), counting);
    assert.throws(() => instrument(bytes, counting), { code: 'already_instrumented' });
    const named = wat('(module (func (export "tenon:count")))');
    assert.throws(() => instrument(named, counting), { code: 'already_instrumented', message: /tenon:count/ });
  });
});
