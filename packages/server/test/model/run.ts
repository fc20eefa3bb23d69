import { Worker } from 'node:worker_threads';
import type { Tally } from './run-sequence.ts';
import type { ModelJob, ModelOutcome } from './worker.ts';

/**
 * Runs as many sequences as asked, shared out among threads.
 *
 * @throws Error for the first sequence on which the service and the model disagree: it names the seed
 */
export async function runSequences(options: ModelJob & { readonly threads: number }): Promise<Tally> {
  const { firstSeed, count, threads, databaseUrl } = options;
  const share = Math.ceil(count / threads);
  const jobs = Array.from({ length: threads }, (_, at) => ({
    firstSeed: firstSeed + at * share,
    count: Math.min(share, count - at * share),
    databaseUrl,
  }));
  const outcomes = await Promise.all(jobs.map(runJob));
  const sum: Tally = new Map();
  for (const outcome of outcomes) {
    if ('failure' in outcome) throw new Error(outcome.failure);
    addTally(sum, outcome.tally);
  }
  return sum;
}

/** Adds what came about in other sequences. */
export function addTally(sum: Tally, other: Tally): void {
  for (const [name, times] of other) sum.set(name, (sum.get(name) ?? 0) + times);
}

function runJob(job: ModelJob): Promise<ModelOutcome> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: job });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
