import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';
import { nameAt, shownNameAt } from '../src/pages/trace/inspect/function-table.ts';
import { openModule } from '../src/pages/trace/inspect/open-module.ts';

const asItIs = (name: string): string => name;
const open = (bytes: Uint8Array, demangle = asItIs) => openModule(Uint8Array.from(bytes), demangle);

describe('openModule()', () => {
  const module = wat(`(module
    (import "env" "log" (func $log (param i32)))
    (import "env" "memory" (memory 2 5 shared))
    (import "__proto__" "f" (func))
    (func $_Z1fi (export "f") (param i64 f32) (result i32) (i32.extend8_s (i32.const 1)))
    (func (export "g") (call $log (i32.const 1)))
    (global (export "version") i32 (i32.const 1)))`);

  it('tells what a module asks for, offers and uses', () => {
    const { facts, table } = open(module, (name) => (name === '_Z1fi' ? 'f(int)' : name));
    assert.equal(facts.bytes, module.length);
    assert.equal(facts.isValid, true);
    assert.deepEqual(facts.proposals, ['sign-extension', 'threads']);
    assert.deepEqual([facts.functions, facts.importedFunctions], [4, 2]);
    assert.deepEqual(facts.imports, [
      { module: 'env', count: 2, names: ['log', 'memory'] },
      { module: '__proto__', count: 1, names: ['f'] },
    ]);
    assert.deepEqual(
      [facts.usesWasi, facts.usesExtism, facts.missingFunctions],
      [false, false, ['env.log', '__proto__.f']],
    );
    assert.deepEqual(facts.exports, [
      { name: 'f', params: ['i64', 'f32'], results: ['i32'] },
      { name: 'g', params: [], results: [] },
    ]);
    assert.equal(facts.memories[0]?.isShared, true);
    assert.deepEqual([facts.isInstrumented, facts.fault], [false, undefined]);
    assert.deepEqual([nameAt(table, 2), shownNameAt(table, 2)], ['_Z1fi', 'f(int)']);
    assert.equal(nameAt(table, 3), 'g');
  });

  it('lets a module that is instrumented be run, and not chosen from', () => {
    const { facts, table } = open(instrument(wat('(module (func (export "f")))')).bytes);
    assert.equal(facts.isInstrumented, true);
    assert.equal(facts.exports.length, 1);
    assert.equal(table.count, 0);
  });

  it('says why a module can be looked at and not instrumented', () => {
    const { facts } = open(wat('(module (func (export "f")))', { relocatable: true }));
    assert.equal(facts.isInstrumented, false);
    assert.match(facts.fault ?? '', /relocatable|linking/);
  });

  it('refuses what is no module, and one whose structure is broken', () => {
    assert.throws(() => open(Buffer.from('<!doctype html>')), { code: 'not_wasm' });
    assert.throws(() => open(module.subarray(0, 60)), { code: 'invalid_module' });
  });

  it('hands on a part of what there may be a million of', () => {
    const imports = Array.from({ length: 90 }, (_, at) => `(import "m${at % 60}" "f${at}" (func))`);
    const exports = Array.from({ length: 2_100 }, (_, at) => `(export "e${at}" (func 0))`);
    const { facts } = open(wat(`(module ${imports.join('')} ${exports.join('')})`));
    assert.deepEqual([facts.imports.length, facts.moreImports], [50, 10]);
    assert.deepEqual([facts.exports.length, facts.moreExports], [2_000, 100]);
  });
});
