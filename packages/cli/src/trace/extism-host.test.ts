import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { wat } from '../../test/helpers/wat.ts';
import { createExtismHost, extismFunctions } from './extism-host.ts';

const { createPlugin } = createRequire(import.meta.url)('@extism/extism') as typeof import('@extism/extism');

/** Calls that use what a plugin can use, each of which another host has to answer alike. */
const module = wat(`(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (func $input (result i64) (local $block i64) (local $at i64)
    (local.set $block (call $alloc (call $input_length)))
    (block $done (loop $next
      (br_if $done (i64.ge_u (local.get $at) (call $input_length)))
      (call $store_u8 (i64.add (local.get $block) (local.get $at)) (call $input_load_u8 (local.get $at)))
      (local.set $at (i64.add (local.get $at) (i64.const 1)))
      (br $next)))
    (local.get $block))
  (func $answer (param $block i64) (result i32)
    (call $output_set (local.get $block) (call $length (local.get $block)))
    (i32.const 0))
  (func (export "echo") (result i32) (call $answer (call $input)))
  (func (export "first_eight") (result i32) (local $block i64)
    (local.set $block (call $alloc (i64.const 8)))
    (call $store_u64 (local.get $block) (call $input_load_u64 (i64.const 0)))
    (call $answer (local.get $block)))
  (func (export "nothing") (result i32) (i32.const 0))
  (func (export "fails") (result i32) (call $error_set (call $input)) (i32.const 1))
  (func (export "config") (result i32) (local $found i64)
    (local.set $found (call $config_get (call $input)))
    (if (i64.eqz (local.get $found)) (then (return (i32.const 0))))
    (call $answer (local.get $found)))
  (func (export "remember") (result i32) (local $key i64) (local $before i64)
    (local.set $key (call $alloc (i64.const 1)))
    (call $store_u8 (local.get $key) (i32.const 107))
    (local.set $before (call $var_get (local.get $key)))
    (call $var_set (local.get $key) (call $input))
    (if (i64.eqz (local.get $before)) (then (return (i32.const 0))))
    (call $answer (local.get $before)))
)`);

function newHost() {
  const logged: string[] = [];
  const host = createExtismHost({ config: new Map([['key', 'välue']]), log: (text) => logged.push(text) });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module), { 'extism:host/env': host.imports });
  const call = (name: string, input: string) => {
    host.begin(new TextEncoder().encode(input));
    (instance.exports[name] as () => number)();
    const { output, error } = host.end();
    if (error !== undefined) throw new Error(error);
    return new TextDecoder().decode(output);
  };
  return { host, call, logged };
}

describe('createExtismHost()', () => {
  it("answers a plugin as Extism's own host does", async () => {
    const { call } = newHost();
    const plugin = await createPlugin({ wasm: [{ data: new Uint8Array(module) }] }, { config: { key: 'välue' } });
    try {
      for (const [name, input] of [
        ['echo', 'héllo'],
        ['echo', ''],
        ['echo', 'x'.repeat(100_000)],
        ['first_eight', '12345678 and more'],
        ['nothing', 'x'],
        ['config', 'key'],
        ['config', 'none'],
        ['remember', 'one'],
        ['remember', 'two'],
        ['echo', 'after that'],
      ] as const) {
        const theirs = await plugin.call(name, input);
        assert.equal(call(name, input), theirs?.text() ?? '', `${name} ${input.slice(0, 20)}`);
      }
      await assert.rejects(async () => plugin.call('fails', 'no luck'), /no luck/);
      assert.throws(() => call('fails', 'no luck'), /no luck/);
    } finally {
      await plugin.close();
    }
  });

  it('keeps variables from call to call, and nothing else', () => {
    const { call } = newHost();
    assert.deepEqual([call('remember', 'a'), call('echo', 'zzz'), call('remember', 'b')], ['', 'zzz', 'a']);
    assert.equal(call('nothing', 'x'), '', 'the output of the call before is gone');
  });

  it('offers every function that it names', () => {
    const { host } = newHost();
    assert.deepEqual(Object.keys(host.imports).sort(), extismFunctions.toSorted());
  });

  it('stops a plugin that reads beyond its input, its blocks, or all memory', () => {
    const { host } = newHost();
    const { imports } = host as unknown as { imports: Record<string, (...args: bigint[]) => unknown> };
    host.begin(new Uint8Array(4));
    assert.throws(() => imports.input_load_u8?.(4n), /input ends/);
    assert.throws(() => imports.input_load_u8?.(-1n), /input ends/);
    assert.throws(() => imports.load_u64?.(2n ** 40n), /no block/);
    assert.throws(() => imports.load_u8?.(-1n), /no block/);
    assert.throws(() => imports.alloc?.(2n ** 62n), /memory/);
    assert.throws(() => imports.alloc?.(-1n), /memory/);
    assert.throws(() => imports.http_request?.(0n, 0n), /no HTTP/);
  });

  it('hands on what a plugin logs', () => {
    const { host, logged } = newHost();
    const { imports } = host as unknown as { imports: Record<string, (...args: bigint[]) => unknown> };
    host.begin(new TextEncoder().encode('careful'));
    imports.log_warn?.(imports.input_offset?.() as bigint);
    assert.deepEqual(logged, ['warning: careful']);
  });
});
