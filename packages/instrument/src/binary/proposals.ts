/**
 * Proposals since the first version of WebAssembly, in the order of lists, one bit each. The names are those of wasm-tools:
 * https://docs.rs/wasmparser/latest/wasmparser/struct.WasmFeatures.html
 */
export const proposalNames = [
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

/** A proposal by its name, as {@link listProposals} returns it. */
export type Proposal = (typeof proposalNames)[number];

/** `bulk-memory` as `bulkMemory`. */
type CamelCase<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;

const bitOf = (name: Proposal): number => 1 << proposalNames.indexOf(name);

export const ProposalBit: Readonly<Record<'none' | CamelCase<Proposal> | 'someExceptions', number>> = {
  none: 0,
  mutableGlobal: bitOf('mutable-global'),
  signExtension: bitOf('sign-extension'),
  saturatingFloatToInt: bitOf('saturating-float-to-int'),
  multiValue: bitOf('multi-value'),
  bulkMemory: bitOf('bulk-memory'),
  referenceTypes: bitOf('reference-types'),
  simd: bitOf('simd'),
  relaxedSimd: bitOf('relaxed-simd'),
  tailCall: bitOf('tail-call'),
  extendedConst: bitOf('extended-const'),
  multiMemory: bitOf('multi-memory'),
  memory64: bitOf('memory64'),
  threads: bitOf('threads'),
  exceptions: bitOf('exceptions'),
  legacyExceptions: bitOf('legacy-exceptions'),
  functionReferences: bitOf('function-references'),
  gc: bitOf('gc'),
  customPageSizes: bitOf('custom-page-sizes'),
  wideArithmetic: bitOf('wide-arithmetic'),
  /** Tags and `throw`, which legacy and exnref exception handling share. */
  someExceptions: 1 << proposalNames.length,
};

/** The names of the proposals whose bits are set. */
export function namesOfBits(bits: number): Proposal[] {
  const { someExceptions, exceptions, legacyExceptions } = ProposalBit;
  const isSettled = (bits & someExceptions) === 0 || (bits & (exceptions | legacyExceptions)) !== 0;
  const settled = isSettled ? bits : bits | exceptions;
  return proposalNames.filter((_, index) => (settled & (1 << index)) !== 0);
}
