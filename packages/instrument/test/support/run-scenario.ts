import { Worker } from 'node:worker_threads';
import type { Mode, Outcome } from './scenario-worker.ts';

/** Runs a scenario in a worker of its own: packages keep their instance, and the engine is intercepted. */
export function runScenario(scenario: string, mode: Mode): Promise<Outcome> {
  const worker = new Worker(new URL('./scenario-worker.ts', import.meta.url), {
    workerData: { scenario, mode },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', (outcome: Outcome) => {
      resolve(outcome);
      void worker.terminate();
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The worker ended with ${code} and without an outcome`)));
  });
}
