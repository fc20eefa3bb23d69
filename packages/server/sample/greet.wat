;; A small Extism plugin, written by hand so that it can be read whole. The demo application publishes it.
;;
;;   greet          input: a name           output: Hello, <name>!
;;   count_vowels   input: a text           output: {"count":<how many of a, e, i, o, u, in either case>}
;;
;; An Extism plugin gets its input from the host, and hands its output back, through blocks of memory that the host keeps:
;; handles to them are 64-bit offsets, and only the functions imported below reach what is in them.
;; The interface: https://github.com/extism/extism/blob/main/kernel/src/lib.rs
;;
;; greet.wasm beside this file is `wat2wasm --debug-names greet.wat`; a test holds the two equal.
(module $greet

  ;; How many bytes the input has, and its bytes: one, or eight at a time in little-endian order.
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param $at i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param $at i64) (result i64)))
  ;; A new block, whose offset it answers, and the ways to fill it.
  (import "extism:host/env" "alloc" (func $alloc (param $length i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param $at i64) (param $value i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param $at i64) (param $value i64)))
  ;; Names the bytes that are the output of this call.
  (import "extism:host/env" "output_set" (func $output_set (param $offset i64) (param $length i64)))

  ;; The plugin's own memory holds nothing but the words that it says.
  (memory $words 1)
  (data (memory $words) (i32.const 0) "Hello, ")       ;; 7 bytes
  (data (memory $words) (i32.const 16) "{\"count\":")  ;; 9 bytes

  ;; Answers `Hello, <input>!`. The result 0 tells the host that the call went well.
  (func $say_hello (export "greet") (result i32)
    (local $length i64)
    (local $output i64)
    (local $end i64)
    (local.set $length (i64.add (call $input_length) (i64.const 8))) ;; the input, "Hello, " and "!"
    (local.set $output (call $alloc (local.get $length)))
    (local.set $end (call $write_words (local.get $output) (i32.const 0) (i32.const 7)))
    (local.set $end (call $write_input (local.get $end)))
    (call $store_u8 (local.get $end) (i32.const 0x21)) ;; !
    (call $output_set (local.get $output) (local.get $length))
    (i32.const 0))

  ;; Answers `{"count":N}`.
  (func $count_vowels (export "count_vowels") (result i32)
    (local $count i64)
    (local $at i64)
    (local $length i64)
    (local $output i64)
    (local $end i64)
    (local.set $length (call $input_length))
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $length)))
        (local.set $count
          (i64.add
            (local.get $count)
            (i64.extend_i32_u (call $is_vowel (call $input_load_u8 (local.get $at))))))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    ;; 9 bytes of words, the digits and a brace: no more, since the JavaScript runtime takes the whole block as the output.
    (local.set $length (i64.add (call $decimal_length (local.get $count)) (i64.const 10)))
    (local.set $output (call $alloc (local.get $length)))
    (local.set $end (call $write_words (local.get $output) (i32.const 16) (i32.const 9)))
    (local.set $end (call $write_decimal (local.get $end) (local.get $count)))
    (call $store_u8 (local.get $end) (i32.const 0x7d)) ;; }
    (call $output_set (local.get $output) (local.get $length))
    (i32.const 0))

  ;; 1 for an ASCII vowel, in upper or lower case, and 0 for every other byte.
  (func $is_vowel (param $byte i32) (result i32)
    (local $letter i32)
    ;; Setting bit 5 makes a capital small; then the letter's place in the alphabet is a bit in a set of 26.
    (local.set $letter (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)))
    (if (result i32) (i32.lt_u (local.get $letter) (i32.const 26))
      (then
        (i32.and
          (i32.shr_u (i32.const 0x104111) (local.get $letter)) ;; a, e, i, o, u: bits 0, 4, 8, 14, 20
          (i32.const 1)))
      (else (i32.const 0))))

  ;; Writes a stretch of the plugin's own memory to the block at $to. Answers where it ended.
  (func $write_words (param $to i64) (param $from i32) (param $length i32) (result i64)
    (local $end i32)
    (local.set $end (i32.add (local.get $from) (local.get $length)))
    (loop $next (result i64)
      (if (result i64) (i32.lt_u (local.get $from) (local.get $end))
        (then
          (call $store_u8 (local.get $to) (i32.load8_u (local.get $from)))
          (local.set $to (i64.add (local.get $to) (i64.const 1)))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))
          (br $next))
        (else (local.get $to)))))

  ;; Writes the whole input to the block at $to: eight bytes at a time, then the rest one by one. Answers where it ended.
  (func $write_input (param $to i64) (result i64)
    (local $at i64)
    (local $length i64)
    (local.set $length (call $input_length))
    (block $tail
      (loop $next
        (br_if $tail (i64.gt_u (i64.add (local.get $at) (i64.const 8)) (local.get $length)))
        (call $store_u64 (i64.add (local.get $to) (local.get $at)) (call $input_load_u64 (local.get $at)))
        (local.set $at (i64.add (local.get $at) (i64.const 8)))
        (br $next)))
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $length)))
        (call $store_u8 (i64.add (local.get $to) (local.get $at)) (call $input_load_u8 (local.get $at)))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (i64.add (local.get $to) (local.get $length)))

  ;; How many decimal digits a number has.
  (func $decimal_length (param $number i64) (result i64)
    (local $digits i64)
    (loop $next (result i64)
      (local.set $digits (i64.add (local.get $digits) (i64.const 1)))
      (local.set $number (i64.div_u (local.get $number) (i64.const 10)))
      (br_if $next (i64.ne (local.get $number) (i64.const 0)))
      (local.get $digits)))

  ;; Writes a number in decimal to the block at $to: the digits before the last by calling itself. Answers where it ended.
  (func $write_decimal (param $to i64) (param $number i64) (result i64)
    (if (i64.ge_u (local.get $number) (i64.const 10))
      (then
        (local.set $to
          (call $write_decimal (local.get $to) (i64.div_u (local.get $number) (i64.const 10))))))
    (call $store_u8
      (local.get $to)
      (i32.wrap_i64 (i64.add (i64.rem_u (local.get $number) (i64.const 10)) (i64.const 0x30))))
    (i64.add (local.get $to) (i64.const 1))))
