import { Worker } from 'node:worker_threads';
import type { SimulationReport } from '@tenon/protocol';
import type { SimulationTask } from '@tenon/run-kit/simulation';
import { formatDuration } from '../duration.ts';
import { locations } from '../locations.ts';
import type { SimulationMessage } from './messages.ts';

export interface TaskOptions {
  readonly timeLimitMs: number;
  /** Stops the simulation. */
  readonly signal: AbortSignal;
}

/**
 * Runs a simulation in another thread, which is terminated at the time limit.
 *
 * @throws the signal's reason when it stops the simulation
 */
export async function runTask(task: SimulationTask, { timeLimitMs, signal }: TaskOptions): Promise<SimulationReport> {
  signal.throwIfAborted();
  const worker = new Worker(locations.simulationWorker, {
    workerData: task,
    // Options of this process are not for its threads.
    execArgv: [],
  });
  const { promise, resolve, reject } = Promise.withResolvers<SimulationReport>();
  const end = (verdict: 'timed_out' | 'errored', detail: string) => resolve(reportWithout(task, verdict, detail));
  let timer: NodeJS.Timeout | undefined;
  let startedMs = performance.now();
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop);
  worker.on('message', (message: SimulationMessage) => {
    if (message.type === 'ended') return resolve(message.report);
    startedMs = performance.now();
    const detail = `It took longer than ${formatDuration(timeLimitMs)} (--time-limit).`;
    timer = setTimeout(() => end('timed_out', detail), timeLimitMs);
  });
  worker.on('error', (error: Error) => end('errored', `The simulation could not be run: ${error.message}`));
  worker.on('exit', () => end('errored', 'The simulation ended without a result.'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }

  function reportWithout(
    { simulation: { name, revision } }: SimulationTask,
    verdict: 'timed_out' | 'errored',
    detail: string,
  ): SimulationReport {
    const durationMs = performance.now() - startedMs;
    return { name, revision, verdict, detail, assertions: [], calls: [], log: [], durationMs, isCut: false };
  }
}
