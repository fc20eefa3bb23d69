/**
 * Limits that engines share: a module beyond them is refused by every browser, so its instrumented form must not be the
 * first to pass one. They also bound what is allocated for a hostile module.
 * https://webassembly.github.io/spec/js-api/#limits
 */
export const maxTypes = 1_000_000;
export const maxFunctions = 1_000_000;
export const maxImports = 1_000_000;
export const maxExports = 1_000_000;
export const maxGlobals = 1_000_000;
export const maxFunctionBodyBytes = 7_654_321;
/** V8's own; what memories beyond the first hundred would be for, no one has said yet. */
export const maxMemories = 100_000;

/** Ours: no format needs as many, and an object is kept for each. Real modules have some dozens. */
export const maxSections = 100_000;
export const maxNameSubsections = 256;
export const maxProducersBytes = 1_048_576;

/**
 * Ours: how many values an engine may have to check for a module, see `validation-cost.ts`. Engines take some nanoseconds for each. Real
 * modules have less than a hundredth of it.
 */
export const maxCheckedValues = 50_000_000;
/** An instruction that has an engine check no more values than this is like any other. */
export const freeWidth = 16;

/** Ours, on what a configuration may ask for: see `pattern.ts` and `near-name.ts`. Either takes some seconds at most. */
export const maxPatterns = 1_000;
export const maxPatternBytes = 1_000;
export const maxPatternComparisons = 500_000_000;
export const maxNearNames = 10;
export const maxNearNameBytes = 1_000;
export const maxNearNameComparisons = 50_000_000;
/** Ours: with it the output is bounded by a multiple of the input. Real modules need some kilobytes. */
export const maxWrapperBytes = 67_108_864;
