/** Reads coverage counters, and reports the lines and functions that have run. */
export {
  type CoverageBlock,
  type CoverageCounts,
  type CoverageMap,
  type CoveredFunction,
  readCounters,
  readCoverageMap,
} from './coverage-map.ts';
export { type CoveragePageOptions, coveragePages } from './html.ts';
export { lcov } from './lcov.ts';
export { type CoverageProfile, formatProfile, mergeProfiles, parseProfile } from './profile.ts';
export {
  type CoverageReport,
  type CoverageReportOptions,
  type CoverageTotals,
  createCoverageReport,
  type FileCoverage,
  type FunctionCoverage,
  type LineCoverage,
  percentOf,
  type Share,
  totalsOf,
  uncoveredRanges,
} from './report.ts';
