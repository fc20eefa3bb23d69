export type { ExternalKind } from './binary/imports.ts';
export { countTypes } from './binary/module.ts';
export type { ProducersField, ProducersValue } from './binary/producers.ts';
export { type Proposal, proposalNames } from './binary/proposals.ts';
export type {
  ChangedExport,
  ChangedFunction,
  ChangedSection,
  ComparedFunction,
  ComparedModule,
  ComparisonLimits,
  Declaration,
  ModuleComparison,
  Shortened,
} from './compare/comparison.ts';
export { compareModules } from './compare-modules.ts';
export {
  type CoverageBlock,
  type CoverageCounts,
  type CoverageMap,
  type CoveredFunction,
  readCounters,
  readCoverageMap,
} from './coverage/coverage-map.ts';
export {
  describeModule,
  type ExportDescription,
  type FunctionSignature,
  type ImportDescription,
  isInstrumented,
  type MemoryDescription,
  type ModuleDescription,
} from './describe.ts';
export { InstrumentError, type InstrumentErrorCode } from './errors.ts';
export { type InstrumentReport, type InstrumentResult, instrument } from './instrument.ts';
export { type FunctionDescription, type FunctionList, listFunctions } from './list-functions.ts';
export { listProducers } from './list-producers.ts';
export { inspectModule, listProposals, type ModuleInspection } from './list-proposals.ts';
export { listSections, type SectionDescription } from './list-sections.ts';
export type { Note } from './notes.ts';
export { readOffsetMap } from './rewrite/code-map.ts';
export { type OffsetMap, originalOffset } from './rewrite/offset-map.ts';
export {
  type ExtraOptions,
  type InstrumentOptions,
  type ProgressListener,
  parseConfig,
  parseExtraOptions,
} from './select/config.ts';
export { version } from './version.ts';
