/**
 * The WebAssembly proposals beyond the first version that an extension point may allow: those that `@tenon/instrument` detects. The names
 * are those of wasm-tools' features.
 */
export const wasmProposals = [
  'mutable-global',
  'sign-extension',
  'saturating-float-to-int',
  'multi-value',
  'bulk-memory',
  'reference-types',
  'simd',
  'relaxed-simd',
  'tail-call',
  'extended-const',
  'multi-memory',
  'memory64',
  'threads',
  'exceptions',
  'legacy-exceptions',
  'function-references',
  'gc',
  'custom-page-sizes',
  'wide-arithmetic',
] as const;

export type WasmProposal = (typeof wasmProposals)[number];
