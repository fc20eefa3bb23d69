import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallableExport, ModuleFacts } from '../inspect/open-module.ts';
import { firstPlan, readPlan } from './plan.ts';

const facts = (exports: readonly CallableExport[], usesExtism = false): ModuleFacts => ({
  bytes: 8,
  isValid: true,
  proposals: [],
  functions: exports.length,
  importedFunctions: 0,
  memories: [],
  imports: [],
  moreImports: 0,
  usesWasi: false,
  usesExtism,
  missingFunctions: [],
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
  it('selects the export that a caller would use', () => {
    assert.equal(firstPlan(facts([entry('malloc'), entry('main'), entry('_start')])).exportName, '_start');
    assert.equal(firstPlan(facts([entry('_initialize'), entry('malloc'), entry('greet')])).exportName, 'greet');
    assert.equal(firstPlan(facts([entry('simd', ['v128']), entry('plain')])).exportName, 'plain');
    assert.equal(firstPlan(facts([entry('_only')])).exportName, '_only');
    assert.equal(firstPlan(facts([])).exportName, '');
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
      config: 'key=a=b\n',
      input: 'in',
      minDuration: '0.5',
    };
    const order = {
      ...rest,
      program: { kind: 'function', exportName: 'f', args: [7, null, -1n] },
      resultTypes: ['i32'],
      programArgs: ['a', 'b c'],
      environment: { A: '1' },
      input: 'in',
      pluginConfig: new Map([['key', 'a=b']]),
      missing: 'trap',
      minDurationMicroseconds: 0.5,
    };
    assert.deepEqual(readPlan(filled, facts([called]), rest), { order });
  });

  it('calls an export of a plugin with bytes, unless it takes arguments', () => {
    const kindOf = (exported: CallableExport, usesExtism: boolean) => {
      const read = readPlan(firstPlan(facts([exported])), facts([exported], usesExtism), rest);
      return 'order' in read ? read.order.program.kind : undefined;
    };
    assert.equal(kindOf(entry('greet'), true), 'plugin');
    assert.equal(kindOf(entry('greet', ['externref']), true), 'function');
    assert.equal(kindOf(entry('_start'), true), 'plugin');
    assert.equal(kindOf(entry('_start'), false), 'command');
  });

  it('reports what is wrong by field', () => {
    const faultsOf = (filled: typeof plan, exported: CallableExport | undefined): string[] => {
      const exports = exported === undefined ? [] : [exported];
      const named = { ...filled, exportName: exported?.name ?? '' };
      const result = readPlan(named, facts(exports), rest);
      return 'faults' in result ? [...result.faults.keys()] : [];
    };
    assert.deepEqual(faultsOf({ ...plan, minDuration: '-1' }, called), ['arg 0', 'arg 2', 'minDuration']);
    for (const minDuration of ['', 'x', 'NaN']) {
      assert.deepEqual(faultsOf({ ...plan, minDuration }, entry('g')), ['minDuration']);
    }
    assert.deepEqual(faultsOf(plan, undefined), ['export']);
    assert.deepEqual(faultsOf(plan, entry('g', ['v128'])), ['export']);
  });
});
