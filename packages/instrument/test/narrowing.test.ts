import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { InstrumentError, type InstrumentOptions, instrument, listFunctions } from '../src/index.ts';

const input = wat(`(module
  (type $unary (func (param i32) (result i32)))
  (import "env" "log" (func $log (param i32)))
  (import "env" "invoke_ii" (func $invoke (param i32 i32) (result i32)))
  (table 4 funcref)
  (elem (i32.const 0) $app::twice $lib::thrice)
  (elem declare func $lib::held)
  (func $app::main (export "main") (result i32) (call $app::helper) (call_indirect (type $unary) (i32.const 3) (i32.const 0)))
  (func $app::helper (call $log (i32.const 1)))
  (func $app::twice (type $unary) (i32.mul (i32.const 2) (local.get 0)))
  (func $lib::thrice (type $unary) (i32.mul (i32.const 3) (local.get 0)))
  (func $lib::held (export "held"))
  (func $lib::holds (export "holds") (drop (ref.func $lib::held)))
  (func $lib::tail (export "tail") (return_call $lib::held))
  (func $lib::invokes (export "invokes") (result i32) (call $invoke (i32.const 0) (i32.const 1)))
  (func $lib::unused))`);

function traced(options: InstrumentOptions): string[] {
  const { functions } = listFunctions(input, options);
  const names = functions.filter(({ isTraced }) => isTraced).map(({ name }) => name);
  assert.equal(instrument(input, options).report.tracedFunctions, names.length);
  return names;
}

function noteOf(options: InstrumentOptions): string | undefined {
  return instrument(input, options).report.notes[0]?.message;
}

describe('instrument() with options that narrow the selection', () => {
  it('follows direct and indirect calls from exports', () => {
    const main = ['log', 'app::main', 'app::helper', 'app::twice', 'lib::thrice'];
    assert.deepEqual(traced({ reachableFrom: ['main'] }), main);
    assert.deepEqual(traced({ reachableFrom: ['held'] }), ['lib::held']);
    assert.deepEqual(traced({ reachableFrom: ['holds'] }), ['lib::held', 'lib::holds']);
    assert.deepEqual(traced({ reachableFrom: ['tail'] }), ['lib::held', 'lib::tail']);
    assert.deepEqual(traced({ reachableFrom: ['invokes'] }), ['invoke', 'app::twice', 'lib::thrice', 'lib::invokes']);
    assert.deepEqual(traced({ reachableFrom: ['h*'], patterns: true }), ['lib::held', 'lib::holds']);
    assert.deepEqual(traced({ reachableFrom: [] }), []);
  });

  it('leaves small functions out, and no imports', () => {
    assert.deepEqual(traced({ minBytes: 8 }), ['log', 'invoke', 'app::main', 'lib::invokes']);
  });

  it('selects namespaces', () => {
    assert.deepEqual(traced({ namespaces: ['app'] }), ['app::main', 'app::helper', 'app::twice']);
    assert.deepEqual(traced({ namespaces: ['l?b', 'other'], minBytes: 8 }), ['lib::invokes']);
  });

  it('narrows what the lists select', () => {
    assert.deepEqual(traced({ allowed: ['app::main', 'lib::held'], namespaces: ['app'] }), ['app::main']);
    assert.deepEqual(traced({ banned: ['lib::thrice', 'log'], reachableFrom: ['main'], namespaces: ['lib', 'app'] }), [
      'app::main',
      'app::helper',
      'app::twice',
    ]);
  });

  it('selects source files by a source map', () => {
    // Every byte up to the first call of $invoke has the first file as its source; the others have the second.
    const call = input.findIndex((byte, at) => byte === 0x10 && input[at + 1] === 1);
    const mappings = Array.from(input, (_, at) => (at === call ? 'CCAA' : 'CAAA')).join();
    const sourceMap = JSON.stringify({ version: 3, sources: ['/home/me/src/a.ts', 'b.ts'], names: [], mappings });
    const own = traced({}).slice(2);
    assert.deepEqual(traced({ sourceFiles: ['src/*.ts', 'b.ts'], sourceMap }), own);
    assert.deepEqual(traced({ sourceFiles: ['b.ts'], sourceMap }), ['lib::unused']);
    assert.deepEqual(traced({ sourceFiles: ['/home/*'], sourceMap }), own.slice(0, -1));
    assert.match(noteOf({ sourceFiles: ['rc/*'], sourceMap }) ?? '', /^No function has a source file that matches "rc/);
    assert.match(noteOf({ sourceFiles: ['a.ts'] }) ?? '', /"a\.ts": the module has no debug information$/);
  });

  it('notes what matches nothing', () => {
    assert.match(noteOf({ reachableFrom: ['min'] }) ?? '', /^No exported function is called "min".*is "main" meant/);
    assert.match(noteOf({ reachableFrom: ['app::main'] }) ?? '', /^No exported function is called/);
    assert.match(noteOf({ namespaces: ['nope'] }) ?? '', /^No function is in a namespace that matches "nope"/);
  });

  it('refuses wrong values', () => {
    const wrong: object[] = [
      { minBytes: -1 },
      { minBytes: 1.5 },
      { minBytes: '1' },
      { namespaces: 'app' },
      { reachableFrom: [1] },
      { sourceFiles: {} },
      { sourceMap: 1 },
      { debugFile: [0] },
    ];
    for (const options of wrong)
      assert.throws(() => instrument(input, options), isInvalidConfig, JSON.stringify(options));
    assert.throws(
      () => instrument(input, { namespaces: Array.from({ length: 1_001 }, (_, at) => `n${at}`) }),
      isInvalidConfig,
    );
  });
});

function isInvalidConfig(error: unknown): boolean {
  return error instanceof InstrumentError && error.code === 'invalid_config';
}
