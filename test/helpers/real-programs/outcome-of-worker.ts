import { Worker } from 'node:worker_threads';

/** What a scenario's worker comes to. In a worker of its own, since packages keep their instance and the engine is intercepted. */
export function outcomeOfWorker<Outcome>(url: URL, workerData: { scenario: string; mode: string }): Promise<Outcome> {
  const worker = new Worker(url, { workerData });
  return new Promise((resolve, reject) => {
    worker.once('message', (outcome: Outcome) => {
      resolve(outcome);
      void worker.terminate();
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The worker ended with ${code} and without an outcome`)));
  });
}
