import { parentPort, workerData } from 'node:worker_threads';
import { fuzzTargets } from './targets.ts';

export interface FuzzJob {
  readonly firstSeed: number;
  /** The worker tries every `step`-th seed. */
  readonly step: number;
  readonly deadlineMs: number;
  /** `[target, seed, heartbeats]`: what is being tried, so that the parent sees what hangs. */
  readonly progress: Int32Array;
}

export interface FuzzFailure {
  readonly target: string;
  readonly seed: number;
  readonly message: string;
}

const { firstSeed, step, deadlineMs, progress } = workerData as FuzzJob;
const targets = Object.entries(await fuzzTargets());

for (let seed = firstSeed; Date.now() < deadlineMs; seed += step) {
  for (const [index, [target, attempt]] of targets.entries()) {
    progress[0] = index;
    progress[1] = seed;
    Atomics.add(progress, 2, 1);
    try {
      await attempt(seed);
    } catch (error) {
      const failure: FuzzFailure = { target, seed, message: String(error).slice(0, 2_000) };
      parentPort?.postMessage(failure);
    }
  }
}
