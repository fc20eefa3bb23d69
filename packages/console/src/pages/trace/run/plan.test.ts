import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallableExport, ModuleFacts } from '../look/open-module.ts';
import { firstPlan, readPlan, surroundingsOf } from './plan.ts';

const facts = (exports: readonly CallableExport[], imports: readonly string[] = []): ModuleFacts => ({
  bytes: 8,
  isValid: true,
  proposals: [],
  functions: exports.length,
  importedFunctions: 0,
  memories: [],
  imports: imports.map((module) => ({ module, count: 1, names: ['f'] })),
  moreImports: 0,
  exports,
  moreExports: 0,
  isInstrumented: false,
  fault: undefined,
});
const entry = (name: string, params: readonly string[] = [], results: readonly string[] = []) => ({
  name,
  params,
  results,
});
const rest = {
  bytes: new ArrayBuffer(8),
  isInstrumented: false,
  options: {},
  fileName: 'a.wasm',
  demangler: undefined,
};

describe('firstPlan()', () => {
  it('begins with what somebody would call', () => {
    assert.equal(firstPlan(facts([entry('malloc'), entry('main'), entry('_start')])).exportName, '_start');
    assert.equal(firstPlan(facts([entry('_initialize'), entry('malloc'), entry('greet')])).exportName, 'greet');
    assert.equal(firstPlan(facts([entry('simd', ['v128']), entry('plain')])).exportName, 'plain');
    assert.equal(firstPlan(facts([entry('_only')])).exportName, '_only');
    assert.equal(firstPlan(facts([])).exportName, '');
  });
});

describe('surroundingsOf()', () => {
  it('tells what a module is made for', () => {
    const names = ['wasi_snapshot_preview1', 'extism:host/env', 'dylibso:observe/api', 'env', '__proto__'];
    assert.deepEqual(surroundingsOf(facts([], names)), {
      isWasi: true,
      isExtism: true,
      unknown: ['env', '__proto__'],
    });
  });
});

describe('readPlan()', () => {
  const called = entry('f', ['i32', 'externref', 'i64'], ['i32']);
  const plan = firstPlan(facts([called]));

  it('reads everything that a run needs', () => {
    const filled = {
      ...plan,
      args: new Map([
        [0, '7'],
        [2, '-1'],
      ]),
      programArgs: 'a "b c"',
      env: 'A=1',
      input: 'in',
      minDuration: '0.5',
    };
    const order = {
      ...rest,
      exportName: 'f',
      args: [7, null, -1n],
      programArgs: ['a', 'b c'],
      env: [['A', '1']],
      input: 'in',
      missing: 'fail',
      minDurationMicroseconds: 0.5,
    };
    assert.deepEqual(readPlan(filled, called, rest), { order });
  });

  it('says of each field what is wrong with it', () => {
    const faultsOf = (...read: Parameters<typeof readPlan>): string[] => {
      const result = readPlan(...read);
      return 'faults' in result ? [...result.faults.keys()] : [];
    };
    assert.deepEqual(faultsOf({ ...plan, minDuration: '-1' }, called, rest), ['arg 0', 'arg 2', 'minDuration']);
    for (const minDuration of ['', 'x', 'NaN']) {
      assert.deepEqual(faultsOf({ ...plan, minDuration }, entry('g'), rest), ['minDuration']);
    }
    assert.deepEqual(faultsOf(plan, undefined, rest), ['export']);
    assert.deepEqual(faultsOf(plan, entry('g', ['v128']), rest), ['export']);
  });
});
