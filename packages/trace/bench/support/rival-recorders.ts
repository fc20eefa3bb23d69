import { wat } from '../../../../test/helpers/wat.ts';

/** What a module reports its calls to. */
export interface Hooks {
  readonly enter: WebAssembly.ImportValue;
  readonly exit: WebAssembly.ImportValue;
}

const minDurationMs = 0.02;

interface FunctionCall {
  readonly index: number;
  readonly name: string;
  readonly start: number;
  end: number;
  readonly within: FunctionCall[];
}

/**
 * The plain way: an object for each call, with its name and a list of what lies within. `keepsAll` has it filter as the root ends,
 * else as each exit arrives.
 */
export function objectRecorder(now: () => number, keepsAll: boolean, minDuration = minDurationMs): Hooks {
  const names = new Map([
    [2, 'leaf'],
    [3, 'run'],
  ]);
  const stack: FunctionCall[] = [];
  const roots: FunctionCall[] = [];
  const filter = (calls: readonly FunctionCall[]): FunctionCall[] =>
    calls
      .filter(({ start, end }) => end - start >= minDuration)
      .map((call) => ({ ...call, within: filter(call.within) }));
  return {
    enter(index: number) {
      stack.push({ index, name: names.get(index) ?? '', start: now(), end: 0, within: [] });
    },
    exit(_index: number) {
      const end = now();
      const call = stack.pop();
      if (call === undefined) return;
      call.end = end;
      const parent = stack.at(-1);
      if (parent === undefined) {
        roots.length = 0;
        roots.push(keepsAll ? { ...call, within: filter(call.within) } : call);
      } else if (keepsAll || end - call.start >= minDuration) parent.within.push(call);
    },
  };
}

/** The short way through `enter` and `exit` as WebAssembly of its own, which the traced module calls without JavaScript between. */
export function companionRecorder(now: () => number): Hooks {
  const { instance } = compile(
    `(module
      (import "host" "now" (func $now (result f64)))
      (memory 16)
      (global $top (mut i32) (i32.const 64))
      (func (export "enter") (param $func i32)
        (local $at i32)
        (local.set $at (i32.add (global.get $top) (i32.const 64)))
        (i32.store offset=8 (local.get $at) (local.get $func))
        (global.set $top (local.get $at))
        (f64.store (local.get $at) (call $now)))
      (func (export "exit") (param $func i32)
        (local $at i32) (local $below i32) (local $duration f64)
        (local.set $duration (f64.sub (call $now) (f64.load (local.tee $at (global.get $top)))))
        (local.set $below (i32.sub (local.get $at) (i32.const 64)))
        (global.set $top (local.get $below))
        (if (i32.or (i32.ne (i32.load offset=8 (local.get $at)) (local.get $func))
                    (f64.ge (local.get $duration) (f64.const ${minDurationMs})))
          (then (return)))
        (f64.store offset=16 (local.get $below)
          (f64.add (f64.load offset=16 (local.get $below))
            (f64.add (f64.load offset=16 (local.get $at)) (f64.const 1))))
        (f64.store offset=24 (local.get $below) (f64.add (f64.load offset=24 (local.get $below)) (local.get $duration)))
        (f64.store offset=16 (local.get $at) (f64.const 0))
        (f64.store offset=24 (local.get $at) (f64.const 0))))`,
    { host: { now } },
  );
  const { enter, exit } = instance.exports;
  return { enter: enter as () => void, exit: exit as () => void };
}

/** A module that calls an empty function `count` times, and reports each call: `run(count)`. */
export function loopModule(): WebAssembly.Module {
  return compileModule(`(module
    (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
    (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
    (func $leaf (call $enter (i32.const 2)) (call $exit (i32.const 2)))
    (func $run (export "run") (param $count i32)
      (call $enter (i32.const 3))
      (loop $again
        (call $leaf)
        (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
      (call $exit (i32.const 3)))
    (func (export "nothing")))`);
}

function compile(text: string, imports: WebAssembly.Imports): { instance: WebAssembly.Instance } {
  return { instance: new WebAssembly.Instance(compileModule(text), imports) };
}

function compileModule(text: string): WebAssembly.Module {
  return new WebAssembly.Module(wat(text) as BufferSource);
}
