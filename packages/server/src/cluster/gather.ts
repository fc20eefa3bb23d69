import { gatherReadings, lastingReadings, type ProcessReadings, type Readings } from '../metrics/readings.ts';
import type { Registry } from '../metrics/registry.ts';
import type { KeptWorker } from './keep-worker.ts';
import type { WorkerProcess } from './worker-process.ts';

/** How long a worker may take to tell what it has counted, in milliseconds. */
const answerMs = 1_000;

/** What all workers have counted. */
export interface Gatherer {
  /** Asks all of them. Never rejects. */
  gather(): Promise<Readings>;
  /** Remembers what a worker that is gone had counted when it was last asked. */
  forget(worker: WorkerProcess): void;
}

/** @param own what the primary counts itself */
export function createGatherer(workers: () => readonly KeptWorker[], own: Registry): Gatherer {
  const last = new Map<WorkerProcess, Readings>();
  let gone: Readings = {};

  const ask = async (worker: WorkerProcess): Promise<Readings> => {
    const readings = await worker.readings(answerMs);
    if (readings === undefined) {
      own.counter('tenon_process_scrapes_missed_total', {}).value++;
      return last.get(worker) ?? {};
    }
    if (worker.isListening()) last.set(worker, lastingReadings(readings));
    return readings;
  };
  return {
    async gather() {
      const asked = workers().map(async ({ number, current }): Promise<ProcessReadings> => {
        const worker = current();
        const readings = worker?.isListening() ? await ask(worker) : {};
        return { process: String(number), readings };
      });
      const answers = await Promise.all(asked);
      const primary = { process: 'primary', readings: own.readings() };
      return gatherReadings([primary, ...answers, { process: 'gone', readings: gone }]);
    },
    forget(worker) {
      const readings = last.get(worker);
      if (readings === undefined) return;
      last.delete(worker);
      gone = gatherReadings([
        { process: 'gone', readings: gone },
        { process: 'gone', readings },
      ]);
    },
  };
}
