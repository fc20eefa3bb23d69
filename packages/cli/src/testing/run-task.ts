import { Worker } from 'node:worker_threads';
import type { SimulationReport } from '@tenon/protocol';
import type { CallsResult, CallsTask, PluginCoverage, SimulationTask } from '@tenon/run-kit/simulation';
import { formatDuration } from '../duration.ts';
import { locations } from '../locations.ts';
import type { ThreadMessage, ThreadResult, ThreadTask } from './messages.ts';

export interface TaskOptions {
  readonly timeLimitMs: number;
  /** Stops the task. */
  readonly signal: AbortSignal;
  /** Receives the plugin's coverage if it is measured. */
  readonly onCoverage?: (coverage: PluginCoverage) => void;
}

/**
 * Runs a simulation in another thread, which is terminated at the time limit.
 *
 * @throws the signal's reason when it stops the simulation
 */
export async function runTask(task: SimulationTask, options: TaskOptions): Promise<SimulationReport> {
  const ending = await runInThread<SimulationReport>({ kind: 'simulation', task }, options);
  if ('result' in ending) return ending.result;
  const { name, revision } = task.simulation;
  const { reason, durationMs } = ending;
  const [verdict, detail] =
    reason === 'time'
      ? (['timed_out', `It took longer than ${formatDuration(options.timeLimitMs)} (--time-limit).`] as const)
      : (['errored', reason ?? 'The simulation ended without a result.'] as const);
  return { name, revision, verdict, detail, assertions: [], calls: [], log: [], durationMs, isCut: false };
}

/**
 * Calls an export of a plugin in another thread, which is terminated at the time limit.
 *
 * @throws the signal's reason when it stops the calls
 */
export async function runCalls(task: CallsTask, options: TaskOptions): Promise<CallsResult> {
  const ending = await runInThread<CallsResult>({ kind: 'calls', task }, options);
  if ('result' in ending) return ending.result;
  const limit = formatDuration(options.timeLimitMs);
  const error = ending.reason === 'time' ? `it took longer than ${limit}` : (ending.reason ?? 'its thread ended');
  return { outputs: [], error };
}

type Ending<Result> =
  | { readonly result: Result }
  | { readonly reason: string | undefined; readonly durationMs: number };

async function runInThread<Result extends ThreadResult>(
  task: ThreadTask,
  { timeLimitMs, signal, onCoverage = () => {} }: TaskOptions,
): Promise<Ending<Result>> {
  signal.throwIfAborted();
  const worker = new Worker(locations.simulationWorker, {
    workerData: task,
    // Options of this process are not for its threads.
    execArgv: [],
  });
  const { promise, resolve, reject } = Promise.withResolvers<Ending<Result>>();
  let timer: NodeJS.Timeout | undefined;
  let startedMs = performance.now();
  const end = (reason: string | undefined) => resolve({ reason, durationMs: performance.now() - startedMs });
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop);
  worker.on('message', (message: ThreadMessage) => {
    if (message.type === 'ended') return resolve({ result: message.result as Result });
    if (message.type === 'coverage') return onCoverage(message.coverage);
    startedMs = performance.now();
    timer = setTimeout(() => end('time'), timeLimitMs);
  });
  worker.on('error', (error: Error) => end(`The plugin could not be run: ${error.message}`));
  worker.on('exit', () => end(undefined));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
