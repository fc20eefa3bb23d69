import { wat } from './wat.ts';

/** A plugin whose `echo` copies its input to its output, or does what the text says. */
export function echoPlugin(body = '(call $output_set (call $input_offset) (call $input_length))'): Buffer {
  return wat(`(module
    (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
    (import "extism:host/env" "input_length" (func $input_length (result i64)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (func (export "echo") (result i32) ${body} (i32.const 0)))`);
}

/** A plugin that cuts off its output. */
export const cuttingPlugin = echoPlugin('(call $output_set (call $input_offset) (i64.const 1))');

/** A plugin that never ends. */
export const spinningPlugin = echoPlugin('(loop $again (br $again))');

/** A test module that calls `echo` with the mock input, and asserts that the lengths are equal, in a group. */
export const lengthTest = wat(`(module
  (import "xtp:test/harness" "call" (func $call (param i64 i64) (result i64)))
  (import "xtp:test/harness" "assert" (func $assert (param i64 i64 i64)))
  (import "xtp:test/harness" "group" (func $group (param i64)))
  (import "xtp:test/harness" "mock_input" (func $mock_input (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (memory 1)
  (data (i32.const 0) "echo")
  (data (i32.const 16) "same length")
  (data (i32.const 32) "lengths differ")
  (data (i32.const 48) "a group")
  (func $text (param $at i32) (param $length i32) (result i64) (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (loop $again
      (call $store
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
        (i32.load8_u (i32.add (local.get $at) (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $length))))
    (local.get $block))
  (func (export "test") (result i32) (local $in i64) (local $out i64)
    (call $group (call $text (i32.const 48) (i32.const 7)))
    (local.set $in (call $mock_input))
    (local.set $out (call $call (call $text (i32.const 0) (i32.const 4)) (local.get $in)))
    (call $assert
      (call $text (i32.const 16) (i32.const 11))
      (i64.extend_i32_u (i64.eq (call $length (local.get $in)) (call $length (local.get $out))))
      (call $text (i32.const 32) (i32.const 14)))
    (i32.const 0)))`);
