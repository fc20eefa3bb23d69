import { wat } from './wat.ts';

/** A module with functions that take and give numbers, one that traps, and two that never end. */
export const numbers = wat(`(module $numbers
  (memory (export "memory") 2)
  (func $fib (export "fib") (param i32) (result i32)
    (if (i32.lt_u (local.get 0) (i32.const 2)) (then (return (local.get 0))))
    (i32.add
      (call $fib (i32.sub (local.get 0) (i32.const 1)))
      (call $fib (i32.sub (local.get 0) (i32.const 2)))))
  (func $leaf (result i32) (memory.grow (i32.const 3)))
  (func (export "grow") (param i64 f64) (result f64 i64)
    (drop (call $leaf))
    (local.get 1) (local.get 0))
  (func $bad (unreachable))
  (func (export "trap") (drop (call $fib (i32.const 5))) (call $bad))
  (func (export "calls_for_ever") (loop $again (drop (call $fib (i32.const 3))) (br $again)))
  (func (export "silent_for_ever") (loop $again (br $again)))
  (func (export "\\u{202e}\\1b[2J</script>") (drop (call $fib (i32.const 3)))))`);

/** The name of the last of these, which would steer a terminal and end a script. */
export const hostileExport = '\u202e\u001b[2J</script>';

/** A plugin that says something and says it again. */
export const logsForEver = wat(`(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (func (export "log") (result i32) (local $text i64)
    (local.set $text (call $alloc (i64.const 1)))
    (loop $again (call $log_info (local.get $text)) (br $again))
    (i32.const 0)))`);

const wasi = {
  args_sizes_get: '(param i32 i32) (result i32)',
  args_get: '(param i32 i32) (result i32)',
  environ_sizes_get: '(param i32 i32) (result i32)',
  environ_get: '(param i32 i32) (result i32)',
  fd_read: '(param i32 i32 i32 i32) (result i32)',
  fd_write: '(param i32 i32 i32 i32) (result i32)',
  path_open: '(param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)',
  proc_exit: '(param i32)',
};

/** A command of WASI, whose \`_start\` has this body. */
export function command(body: string): Buffer {
  const imports = Object.entries(wasi).map(
    ([name, type]) => `(import "wasi_snapshot_preview1" "${name}" (func $${name} ${type}))`,
  );
  return wat(`(module
    ${imports.join('\n')}
    (memory (export "memory") 4)
    (data (i32.const 1024) "note.txt")
    (data (i32.const 2048) "hello\\n")
    (func $write (param $fd i32) (param $at i32) (param $length i32)
      (i32.store (i32.const 0) (local.get $at))
      (i32.store (i32.const 4) (local.get $length))
      (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 16))))
    (func $copy (param $from i32) (param $to i32)
      (block $end (loop $more
        (i32.store (i32.const 0) (i32.const 65536))
        (i32.store (i32.const 4) (i32.const 1000))
        (br_if $end (call $fd_read (local.get $from) (i32.const 0) (i32.const 1) (i32.const 16)))
        (br_if $end (i32.eqz (i32.load (i32.const 16))))
        (call $write (local.get $to) (i32.const 65536) (i32.load (i32.const 16)))
        (br $more))))
    (func $_start (export "_start") ${body}))`);
}

/** Commands, each of which does one thing. */
export const commands = {
  hello: command('(call $write (i32.const 1) (i32.const 2048) (i32.const 6))'),
  /** Says so when it has begun, and then works without end. */
  worksForEver: command(`(call $write (i32.const 1) (i32.const 2048) (i32.const 6))
    (loop $again (call $write (i32.const 1) (i32.const 2048) (i32.const 0)) (br $again))`),
  copyStdin: command('(call $copy (i32.const 0) (i32.const 1))'),
  exit: (code: number) =>
    command(`(call $write (i32.const 1) (i32.const 2048) (i32.const 6)) (call $proc_exit (i32.const ${code}))`),
  /** The arguments, each with a zero at its end. */
  writeArguments: command(`
    (drop (call $args_sizes_get (i32.const 32) (i32.const 36)))
    (drop (call $args_get (i32.const 4096) (i32.const 65536)))
    (call $write (i32.const 1) (i32.const 65536) (i32.load (i32.const 36)))`),
  writeEnvironment: command(`
    (drop (call $environ_sizes_get (i32.const 32) (i32.const 36)))
    (drop (call $environ_get (i32.const 4096) (i32.const 65536)))
    (call $write (i32.const 1) (i32.const 65536) (i32.load (i32.const 36)))`),
  /** What stands in note.txt of the first folder; exits with WASI's error where that can't be read. */
  writeNote: command(`(local $error i32)
    (local.set $error (call $path_open (i32.const 3) (i32.const 0) (i32.const 1024) (i32.const 8) (i32.const 0)
      (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 64)))
    (if (local.get $error) (then (call $proc_exit (local.get $error))))
    (call $copy (i32.load (i32.const 64)) (i32.const 1))`),
};
