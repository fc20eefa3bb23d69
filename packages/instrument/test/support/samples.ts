import { gcWat, wat } from '../../../../test/helpers/wat.ts';

/** Small modules that between them hold every section and most instructions that the rewriter changes. */
export async function samples(): Promise<Readonly<Record<string, Uint8Array>>> {
  return {
    'a module of every section': wat(`(module
      (type $t (func (param i32) (result i32)))
      (import "env" "log" (func $log (param i32)))
      (import "env" "table" (table $imported 1 funcref))
      (func $inc (type $t) (i32.add (local.get 0) (i32.const 1)))
      (func $many (param i32) (result i32 i64)
        (if (local.get 0) (then (return (i32.const 1) (i64.const 2))))
        (call $log (i32.const 7)) (i32.const 3) (i64.const 4))
      (func $run (export "run") (param i32) (result i32) (local $x f64)
        (block $out (loop $again
          (br_table $out $again $out (local.get 0))))
        (drop (memory.grow (i32.const 1)))
        (return_call_indirect (type $t) (local.get 0) (i32.const 0)))
      (func $boot)
      (table $own 3 funcref)
      (memory (export "memory") 1 4)
      (tag $e (param i32))
      (global $g (mut funcref) (ref.func $inc))
      (export "log" (func $log))
      (start $boot)
      (elem (table $own) (i32.const 0) func $inc $log)
      (elem funcref (ref.func $run) (ref.null func))
      (elem declare func $many)
      (data (i32.const 0) "hello") (data "passive"))`),
    'a module of vectors, atomics and exceptions': wat(`(module
      (memory 1 2 shared) (tag $e (param i32))
      (func $v (param v128) (result i32)
        (i32x4.extract_lane 1 (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
          (v128.const i32x4 1 2 3 4) (v128.load offset=300 (i32.const 16)))))
      (func $a (result i32) (atomic.fence) (i32.atomic.rmw.add offset=4 (i32.const 0) (i32.const 1)))
      (func $e1 (export "e1") (result i32)
        (block $h (result i32) (try_table (catch $e $h) (throw $e (i32.const 3))) (i32.const 1)))
      (func $e2 (export "e2") (result i32)
        (block $h (result exnref) (try_table (catch_all_ref $h) (drop (call $e1))) (return (i32.const 5)))
        (throw_ref)))`),
    'a module of structures and references': await gcWat(`(module
      (type $s (sub (struct (field (mut i32)) (field anyref))))
      (type $u (sub $s (struct (field (mut i32)) (field anyref) (field i64))))
      (type $a (array (mut i8)))
      (type $f (func (param anyref) (result i32 i32)))
      (import "env" "f" (func $imported (type $f)))
      (global $g (ref $s) (struct.new $s (i32.const 1) (ref.i31 (i32.const 2))))
      (elem declare func $imported $own)
      (func $own (export "own") (type $f)
        (block $no (result anyref)
          (return (struct.get $s 0 (br_on_cast_fail $no anyref (ref $s) (local.get 0))) (i32.const 0)))
        (drop) (array.len (array.new_fixed $a 2 (i32.const 1) (i32.const 2))) (i32.const 9))
      (func (export "ref") (result i32 i32)
        (if (ref.is_null (global.get $g)) (then (return_call_ref $f (ref.null any) (ref.func $own))))
        (call_ref $f (struct.new_default $u) (ref.func $imported))))`),
  };
}
