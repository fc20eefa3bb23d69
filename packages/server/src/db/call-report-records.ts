import type { VersionId } from '@tenon/protocol';

/** Sums of reports about the calls of a version. */
export interface CallSums {
  readonly calls: number;
  /** Failed calls. They are among the calls. */
  readonly errors: number;
  /** The counts of calls by the buckets of their durations. */
  readonly durations: Readonly<Record<string, number>>;
  /** The largest memory; `null` if none was reported. */
  readonly memoryBytes: number | null;
}

/** What a row of reports belongs to. */
export interface CallReportKey {
  /** The version that is rolled out. */
  readonly versionId: VersionId;
  /** Whether the reports are about this version or about the one before. */
  readonly series: 'version' | 'previous';
  /** `step`: the sums of a whole step, for the decision to halt. `slot`: those of a period, for charts. */
  readonly kind: 'step' | 'slot';
  /** When the step or the period began. */
  readonly fromMs: number;
}

export interface CallReportRecord extends CallReportKey, CallSums {}
