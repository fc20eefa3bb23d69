import type { SimulationRunId, UserId, Verdict, VersionId } from '@tenon/protocol';

/**
 * One test of a version against all simulations of its extension point. At most one run of a version is not done. A version in the state
 * `testing` always has one.
 */
export interface SimulationRunRecord {
  readonly id: SimulationRunId;
  readonly versionId: VersionId;
  /** The publisher. The queue is fair by account. */
  readonly userId: UserId;
  readonly state: 'queued' | 'running' | 'done';
  readonly verdict: Verdict | null;
  /** Why it errored. */
  readonly detail: string | null;
  /** How often a process claimed it. Identifies the claim: a process that lost its claim stores no result. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /** When the next attempt is due. While it is `running`, the end of the claim's lease; for a run that is done, its end. */
  readonly dueAtMs: number;
  readonly startedAtMs: number | null;
  /** A list of `SimulationReport`. */
  readonly reportsJson: string;
}

/** How many runs of the queue are in each state. */
export interface SimulationQueueSummary {
  readonly queued: number;
  readonly running: number;
  /** Queued runs that errored, and are tried again. */
  readonly errored: number;
  readonly oldestQueuedAtMs: number | null;
}
