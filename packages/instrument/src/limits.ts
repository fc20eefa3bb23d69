/**
 * Limits that engines share. Instrumenting must not push a module over one of them. They also bound allocations for
 * hostile modules.
 * https://webassembly.github.io/spec/js-api/#limits
 */
export const maxTypes = 1_000_000;
export const maxFunctions = 1_000_000;
export const maxImports = 1_000_000;
export const maxExports = 1_000_000;
export const maxGlobals = 1_000_000;
export const maxLocals = 50_000;
export const maxFunctionBodyBytes = 7_654_321;
/** The limit of V8. */
export const maxMemories = 100_000;

/** Limits of this package, because an object is kept for each. Real modules have some dozens. */
export const maxSections = 100_000;
export const maxNameSubsections = 256;
export const maxProducersBytes = 1_048_576;

/**
 * The number of values that an engine may have to check for a module; see `validation-cost.ts`. Engines take a few
 * nanoseconds for each. Real modules need less than a hundredth of it.
 */
export const maxCheckedValues = 50_000_000;
/** Instructions with up to this many values are not counted. */
export const freeWidth = 16;

/** Limits of a configuration; see `pattern.ts` and `near-name.ts`. Each bounds the time to a few seconds. */
export const maxPatterns = 1_000;
export const maxPatternBytes = 1_000;
export const maxPatternComparisons = 500_000_000;
export const maxNearNames = 10;
export const maxNearNameBytes = 1_000;
export const maxNearNameComparisons = 50_000_000;
/** Bounds the output by a multiple of the input. Real modules need some kilobytes. */
export const maxWrapperBytes = 67_108_864;
