import { type ExtensionPointId, newId, type Verdict, type VersionId } from '@tenon/protocol';
import type { VersionRecord } from '../db/records.ts';
import type { SimulationRunRecord } from '../db/simulation-run-records.ts';
import type { Transaction } from '../db/store.ts';

/** The verdict on a module, after all simulations of an extension point. */
export interface TestResult {
  readonly verdict: Verdict;
  /** Why it did not pass: one sentence, with texts of untrusted modules. */
  readonly detail: string | null;
}

export interface DryRunOptions {
  readonly fairnessKey: string;
  readonly signal?: AbortSignal | undefined;
  /** Takes memory for that many bytes, or throws. */
  readonly reserve?: ((bytes: number) => void) | undefined;
}

/** Tests versions against the simulations of their extension points. */
export interface VersionTester {
  /** Starts the queued test of a version, and waits for an attempt of this process, but not for long. */
  settled(versionId: VersionId): Promise<void>;
  /**
   * Tests a module for a dry run. It stores nothing, and is `errored` if the test can't run.
   *
   * @throws PoolError `aborted`, ClientDisconnected, HttpError `unavailable`
   */
  tryModule(bytes: Uint8Array, id: ExtensionPointId, options: DryRunOptions): Promise<TestResult>;
}

/** Whether a version with this verdict may be bound. Every other verdict keeps it from hosts. */
export function isReleasing(verdict: Verdict): boolean {
  return verdict === 'passed' || verdict === 'none_configured';
}

/** Queues a test of a version, in the transaction of the change that needs it. */
export async function queueTest(
  tx: Transaction,
  { id, userId }: Pick<VersionRecord, 'id' | 'userId'>,
  nowMs: number,
): Promise<SimulationRunRecord> {
  const run: SimulationRunRecord = {
    id: newId('simulationRun'),
    versionId: id,
    userId,
    state: 'queued',
    verdict: null,
    detail: null,
    attempts: 0,
    createdAtMs: nowMs,
    dueAtMs: nowMs,
    startedAtMs: null,
    reportsJson: '[]',
  };
  await tx.insertSimulationRun(run);
  return run;
}
