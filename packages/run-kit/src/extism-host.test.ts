import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { kernelFunctions, olderKernelFunctions } from '@tenon/extension-schema/host-imports';
import { wat } from '../../../test/helpers/wat.ts';
import { createExtismHost } from './extism-host.ts';

const { createPlugin } = createRequire(import.meta.url)('@extism/extism') as typeof import('@extism/extism');

const logger = (log: (text: string) => void) => ({ trace: log, debug: log, info: log, warn: log, error: log, log });

/** Signatures, in which every parameter and result but those named is an i64. */
const i32Params: Readonly<Record<string, string>> = { store_u8: 'i64 i32', store_u64: 'i64 i64' };
const arity: Readonly<Record<string, number>> = {
  ...{ alloc: 1, free: 1, length: 1, length_unsafe: 1, load_u8: 1, load_u64: 1 },
  ...{ input_load_u8: 1, input_load_u64: 1, output_set: 2, error_set: 1, config_get: 1, var_get: 1, var_set: 2 },
  ...{ http_request: 2, log_debug: 1, log_info: 1, log_warn: 1, log_error: 1 },
};
const withoutResult = /^(?:free|store_|output_set|error_set|var_set|log_)/;
const withI32 = /^(?:load_u8|input_load_u8|http_status_code)$/;

/** The published host of this version lacks these. They behave as in the kernel that other hosts share. */
const onlyInKernel = [
  ...['input_set', 'output_offset', 'output_length', 'error_get', 'reset', 'memory_bytes'],
  ...['http_headers', 'get_log_level', 'log_trace'],
];
const published = kernelFunctions.filter((name) => !onlyInKernel.includes(name));

/** Calls with the same effect in both hosts: an expression whose i64 is the output, or that throws. */
const calls: Readonly<Record<string, string>> = {
  'a block is filled with zeros': '(call $load_u64 (call $alloc (i64.const 8)))',
  'a block has its length': '(call $length (call $alloc (i64.const 100000)))',
  'a block of no bytes has an address': '(i64.extend_i32_u (i64.ne (call $alloc (i64.const 0)) (i64.const 0)))',
  'a block of no bytes has no length': '(call $length (call $alloc (i64.const 0)))',
  'blocks are apart': `(local.set 0 (call $alloc (i64.const 1))) (call $store_u8 (call $alloc (i64.const 1)) (i32.const 7))
    (i64.extend_i32_u (call $load_u8 (local.get 0)))`,
  'too large a block': '(call $alloc (i64.const 0x4000000000000000))',
  'length_unsafe is the length': '(call $length_unsafe (call $alloc (i64.const 5)))',
  'the length of no block': '(call $length (i64.const 0x7fff000000000000))',
  'free ends a block':
    '(local.set 0 (call $alloc (i64.const 5))) (call $free (local.get 0)) (call $length (local.get 0))',
  'a block is freed twice':
    '(local.set 0 (call $alloc (i64.const 5))) (call $free (local.get 0)) (call $free (local.get 0)) (i64.const 1)',
  'bytes are stored': `(local.set 0 (call $alloc (i64.const 2)))
    (call $store_u8 (i64.add (local.get 0) (i64.const 1)) (i32.const 511))
    (i64.extend_i32_u (call $load_u8 (i64.add (local.get 0) (i64.const 1))))`,
  'eight bytes are stored': `(local.set 0 (call $alloc (i64.const 9)))
    (call $store_u64 (i64.add (local.get 0) (i64.const 1)) (i64.const -2))
    (i64.add (call $load_u64 (i64.add (local.get 0) (i64.const 1))) (call $load_u64 (local.get 0)))`,
  'a byte beyond its block': '(i64.extend_i32_u (call $load_u8 (i64.add (call $alloc (i64.const 4)) (i64.const 4))))',
  'eight bytes beyond a block': '(call $load_u64 (i64.add (call $alloc (i64.const 8)) (i64.const 1)))',
  'storing beyond a block':
    '(call $store_u8 (i64.add (call $alloc (i64.const 4)) (i64.const 4)) (i32.const 1)) (i64.const 1)',
  'storing eight bytes beyond':
    '(call $store_u64 (i64.add (call $alloc (i64.const 8)) (i64.const 1)) (i64.const 1)) (i64.const 1)',
  'a byte of no block': '(i64.extend_i32_u (call $load_u8 (i64.const 0x7fff000000000000)))',
  'eight bytes of no block': '(call $load_u64 (i64.const 0x7fff000000000000))',
  'storing in no block': `(call $store_u8 (i64.const 0x7fff000000000000) (i32.const 1))
    (call $store_u64 (i64.const 0x7fff000000000000) (i64.const 1)) (i64.const 1)`,
  'the input has a length': '(call $input_length)',
  'the input is a block': '(call $length (call $input_offset))',
  'the input is read as memory': '(i64.extend_i32_u (call $load_u8 (i64.add (call $input_offset) (i64.const 1))))',
  'a byte of the input': '(i64.extend_i32_u (call $input_load_u8 (i64.const 2)))',
  'eight bytes of the input': '(call $input_load_u64 (i64.const 1))',
  'a byte beyond the input': '(i64.extend_i32_u (call $input_load_u8 (i64.const 9)))',
  'a byte before the input': '(i64.extend_i32_u (call $input_load_u8 (i64.const -1)))',
  'eight bytes beyond the input': '(call $input_load_u64 (i64.const 2))',
  'an output of no block': '(call $output_set (i64.const 0x7fff000000000000) (i64.const 1)) (i64.const 1)',
  'an output longer than its block': '(call $output_set (call $alloc (i64.const 1)) (i64.const 2)) (i64.const 1)',
  'an error': '(call $error_set (call $input_offset)) (i64.const 1)',
  'an error of no block': '(call $error_set (i64.const 0x7fff000000000000)) (i64.const 1)',
  'a configured value': '(call $length (call $config_get (call $key (i32.const 99))))',
  'a value that is not configured': '(call $config_get (call $key (i32.const 100)))',
  'a configured value without a key': '(call $config_get (i64.const 0x7fff000000000000))',
  'a variable that was never set': '(call $var_get (call $key (i32.const 1)))',
  'a variable': `(call $var_set (call $key (i32.const 2)) (call $input_offset))
    (call $load_u64 (call $var_get (call $key (i32.const 2))))`,
  'a variable that was deleted': `(call $var_set (call $key (i32.const 3)) (call $input_offset))
    (call $var_set (call $key (i32.const 3)) (i64.const 0)) (call $var_get (call $key (i32.const 3)))`,
  messages: `(call $log_debug (call $input_offset)) (call $log_info (call $key (i32.const 65)))
    (call $log_warn (call $key (i32.const 66))) (call $log_error (call $key (i32.const 67))) (i64.const 1)`,
  'the status of no request': '(i64.extend_i32_u (call $http_status_code))',
};

/** These use the null address if there is no input, where the published host has a block of one byte and the kernel none. */
const needInput = ['the input is a block', 'the input is read as memory', 'an error'];

const names = Object.keys(calls);
const imports = published.map((name) => {
  const params = i32Params[name] ?? Array.from({ length: arity[name] ?? 0 }, () => 'i64').join(' ');
  const result = withoutResult.test(name) ? '' : withI32.test(name) ? '(result i32)' : '(result i64)';
  return `(import "extism:host/env" "${name}" (func $${name} (param ${params}) ${result}))`;
});
const module = wat(`(module
  ${imports.join('\n')}
  (func $key (param i32) (result i64) (local i64)
    (local.set 1 (call $alloc (i64.const 1))) (call $store_u8 (local.get 1) (local.get 0)) (local.get 1))
  (func $answer (param i64) (result i32) (local i64)
    (local.set 1 (call $alloc (i64.const 8)))
    (call $store_u64 (local.get 1) (local.get 0))
    (call $output_set (local.get 1) (i64.const 8))
    (i32.const 0))
  ${names.map((name, at) => `(func $body${at} (result i64) (local i64) ${calls[name]})`).join('\n')}
  ${names.map((_, at) => `(func (export "${at}") (result i32) (call $answer (call $body${at})))`).join('\n')}
  (func (export "request") (result i32) (drop (call $http_request (i64.const 0) (i64.const 0))) (i32.const 0)))`);

const config = { c: 'välue' };
const input = 'nine byte';

function newHost() {
  const logged: string[] = [];
  const log = (level: string, text: string) => void logged.push(`${level} ${text}`);
  const host = createExtismHost({ config: new Map(Object.entries(config)), log });
  const functions = host.imports['extism:host/env'] as Record<string, (...args: (bigint | number)[]) => unknown>;
  return { host, functions, logged };
}

function callOurs(host: ReturnType<typeof newHost>['host'], exported: unknown, given: string): Uint8Array {
  host.begin(new TextEncoder().encode(given));
  (exported as () => number)();
  const { output, error } = host.end();
  if (error !== undefined) throw new Error(error);
  return output;
}

describe('createExtismHost()', () => {
  it('behaves as the published host in every function that it has', async () => {
    const { host, logged } = newHost();
    const theirLog: string[] = [];
    const options = { config, logger: logger((text) => theirLog.push(text)) as unknown as Console };
    const plugin = await createPlugin({ wasm: [{ data: new Uint8Array(module) }] }, options);
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module), host.imports);
    try {
      for (const [at, name] of names.entries()) {
        for (const given of needInput.includes(name) ? [input] : [input, '']) {
          const theirs = await plugin.call(`${at}`, given).then(
            (found) => [...(found?.bytes() ?? [])],
            () => 'throws',
          );
          let ours: unknown;
          try {
            ours = [...callOurs(host, instance.exports[at], given)];
          } catch {
            ours = 'throws';
          }
          assert.deepEqual(ours, theirs, `${name}, with "${given}"`);
        }
      }
      assert.deepEqual(
        logged.map((line) => line.replace(/^\w+ /, '')).filter((line) => line !== ''), // of the null address
        theirLog.filter((line) => line !== '\0' && !/not enabled/.test(line)),
      );
    } finally {
      await plugin.close();
    }
  });

  it('compares every function of the published host, and has all that publishing accepts', async () => {
    for (const name of onlyInKernel) {
      const data = new Uint8Array(wat(`(module (import "extism:host/env" "${name}" (func)) (func (export "f")))`));
      await assert.rejects(
        () => createPlugin({ wasm: [{ data }] }),
        /env/,
        `the published host has ${name}: compare it`,
      );
    }
    const text = Object.values(calls).join(' ');
    const notCalled = published.filter((name) => !text.includes(`$${name})`) && !text.includes(`$${name} `));
    assert.deepEqual(notCalled, ['http_request']);
    const { imports: ours } = newHost().host;
    assert.deepEqual(Object.keys(ours['extism:host/env'] ?? {}).sort(), kernelFunctions.toSorted());
    assert.deepEqual(Object.keys(ours.env ?? {}).sort(), olderKernelFunctions.toSorted());
  });

  it('has the functions of the kernel that other hosts share', () => {
    const { host, functions: f, logged } = newHost();
    host.begin(new TextEncoder().encode('input'));
    const block = f.alloc?.(8n) as bigint;
    f.store_u64?.(block, 0x4847464544434241n);
    assert.deepEqual([f.output_offset?.(), f.output_length?.(), f.error_get?.()], [0n, 0n, 0n]);
    f.output_set?.(block, 8n);
    f.error_set?.(block);
    assert.deepEqual([f.output_offset?.(), f.output_length?.(), f.error_get?.()], [block, 8n, block]);
    f.error_set?.(0n);
    assert.deepEqual([f.error_get?.(), f.memory_bytes?.()], [0n, 13n]);
    f.input_set?.(block, 8n);
    assert.deepEqual([f.input_offset?.(), f.input_length?.(), f.input_load_u8?.(7n)], [block, 8n, 0x48]);
    assert.deepEqual(
      [f.http_headers?.(), f.get_log_level?.(), f.length?.(0n), f.load_u8?.(0n)],
      [0n, 0, 0n, undefined],
    );
    f.log_trace?.(block);
    assert.deepEqual(logged, ['trace ABCDEFGH']);
    assert.throws(() => f.http_request?.(0n, 0n), /HTTP requests are not available/);
    f.reset?.();
    assert.deepEqual([f.memory_bytes?.(), f.input_length?.(), f.length?.(block)], [0n, 0n, 0n]);
    assert.deepEqual(host.end(), { output: new Uint8Array(), error: undefined });
  });

  it('outputs a part of a block, as the kernel does', () => {
    const { host, functions: f } = newHost();
    host.begin(new TextEncoder().encode('a long input'));
    f.output_set?.((f.input_offset?.() as bigint) + 2n, 4n);
    assert.equal(new TextDecoder().decode(host.end().output), 'long');
    f.output_set?.(0n, 0n);
    assert.equal(host.end().output.length, 0);
    assert.throws(() => f.output_set?.((f.input_offset?.() as bigint) + 2n, 11n), /outside of a block/);
  });

  it('has the names from before Extism 1.0', () => {
    const { host } = newHost();
    const older = host.imports.env as Record<string, (...args: (bigint | number)[]) => unknown>;
    host.begin(new Uint8Array(4));
    older.extism_store_u32?.(older.extism_input_offset?.() as bigint, 0x01020304);
    assert.equal(older.extism_input_load_u8?.(0n), 4);
    assert.equal(older.extism_load_u32?.(older.extism_input_offset?.() as bigint), 0x01020304);
  });

  it('keeps variables from call to call, and nothing else, and bounds shared memory', () => {
    const { host, functions: f } = newHost();
    host.begin(new TextEncoder().encode('k'));
    f.var_set?.(f.input_offset?.() as bigint, f.input_offset?.() as bigint);
    const block = f.alloc?.(1_000_000_000n) as bigint;
    assert.throws(() => f.alloc?.(100_000_000n), /more than 1024 MiB/);
    f.free?.(block);
    f.free?.(block);
    f.free?.(0x7fff000000000000n);
    f.alloc?.(100_000_000n);
    host.begin(new TextEncoder().encode('k'));
    assert.equal(f.memory_bytes?.(), 1n);
    assert.equal(f.length?.(f.var_get?.(f.input_offset?.() as bigint) as bigint), 1n);
  });
});
