import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gcWat, wat } from '../../../test/helpers/wat.ts';
import { instrument } from '../src/index.ts';
import { runTraced } from './support/run.ts';

/** Ten functions behind two imports, each returning its own number, so that a wrong index shows. */
const numbered = Array.from({ length: 10 }, (_, n) => `(func $f${n} (result i32) (i32.const ${n}))`).join('\n');
const imports = `(import "env" "a" (func $a (result i32))) (import "env" "b" (func $b (result i32)))`;
const env = { env: { a: () => 100, b: () => 101 } };

function tableEntries(table: WebAssembly.Table): unknown[] {
  return Array.from({ length: table.length }, (_, index) => (table.get(index) as (() => number) | null)?.());
}

describe('instrument() on function indices', () => {
  it('shifts calls of any length of LEB128', () => {
    const many = Array.from({ length: 300 }, (_, n) => `(func $f${n} (result i32) (i32.const ${n}))`).join('');
    const calls = [0, 120, 121, 122, 123, 124, 125, 126, 127, 128, 299];
    const callers = calls.map((n) => `(func (export "c${n}") (result i32) (call $f${n}))`).join('');
    const { exports } = runTraced(wat(`(module ${imports} ${many} ${callers})`), env);
    for (const n of calls) assert.equal(exports[`c${n}`]?.(), n);
  });

  it('shifts every form of element segment', () => {
    const input = wat(`(module ${imports} ${numbered}
      (table $t (export "t") 20 funcref) (table $filler 1 funcref) (table $u (export "u") 4 funcref)
      (elem (i32.const 0) func $f0 $a)
      (elem (table $u) (i32.const 0) func $f1 $b)
      (elem (i32.const 2) funcref (ref.func $f2) (ref.null func) (ref.func $a))
      (elem (table $u) (i32.const 2) funcref (ref.func $f3))
      (elem $passive func $f4 $b)
      (elem $expressions funcref (ref.func $f5) (ref.func $a))
      (elem declare func $f6)
      (elem declare funcref (ref.func $f7))
      (func (export "init")
        (table.init $t $passive (i32.const 6) (i32.const 0) (i32.const 2))
        (table.init $t $expressions (i32.const 8) (i32.const 0) (i32.const 2))
        (table.set $t (i32.const 10) (ref.func $f6))
        (table.set $t (i32.const 11) (ref.func $f7))))`);
    const { exports, all } = runTraced(input, env);
    exports.init?.();
    const t = tableEntries(all.t as WebAssembly.Table);
    assert.deepEqual(t.slice(0, 12), [0, 100, 2, undefined, 100, undefined, 4, 101, 5, 100, 6, 7]);
    assert.deepEqual(tableEntries(all.u as WebAssembly.Table), [1, 101, 3, undefined]);
  });

  it('shifts ref.func in globals and in the initializer of a table', async () => {
    const input = await gcWat(`(module ${imports} ${numbered}
      (type $r (func (result i32)))
      (global $g (mut funcref) (ref.func $f3))
      (global (export "h") funcref (ref.func $b))
      (table $t (export "t") 3 3 (ref $r) (ref.func $f4))
      (func (export "g") (result i32) (call_ref $r (ref.cast (ref $r) (global.get $g)))))`);
    const { exports, all } = runTraced(input, env);
    assert.equal(exports.g?.(), 3);
    assert.equal(((all.h as WebAssembly.Global).value as () => number)(), 101);
    assert.deepEqual(tableEntries(all.t as WebAssembly.Table), [4, 4, 4]);
  });

  it('declares the wrapper of an import that only its export declared', () => {
    const input = wat(`(module ${imports} (table 1 funcref) (export "a" (func $a))
      (type $r (func (result i32)))
      (func (export "f") (result i32)
        (table.set (i32.const 0) (ref.func $a)) (call_indirect (type $r) (i32.const 0))))`);
    const { exports, takeEvents } = runTraced(input, env);
    assert.equal(exports.f?.(), 100);
    assert.deepEqual(takeEvents(), ['enter f', 'enter a', 'exit a', 'exit f']);
  });

  it('keeps a re-exported import the same function', () => {
    const inner = wat('(module (func (export "a") (result i32) (i32.const 100)))');
    const { a } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(inner))).exports;
    const { all } = runTraced(wat(`(module (import "env" "a" (func $a (result i32))) (export "x" (func $a)))`), {
      env: { a: a as () => number },
    });
    assert.equal(all.x, a);
  });

  it('keeps export names, their kinds and their order', () => {
    const input = wat(`(module ${imports} ${numbered} (memory (export "10") 1) (func (export "constructor"))
      (export "2" (func $f2)) (export "" (func $f3)) (global (export "\u00e9") i32 (i32.const 1)) (export "z" (func $b)))`);
    const { bytes } = instrument(input);
    const exportsOf = (module: Uint8Array) =>
      WebAssembly.Module.exports(new WebAssembly.Module(new Uint8Array(module)));
    assert.deepEqual(exportsOf(bytes), exportsOf(input));
  });

  it('adds imports behind the others, and only those that are called', () => {
    const input = wat(`(module ${imports} (memory 1) (func $f (drop (memory.grow (i32.const 1)))))`);
    const imported = (options: object) =>
      WebAssembly.Module.imports(new WebAssembly.Module(new Uint8Array(instrument(input, options).bytes))).map(
        ({ name }) => name,
      );
    assert.deepEqual(imported({}), ['a', 'b', 'enter', 'exit', 'memory-grow']);
    assert.deepEqual(imported({ allowed: [] }), ['a', 'b', 'memory-grow']);
    assert.deepEqual(instrument(input).report.addedImports, ['enter', 'exit', 'memory-grow']);
  });

  it('does not disturb recursive types and subtypes', async () => {
    const input = await gcWat(`(module
      (rec (type $node (sub (struct (field (ref null $node)) (field (ref null $visit)))))
           (type $visit (func (param (ref null $node)) (result i32 i64))))
      (type $leaf (sub $node (struct (field (ref null $node)) (field (ref null $visit)) (field i32))))
      (func $count (type $visit)
        (if (ref.test (ref $leaf) (local.get 0)) (then (return (i32.const 1) (i64.const 10))))
        (i32.const 0) (i64.const 20))
      (elem declare func $count)
      (func (export "leaf") (result i32 i64)
        (call_ref $visit (struct.new $leaf (ref.null $node) (ref.null $visit) (i32.const 3)) (ref.func $count)))
      (func (export "node") (result i32 i64)
        (call_ref $visit (struct.new $node (ref.null $node) (ref.func $count)) (ref.func $count))))`);
    const { exports, trace } = runTraced(input);
    assert.deepEqual(exports.leaf?.(), [1, 10n]);
    assert.deepEqual(exports.node?.(), [0, 20n]);
    trace.assertBalanced();
  });
});
