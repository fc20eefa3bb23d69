import { instrument } from '@tenon/instrument';
import { wat } from '../../../../test/helpers/wat.ts';

/** What the host can have the puppet's innermost call do. Recursion is a call of the function that is running. */
export const command = { leave: 0, callA: 1, callB: 2, trap: 3, grow: 4, throw: 5, catchB: 6 } as const;
export type Command = (typeof command)[keyof typeof command];

/**
 * A module that does what the host tells it, step by step: so its tree of calls is whatever the host has chosen, and the host
 * may take its time. Each call asks `next` with the number that it was called with, again and again. `a` and `b` do the same;
 * `catchB` calls `b` and catches what is thrown in it.
 */
export function makePuppet(): WebAssembly.Module {
  const body = `(param $task i32)
    (loop $again
      (block $leave (block $callA (block $callB (block $trap (block $grow (block $throw (block $catchB
        (br_table $leave $callA $callB $trap $grow $throw $catchB (call $next (local.get $task))))
        (block $caught (try_table (catch_all $caught) (call $b (local.get $task)))) (br $again))
        (throw $e))
        (drop (memory.grow (i32.const 1))) (br $again))
        (unreachable))
        (call $b (local.get $task)) (br $again))
        (call $a (local.get $task)) (br $again)))`;
  const text = `(module
    (import "host" "next" (func $next (param i32) (result i32)))
    (tag $e (export "e"))
    (memory (export "memory") 1)
    (func $a (export "a") ${body})
    (func $b (export "b") ${body}))`;
  const { bytes } = instrument(wat(text), { banned: ['next'], exceptionHandling: 'exnref' });
  return new WebAssembly.Module(new Uint8Array(bytes));
}
