// Looks for modules that the rewriter gets wrong, and keeps the seeds of those that it finds: the tests try them again.
//
//   npm run fuzz                          for a minute
//   npm run fuzz -- --minutes 60          for an hour
//   npm run fuzz -- --seed 12345          from this seed on; otherwise from one that no run has had
import fs from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { FuzzFailure, FuzzJob } from './worker.ts';

const targetNames = ['callTrees', 'translateToFuzz', 'mutations'];
/** Seeds of the tests are below. */
const firstFreeSeed = 1_000_000;
const hangMs = 60_000;
const maxFailures = 20;
const regressionsFile = path.join(import.meta.dirname, '../regressions.json');

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes);
const firstSeed =
  values.seed === undefined ? firstFreeSeed + Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
if (!(minutes > 0) || !Number.isSafeInteger(firstSeed)) {
  console.error('Expected --minutes to be above 0 and --seed to be a whole number');
  process.exit(2);
}

let failureCount = 0;

/** Tells of a failure, and adds its seed to what the tests try. */
function keep({ target, seed, message }: FuzzFailure): void {
  if (++failureCount > maxFailures) {
    console.error(`More than ${maxFailures} failures: it is time to look at them`);
    process.exit(1);
  }
  console.error(`\n${target}, seed ${seed}: ${message}`);
  const regressions = JSON.parse(fs.readFileSync(regressionsFile, 'utf8')) as Record<string, number[]>;
  const seeds = new Set(regressions[target]).add(seed);
  fs.writeFileSync(regressionsFile, `${JSON.stringify({ ...regressions, [target]: [...seeds] }, null, 2)}\n`);
}

/** Runs one worker to its end, and returns how many attempts it made. */
function runWorker(place: number, step: number): Promise<number> {
  const progress = new Int32Array(new SharedArrayBuffer(12));
  const job: FuzzJob = { firstSeed: firstSeed + place, step, deadlineMs: Date.now() + minutes * 60_000, progress };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: job });
  const current = () => ({ target: targetNames[progress[0] as number] as string, seed: progress[1] as number });
  let heartbeats = -1;
  const watch = setInterval(() => {
    const now = Atomics.load(progress, 2);
    if (now === heartbeats) {
      keep({ ...current(), message: `takes longer than ${hangMs / 1_000} s` });
      void worker.terminate();
    }
    heartbeats = now;
  }, hangMs);
  return new Promise((resolve) => {
    worker.on('message', (failure: FuzzFailure) => keep(failure));
    worker.on('error', (error) => keep({ ...current(), message: `the worker broke down: ${error}` }));
    worker.on('exit', () => {
      clearInterval(watch);
      resolve(Atomics.load(progress, 2));
    });
  });
}

const workerCount = availableParallelism();
console.log(`${workerCount} workers for ${minutes} min, from seed ${firstSeed}`);
const attempts = await Promise.all(Array.from({ length: workerCount }, (_, place) => runWorker(place, workerCount)));
const total = attempts.reduce((sum, count) => sum + count, 0);
console.log(`${total} attempts, ${failureCount} failures${failureCount > 0 ? ` (kept in ${regressionsFile})` : ''}`);
process.exitCode = failureCount > 0 ? 1 : 0;
