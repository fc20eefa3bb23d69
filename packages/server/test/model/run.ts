import { Worker } from 'node:worker_threads';
import type { Tally } from './run-sequence.ts';
import type { ModelOutcome, Seeds, WhereToRun } from './worker.ts';

/** Threads that run sequences, each on a store of its own, or on one database for all. */
export interface Runners {
  /**
   * Runs the sequences of some seeds, shared out among the threads; one call after the other.
   *
   * @throws Error for the first sequence on which the service and the model disagree: it names the seed
   */
  run(seeds: Seeds): Promise<Tally>;
  close(): Promise<void>;
}

export function openRunners({ threads, ...where }: WhereToRun & { readonly threads: number }): Runners {
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./worker.ts', import.meta.url), { workerData: where }),
  );
  return {
    async run({ firstSeed, count }) {
      const share = Math.ceil(count / threads);
      const outcomes = await Promise.all(
        workers.map((worker, at) =>
          runOn(worker, { firstSeed: firstSeed + at * share, count: Math.max(0, Math.min(share, count - at * share)) }),
        ),
      );
      const sum: Tally = new Map();
      for (const outcome of outcomes) {
        if ('failure' in outcome) throw new Error(outcome.failure);
        addTally(sum, outcome.tally);
      }
      return sum;
    },
    async close() {
      await Promise.all(workers.map(end));
    },
  };
}

/** Adds what came about in other sequences. */
export function addTally(sum: Tally, other: Tally): void {
  for (const [name, times] of other) sum.set(name, (sum.get(name) ?? 0) + times);
}

function runOn(worker: Worker, seeds: Seeds): Promise<ModelOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<ModelOutcome>();
  worker.once('message', resolve).once('error', reject);
  worker.postMessage(seeds);
  return promise.finally(() => worker.off('message', resolve).off('error', reject));
}

/** Has it close its store. */
function end(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  worker.once('exit', () => resolve());
  worker.postMessage('close');
  return promise;
}
