import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gcWat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';
import { createTrace } from './support/trace.ts';

const types = `(type $super (sub (func (result i32)))) (type $sub (sub $super (func (result i32))))`;

/** Functions of a subtype; the importer below declares them with the supertype. */
const exporter = await gcWat(`(module ${types}
  (func (export "inCode") (type $sub) (i32.const 7))
  (func (export "inTable") (type $sub) (i32.const 8))
  (func (export "called") (type $sub) (i32.const 9)))`);

const importer = await gcWat(`(module ${types} (type $final (func (result i32)))
  (import "a" "inCode" (func $inCode (type $super)))
  (import "a" "inTable" (func $inTable (type $super)))
  (import "a" "called" (func $called (type $super)))
  (import "host" "plain" (func $plain (type $final)))
  (table $t 2 funcref) (elem (table $t) (i32.const 0) func $inTable $plain)
  (elem declare func $inCode)
  (global $g (export "g") (mut (ref $super)) (ref.func $inTable))
  (func (export "indirect") (result i32) (call_indirect $t (type $sub) (i32.const 0)))
  (func (export "cast") (result i32) (call_ref $sub (ref.cast (ref $sub) (ref.func $inCode))))
  (func (export "fromGlobal") (result i32) (call_ref $sub (ref.cast (ref $sub) (global.get $g))))
  (func (export "test") (result i32) (ref.test (ref $sub) (ref.func $inCode)))
  (func (export "branch") (result i32)
    (drop (block $yes (result (ref $sub))
      (drop (br_on_cast $yes (ref $super) (ref $sub) (ref.func $inCode)))
      (return (i32.const -1))))
    (i32.const 1))
  (func (export "direct") (result i32) (call $called))
  (func (export "indirectOfFinal") (result i32) (call_indirect $t (type $final) (i32.const 1))))`);

type Calls = Record<string, () => number>;

function instantiate(bytes: Uint8Array, more: WebAssembly.Imports = {}): Calls {
  const a = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(exporter))).exports;
  const imports = { a: a as WebAssembly.ModuleImports, host: { plain: () => 10 }, ...more };
  return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), imports).exports as unknown as Calls;
}

/** What a call ends with: its result, or the engine's words for why it trapped. */
function outcome(calls: Calls, name: string): unknown {
  try {
    return calls[name]?.();
  } catch (error) {
    return (error as Error).message;
  }
}

describe('instrument() on imports that are declared with a supertype', () => {
  it('leaves references to them what they are: calls, casts, tests and branches end as before', () => {
    const trace = createTrace();
    const before = instantiate(importer);
    const after = instantiate(instrument(importer).bytes, trace.imports);
    for (const name of ['indirect', 'cast', 'fromGlobal', 'test', 'branch', 'direct', 'indirectOfFinal']) {
      assert.equal(outcome(after, name), outcome(before, name), name);
    }
    assert.deepEqual([before.cast?.(), before.fromGlobal?.(), before.test?.(), before.branch?.()], [7, 8, 1, 1]);
  });

  it('still traces direct calls of them, and references to imports of a final type', () => {
    const trace = createTrace();
    const { direct, indirectOfFinal, cast } = instantiate(instrument(importer).bytes, trace.imports);
    direct?.();
    assert.equal(trace.events.splice(0).length, 4, 'two functions are entered and left');
    indirectOfFinal?.();
    assert.equal(trace.events.splice(0).length, 4);
    cast?.();
    assert.equal(trace.events.splice(0).length, 2, 'the import itself is not seen');
  });

  it('says which of them are not traced when they are called by reference', () => {
    const { notes } = instrument(importer).report;
    const names = notes.flatMap((note) => (note.code === 'reference_not_traced' ? [note.name] : []));
    assert.deepEqual(names.sort(), ['a.inCode', 'a.inTable']);
    assert.deepEqual(instrument(importer, { banned: ['a.inCode', 'a.inTable'] }).report.notes, []);
  });
});
