import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import loadWabt from 'wabt';
import { createRandom } from '../../../test/helpers/random.ts';
import { gcWat, wat } from '../../../test/helpers/wat.ts';
import { InstrumentError, instrument, listProposals, type Proposal, proposalNames } from '../src/index.ts';
import { mutate } from './support/mutate.ts';
import { samples } from './support/samples.ts';

/** [text, what it uses] for what one proposal, or several, brought. */
const table: readonly [text: string, ...proposals: Proposal[]][] = [
  ['(module)'],
  ['(module (memory 1) (table 1 funcref) (global (mut i32) (i32.const 1)) (elem (i32.const 0) 0) (func (export "f")))'],
  ['(module (import "a" "g" (global i64)) (global i64 (global.get 0)) (memory 1) (data (i32.const 0) "x"))'],
  ['(module (import "a" "f" (func)) (import "a" "t" (table 1 funcref)) (import "a" "m" (memory 1)))'],
  ['(module (func (param i32) (result i32) (block (result i32) (if (local.get 0) (then)) (i32.const 1))))'],
  ['(module (memory 1) (func (drop (i64.load offset=300 (i32.const 1))) (drop (memory.grow (memory.size)))))'],
  ['(module (import "a" "g" (global (mut i32))))', 'mutable-global'],
  ['(module (global (export "g") (mut i32) (i32.const 0)))', 'mutable-global'],
  ['(module (import "a" "g" (global i32)) (global (mut i32) (i32.const 0)) (export "g" (global 0)))'],
  ['(module (import "a" "g" (global i32)) (global (mut i32) (i32.const 0)) (export "g" (global 1)))', 'mutable-global'],
  ['(module (func (drop (i32.extend8_s (i32.const 1)))))', 'sign-extension'],
  ['(module (func (drop (i64.extend32_s (i64.const 1)))))', 'sign-extension'],
  ['(module (func (drop (f64.promote_f32 (f32.const 1)))))'],
  ['(module (func (drop (i32.trunc_sat_f32_s (f32.const 1)))))', 'saturating-float-to-int'],
  ['(module (func (drop (i64.trunc_sat_f64_u (f64.const 1)))))', 'saturating-float-to-int'],
  ['(module (func (result i32 i32) (i32.const 1) (i32.const 2)))', 'multi-value'],
  ['(module (func (i32.const 1) (block (param i32) (drop))))', 'multi-value'],
  ['(module (func (i32.const 1) (loop (param i32) (drop))))', 'multi-value'],
  ['(module (func (i32.const 1) (if (param i32) (i32.const 0) (then (drop)) (else (drop)))))', 'multi-value'],
  ['(module (memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 0))))', 'bulk-memory'],
  ['(module (memory 1) (func (memory.copy (i32.const 0) (i32.const 0) (i32.const 0))))', 'bulk-memory'],
  ['(module (memory 1) (data "x"))', 'bulk-memory'],
  ['(module (memory 1) (func (data.drop 0)) (data "x"))', 'bulk-memory'],
  ['(module (table 1 funcref) (elem func 0) (func (elem.drop 0)))', 'bulk-memory'],
  ['(module (table 1 funcref) (func (table.copy (i32.const 0) (i32.const 0) (i32.const 0))))', 'bulk-memory'],
  ['(module (func (param externref)))', 'reference-types'],
  ['(module (func (result funcref) (unreachable)))', 'reference-types'],
  ['(module (func (local externref)))', 'reference-types'],
  ['(module (func (local i32 i64) (local i32) (local funcref)))', 'reference-types'],
  ['(module (func (block (result externref) (unreachable)) (drop)))', 'reference-types'],
  ['(module (table 1 externref))', 'reference-types'],
  ['(module (import "a" "t" (table 1 externref)))', 'reference-types'],
  ['(module (table 1 funcref) (table 1 funcref))', 'reference-types'],
  ['(module (import "a" "t" (table 1 funcref)) (table 1 funcref))', 'reference-types'],
  ['(module (global externref (ref.null extern)))', 'reference-types'],
  ['(module (import "a" "g" (global funcref)))', 'reference-types'],
  ['(module (func (drop (ref.null func))))', 'reference-types'],
  ['(module (func $f (drop (ref.func $f))) (export "f" (func $f)))', 'reference-types'],
  ['(module (func $f) (elem declare func $f))', 'reference-types'],
  ['(module (table 1 funcref) (func (drop (table.size))))', 'reference-types'],
  ['(module (table 1 funcref) (func (drop (table.get (i32.const 0)))))', 'reference-types'],
  ['(module (func (drop (select (result i32) (i32.const 0) (i32.const 0) (i32.const 0)))))', 'reference-types'],
  ['(module (func (drop (select (i32.const 0) (i32.const 0) (i32.const 0)))))'],
  ['(module (func (param v128)))', 'simd'],
  ['(module (func (local v128)))', 'simd'],
  ['(module (func (drop (i32x4.splat (i32.const 0)))))', 'simd'],
  ['(module (global v128 (v128.const i32x4 0 0 0 0)))', 'simd'],
  ['(module (memory 1) (func (drop (v128.load (i32.const 0)))))', 'simd'],
  [
    '(module (func (drop (i8x16.relaxed_swizzle (v128.const i32x4 0 0 0 0) (v128.const i32x4 0 0 0 0)))))',
    'simd',
    'relaxed-simd',
  ],
  ['(module (func $f (return_call $f)))', 'tail-call'],
  ['(module (table 1 funcref) (func (return_call_indirect (i32.const 0))))', 'tail-call'],
  ['(module (table 1 funcref) (func (call_indirect (i32.const 0))))'],
  ['(module (global i32 (i32.add (i32.const 1) (i32.const 2))))', 'extended-const'],
  ['(module (global i64 (i64.mul (i64.const 1) (i64.const 2))))', 'extended-const'],
  ['(module (memory 1) (data (i32.sub (i32.const 1) (i32.const 0)) "x"))', 'extended-const'],
  ['(module (table 1 funcref) (func) (elem (i32.mul (i32.const 1) (i32.const 0)) 0))', 'extended-const'],
  ['(module (func (drop (i32.add (i32.const 1) (i32.const 2)))))'],
  ['(module (memory 1) (memory 1))', 'multi-memory'],
  ['(module (import "a" "m" (memory 1)) (memory 1))', 'multi-memory'],
  ['(module (memory i64 1))', 'memory64'],
  ['(module (import "a" "m" (memory i64 1)))', 'memory64'],
  ['(module (table i64 1 funcref))', 'memory64'],
  ['(module (memory 1 2 shared))', 'threads'],
  ['(module (import "a" "m" (memory 1 2 shared)))', 'threads'],
  ['(module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))', 'threads'],
  ['(module (func (atomic.fence)))', 'threads'],
  ['(module (tag))', 'exceptions'],
  ['(module (import "a" "t" (tag (param i32))))', 'exceptions'],
  ['(module (tag) (func (throw 0)))', 'exceptions'],
  ['(module (func (block $h (try_table (catch_all $h)))))', 'exceptions'],
  ['(module (func (param exnref) (throw_ref (local.get 0))))', 'exceptions'],
  ['(module (func (try (do) (catch_all))))', 'legacy-exceptions'],
  ['(module (tag) (func (try (do (throw 0)) (catch 0 (rethrow 0)))))', 'legacy-exceptions'],
  ['(module (func (try (do (try (do) (delegate 0))) (catch_all))))', 'legacy-exceptions'],
  [
    '(module (func (try (do (block (result externref) (unreachable)) (drop)) (catch_all))))',
    'reference-types',
    'legacy-exceptions',
  ],
];

/** The same with types that only the other assembler knows. */
const gcTable: readonly [text: string, ...proposals: Proposal[]][] = [
  ['(module (func (param (ref null func))))', 'reference-types'],
  ['(module (func (param (ref func))))', 'function-references'],
  ['(module (func (param (ref extern))))', 'function-references'],
  ['(module (type $f (func)) (func (export "f") (param (ref null $f))))', 'function-references'],
  ['(module (type $f (func)) (func (export "f") (param (ref $f)) (call_ref $f (local.get 0))))', 'function-references'],
  [
    '(module (type $f (func)) (func (export "f") (param (ref $f)) (return_call_ref $f (local.get 0))))',
    'tail-call',
    'function-references',
  ],
  ['(module (type $f (func)) (func (export "f") (local (ref null $f))))', 'function-references'],
  [
    '(module (func (export "f") (param funcref) (drop (ref.as_non_null (local.get 0)))))',
    'reference-types',
    'function-references',
  ],
  ['(module (func (export "f") (param anyref)))', 'gc'],
  ['(module (func (export "f") (param (ref any))))', 'function-references', 'gc'],
  ['(module (global i32 (i32.const 1)) (global (export "g") i32 (global.get 0)))', 'gc'],
  ['(module (func (export "f") (result i32) (i31.get_s (ref.i31 (i32.const 1)))))', 'gc'],
  ['(module (rec (type $a (func)) (type $b (func (param i32)))) (func (export "f") (type $a)))', 'gc'],
  ['(module (type $a (sub (func))) (func (export "f") (type $a)))', 'gc'],
  ['(module (type $s (struct (field i32))) (func (export "f") (drop (struct.new $s (i32.const 1)))))', 'gc'],
];

const require = createRequire(import.meta.url);
const wabt = await loadWabt();

/** What the reader of wabt calls proposals that real modules use. It knows no others well enough to tell. */
const wabtFeatures: Readonly<Partial<Record<Proposal, string>>> = {
  'mutable-global': 'mutable_globals',
  'sign-extension': 'sign_extension',
  'saturating-float-to-int': 'sat_float_to_int',
  'multi-value': 'multi_value',
  'bulk-memory': 'bulk_memory',
  'reference-types': 'reference_types',
  simd: 'simd',
};

/** Whether wabt takes a module when it knows these proposals and no others. */
function isValidWith(bytes: Uint8Array, proposals: readonly Proposal[]): boolean {
  const features = Object.fromEntries(Object.values(wabtFeatures).map((feature) => [feature, false]));
  for (const proposal of proposals) features[wabtFeatures[proposal] ?? ''] = true;
  try {
    const module = wabt.readWasm(bytes, { readDebugNames: false, ...features });
    try {
      module.validate();
      return true;
    } finally {
      module.destroy();
    }
  } catch {
    return false;
  }
}

describe('listProposals()', () => {
  for (const [text, ...proposals] of table) {
    it(`finds ${proposals.join(', ') || 'nothing'} in ${text}`, () => {
      assert.deepEqual(listProposals(wat(text)), proposals);
    });
  }

  for (const [text, ...proposals] of gcTable) {
    it(`finds ${proposals.join(', ')} in ${text}`, async () => {
      assert.deepEqual(listProposals(await gcWat(text)), proposals);
    });
  }

  it('has a module for every proposal that the assemblers know', () => {
    const seen = new Set([...table, ...gcTable].flatMap(([, ...proposals]) => proposals));
    const missing = proposalNames.filter((name) => !seen.has(name));
    assert.deepEqual(missing, ['custom-page-sizes', 'wide-arithmetic']);
  });

  it('finds page sizes and wide arithmetic, which no assembler here knows', () => {
    const pages = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 4, 1, 0x08, 1, 0]);
    assert.deepEqual(listProposals(pages), ['custom-page-sizes']);
    const wide = wat('(module (func (i64.const 0) (i64.const 0) (drop) (drop)))');
    const at = wide.lastIndexOf(0x1a) - 1;
    wide.set([0xfc, 0x13], at); // i64.add128 in place of the drops; its operands don't matter here
    assert.deepEqual(listProposals(wide), ['wide-arithmetic']);
  });

  it('finds in the output of instrument() what the input used, and nothing else', async () => {
    for (const [what, bytes] of Object.entries(await samples())) {
      const before = listProposals(bytes);
      const after = listProposals(instrument(bytes).bytes);
      assert.deepEqual(after, before, what);
    }
  });

  it('finds in real modules what another reader needs to take them', () => {
    for (const file of ['sql.js/dist/sql-wasm.wasm', '@resvg/resvg-wasm/index_bg.wasm']) {
      const bytes = new Uint8Array(readFileSync(require.resolve(file)));
      const proposals = listProposals(bytes);
      assert.ok(isValidWith(bytes, proposals), `${file}: ${proposals}`);
      for (const proposal of proposals) {
        assert.ok(
          !isValidWith(
            bytes,
            proposals.filter((other) => other !== proposal),
          ),
          `${file} without ${proposal}`,
        );
      }
    }
  });

  it('answers or refuses any bytes, and answers for all that the engine takes', async () => {
    const random = createRandom(11);
    const originals = Object.values(await samples());
    for (let round = 0; round < 1_500; round++) {
      const bytes = mutate(originals[round % originals.length] as Uint8Array, random);
      try {
        listProposals(bytes);
      } catch (error) {
        assert.ok(error instanceof InstrumentError, String(error));
        const isKnownGap = error.code === 'unsupported_feature';
        assert.ok(isKnownGap || !WebAssembly.validate(new Uint8Array(bytes)), `${error.message} in a valid module`);
      }
    }
  });

  it('refuses what it does not know, with the place', () => {
    const bytes = wat('(module (func (unreachable)))', { names: false });
    bytes[bytes.length - 2] = 0xe0; // a stack switching instruction in its place
    assert.throws(
      () => listProposals(bytes),
      (error) => error instanceof InstrumentError && error.code === 'unsupported_feature' && error.offset !== undefined,
    );
  });
});
