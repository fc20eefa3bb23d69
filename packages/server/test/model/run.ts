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
  const runners = Array.from({ length: threads }, () => startRunner(where));
  return {
    async run({ firstSeed, count }) {
      const share = Math.ceil(count / threads);
      const outcomes = await Promise.all(
        runners.map(({ run }, at) =>
          run({ firstSeed: firstSeed + at * share, count: Math.max(0, Math.min(share, count - at * share)) }),
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
      await Promise.all(runners.map(({ close }) => close()));
    },
  };
}

/** Adds what came about in other sequences. */
export function addTally(sum: Tally, other: Tally): void {
  for (const [name, times] of other) sum.set(name, (sum.get(name) ?? 0) + times);
}

/** A thread; whatever ends it is the outcome of what it was at, and of what it is asked from then on. */
function startRunner(where: WhereToRun) {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: where });
  const ended = Promise.withResolvers<ModelOutcome>();
  let failure = 'The thread has ended.';
  worker.on('error', (error) => {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  });
  worker.once('exit', () => ended.resolve({ failure }));
  return {
    run(seeds: Seeds): Promise<ModelOutcome> {
      const { promise: answered, resolve } = Promise.withResolvers<ModelOutcome>();
      worker.once('message', resolve);
      worker.postMessage(seeds);
      return Promise.race([answered, ended.promise]);
    },
    /** Has it close its store, if it still runs. */
    async close(): Promise<void> {
      worker.postMessage('close');
      await ended.promise;
    },
  };
}
