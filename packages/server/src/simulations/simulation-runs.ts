import type { UserId, Verdict, VersionId } from '@tenon/protocol';
import type { Logger } from 'pino';
import { DamagedContentError } from '../blobs/stored-contents.ts';
import type { SimulationQueueSummary, SimulationRunRecord } from '../db/simulation-run-records.ts';
import { ReadOnlyError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import type { VersionTester } from '../plugins/version-tester.ts';
import { commitVerdict, type Outcome } from './commit-verdict.ts';
import { runSimulations, type SimulationsResult, testVersion } from './run-simulations.ts';
import { reserveFor, takeTurn } from './simulation-inputs.ts';

/*
 * The queue of tests. A publish inserts its run in the transaction of the version. Each process takes runs that are due:
 *
 *   claim    one transaction takes the run until the end of a lease, and counts the attempt
 *   test     in confined processes, while the lease is renewed
 *   commit   one transaction checks the claim, stores the result, and moves the bindings: `commitVerdict()`
 *
 * After a crash, the run is due again when the lease has ended. A process whose lease has ended commits nothing, because the number of
 * attempts has changed.
 */

export interface SimulationRuns extends VersionTester {
  /** How many attempts of this process had each verdict. */
  readonly counts: Readonly<Record<Verdict, number>>;
  /** The queue as last read. */
  readonly state: { readonly queue: SimulationQueueSummary | undefined };
  /** Takes runs while any is due. */
  wake(): void;
  /** Looks for due runs regularly: those of processes that ended, and those that are repeated. */
  start(): void;
  /** Aborts the tests of this process, and queues them again. */
  stop(): Promise<void>;
}

type RunsDeps = Omit<Deps, 'tester'>;

export function createSimulationRuns(deps: RunsDeps, log?: Pick<Logger, 'warn' | 'error'>): SimulationRuns {
  const { store, clock, settings } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const counts = { passed: 0, failed: 0, errored: 0, timed_out: 0, none_configured: 0 };
  const state = { queue: undefined as SimulationQueueSummary | undefined };
  const waiting = new Map<VersionId, Set<() => void>>();
  const workers = new Set<Promise<void>>();
  /** How many runs of each account this process tests. The tests of one account must not keep others from starting. */
  const running = new Map<UserId, number>();
  const maxOfAccount = Math.max(1, settings.simulationsAtOnce - 1);
  const busyAccounts = () => [...running].flatMap(([id, count]) => (count < maxOfAccount ? [] : [id]));
  let isWoken = false;
  let timer: NodeJS.Timeout | undefined;

  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      const due = await store.read.dueSimulationRun(clock(), busyAccounts());
      if (due === undefined) {
        if (!isWoken) return;
        isWoken = false;
        continue;
      }
      const count = running.get(due.userId) ?? 0;
      if (count >= maxOfAccount) continue;
      running.set(due.userId, count + 1);
      try {
        const nowMs = clock();
        const lease = { nowMs, untilMs: nowMs + settings.simulationLeaseMs };
        const run = await store.write((tx) => tx.claimSimulationRun(due.id, lease));
        if (run !== undefined) await attempt(run);
      } finally {
        running.set(due.userId, (running.get(due.userId) ?? 1) - 1);
        if (running.get(due.userId) === 0) running.delete(due.userId);
      }
    }
  };

  const attempt = async (run: SimulationRunRecord): Promise<void> => {
    try {
      const outcome = await test(run);
      if (outcome === 'requeued') isWoken = true;
    } finally {
      for (const resolve of waiting.get(run.versionId) ?? []) resolve();
    }
  };

  const test = async (run: SimulationRunRecord): Promise<Outcome> => {
    const version = await store.read.versionById(run.versionId);
    const extensionPoint = version && (await store.read.extensionPoint(version.extensionPointId));
    if (version === undefined || extensionPoint === undefined) {
      await store.write((tx) => tx.deleteSimulationRun(run.id));
      return 'lost';
    }
    const lease = holdLease(run);
    try {
      const result = await resultOf(() => testVersion(deps, version, extensionPoint, lease.signal));
      if (lease.signal.aborted) return await release(run);
      const outcome = await commitVerdict(deps, run, extensionPoint, result);
      if (outcome === 'committed' || outcome === 'postponed') counts[result.verdict]++;
      if (outcome === 'postponed') log?.warn({ runId: run.id, reason: result.detail }, 'simulations: errored');
      return outcome;
    } finally {
      lease.end();
    }
  };

  /** Renews the lease of a claim. Aborts when the claim is lost, or the process stops. */
  const holdLease = (run: SimulationRunRecord) => {
    const lost = new AbortController();
    const renew = async (): Promise<void> => {
      const isHeld = await store.write((tx) => tx.renewSimulationRun(run, clock() + settings.simulationLeaseMs));
      if (!isHeld) lost.abort();
    };
    const renewal = setInterval(() => void renew().catch(() => {}), settings.simulationLeaseMs / 3);
    renewal.unref();
    return { signal: AbortSignal.any([signal, lost.signal]), end: () => clearInterval(renewal) };
  };

  /** Returns a claim, so that another process can take the run at once. */
  const release = async (run: SimulationRunRecord): Promise<Outcome> => {
    await store.write(async (tx) => {
      const current = await tx.simulationRun(run.id);
      if (current?.state !== 'running' || current.attempts !== run.attempts) return;
      await tx.updateSimulationRun(run.id, { state: 'queued', dueAtMs: clock() });
    });
    return 'lost';
  };

  const wake = (): void => {
    isWoken = true;
    // More than there are processes, whose queue is fair.
    if (signal.aborted || workers.size >= settings.simulationsAtOnce + 2) return;
    const worker = work().catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof ReadOnlyError)) log?.error({ err: error }, 'simulations: cannot run');
    });
    workers.add(worker);
    void worker.finally(() => workers.delete(worker));
  };

  return {
    async tryModule(bytes, id, options) {
      const extensionPoint = await store.read.extensionPoint(id);
      if (extensionPoint === undefined || extensionPoint.simulationsRevision === 0) return noSimulations;
      return takeTurn(deps, options, async () => {
        const simulations = await store.read.simulations(id);
        if (options.reserve !== undefined) reserveFor(options.reserve, simulations, 0);
        const result = await resultOf(() => runSimulations(deps, bytes, extensionPoint, simulations, options));
        options.signal?.throwIfAborted();
        return result;
      });
    },
    counts,
    state,
    wake,
    async settled(versionId) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiters = waiting.get(versionId) ?? new Set();
      waiting.set(versionId, waiters.add(resolve));
      const timeout = setTimeout(resolve, settings.simulationWaitMs);
      wake();
      await promise;
      clearTimeout(timeout);
      waiters.delete(resolve);
      if (waiters.size === 0) waiting.delete(versionId);
    },
    start() {
      const poll = async (): Promise<void> => {
        state.queue = await store.read.simulationQueue();
        if (state.queue.queued + state.queue.running > 0) wake();
      };
      timer = setInterval(() => void poll().catch(() => {}), settings.simulationPollMs);
      timer.unref();
      void poll().catch(() => {});
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

const noSimulations = { verdict: 'none_configured', detail: null } as const;

/** The result of a test; `errored` if it could not run. */
async function resultOf(test: () => Promise<SimulationsResult>): Promise<SimulationsResult> {
  try {
    return await test();
  } catch (error) {
    const detail =
      error instanceof DamagedContentError ? error.message : `The server could not run it: ${String(error)}`;
    return { verdict: 'errored', detail, reports: [] };
  }
}
