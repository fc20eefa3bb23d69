import type { SimulationReport } from '@tenon/protocol';
import { wat } from '../../../../test/helpers/wat.ts';
import { defaultSimulationLimits, runSimulation, type SimulationInputs } from '../../src/simulation/index.ts';

/* Small modules for simulations, in the text format. */

const kernel = `
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "log_warn" (func $log_warn (param i64)))`;

/** Functions that every module below has: `$text` copies a text of the module's memory into a block. */
const helpers = `
  (memory (export "memory") 1)
  (func $text (param $at i32) (param $length i32) (result i64) (local $block i64) (local $index i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $index) (local.get $length)))
      (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $index)))
        (i32.load8_u (i32.add (local.get $at) (local.get $index))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br $next)))
    (local.get $block))
  (func $answer (param $block i64) (result i32)
    (call $output_set (local.get $block) (call $length (local.get $block))) (i32.const 0))`;

const harness = `
  (import "xtp:test/harness" "call" (func $call (param i64 i64) (result i64)))
  (import "xtp:test/harness" "time" (func $time (param i64 i64) (result i64)))
  (import "xtp:test/harness" "assert" (func $assert (param i64 i64 i64)))
  (import "xtp:test/harness" "group" (func $group (param i64)))
  (import "xtp:test/harness" "reset" (func $reset))
  (import "xtp:test/harness" "mock_input" (func $mock_input (result i64)))`;

/** Replaces each `'text'` by a call of `$text`, and keeps the texts in the module's memory. */
function withTexts(source: string): string {
  const texts: string[] = [];
  let at = 16;
  const body = source.replace(/'([^']*)'/g, (_, text: string) => {
    const bytes = [...new TextEncoder().encode(text)];
    texts.push(`(data (i32.const ${at}) "${bytes.map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('')}")`);
    const call = `(call $text (i32.const ${at}) (i32.const ${bytes.length}))`;
    at += bytes.length;
    return call;
  });
  return `${body}\n${texts.join('\n')}`;
}

/** A plugin with more imports and any functions. */
export function pluginModule(functions: string, imports = ''): Uint8Array {
  return wat(`(module ${imports} ${kernel} ${helpers} ${withTexts(functions)})`);
}

/** A test module whose `test` has a body. */
export function testModule(body: string, functions = ''): Uint8Array {
  return pluginModule(
    `${functions} (func (export "test") (result i32) (local $a i64) (local $b i64) ${body})`,
    harness,
  );
}

/** Exports: `echo`, `count` (calls so far, in a variable), `fail`, `trap`, `recurse`. */
export const plugin = pluginModule(`
  (func (export "echo") (result i32) (call $answer (call $input_offset)))
  (func (export "count") (result i32) (local $block i64)
    (local.set $block (call $alloc (i64.const 1)))
    (call $store_u8 (local.get $block)
      (i32.add (select (call $load_u8 (call $var_get 'n')) (i32.const 48) (i64.ne (call $var_get 'n') (i64.const 0))) (i32.const 1)))
    (call $var_set 'n' (local.get $block))
    (call $answer (local.get $block)))
  (func (export "fail") (result i32) (call $error_set 'no such user') (i32.const 1))
  (func (export "trap") (result i32) unreachable)
  (func $recurse (export "recurse") (result i32) (i32.add (call $recurse) (i32.const 1)))
  (func (export "grow") (result i32) (loop $again (drop (memory.grow (i32.const 512))) (br $again)) (i32.const 0))
  (func (export "grow_caught") (result i32)
    (try (do (drop (memory.grow (i32.const 8192)))) (catch_all)) (i32.const 0))
  (func (export "flood") (result i32) (local $n i32)
    (loop $again (call $log_warn 'hello')
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 3000)))) (i32.const 0))
  (func (export "large") (result i32) (call $answer (call $alloc (i64.const 20000000))))
  (func (export "hoard") (result i32) (loop $again (drop (call $alloc (i64.const 16777216))) (br $again)) (i32.const 0))
  (func (export "blocks") (result i32) (loop $again (drop (call $alloc (i64.const 0))) (br $again)) (i32.const 0))
  (func (export "takes") (param i32) (result i32) (i32.const 0))
  (func (export "json") (result i32) (call $answer '{"name":"Ada","age":36,"tags":["a","b"]}'))
  (func (export "bytes") (result i32) (local $block i64)
    (local.set $block (call $alloc (i64.const 2))) (call $store_u8 (local.get $block) (i32.const 255))
    (call $answer (local.get $block)))`);

interface Request extends Partial<SimulationInputs> {
  readonly plugin?: Uint8Array;
  readonly schema?: object;
  readonly maxInstructions?: number;
  readonly measuresCoverage?: boolean;
}

/** Runs a simulation of {@link plugin}. */
export function simulate(request: Request): SimulationReport {
  const { plugin: tested = plugin, schema, maxInstructions, measuresCoverage = false, ...simulation } = request;
  return runSimulation({
    plugin: tested,
    simulation: { name: 'check', revision: null, ...simulation },
    schemaJson: schema === undefined ? null : JSON.stringify(schema),
    limits: {
      ...defaultSimulationLimits,
      maxMemoryBytes: 64 * 1024 ** 2,
      ...(maxInstructions !== undefined && { maxInstructions }),
    },
    measuresCoverage,
  });
}
