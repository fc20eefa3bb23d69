import { Worker } from 'node:worker_threads';
import { type OpenWorker, PoolError } from './pool.ts';

export interface ThreadOptions {
  /** The module that the thread runs. It answers every message with one message. */
  readonly script: URL;
  /** The largest JavaScript heap of the thread, in MiB. */
  readonly maxHeapMiB: number;
}

/** Workers that are threads. A thread ends between two steps of JavaScript: not for what the engine itself takes long for. */
export function threadWorkers<Task, Result>({ script, maxHeapMiB }: ThreadOptions): OpenWorker<Task, Result> {
  return ({ onResult, onFault }) => {
    const thread = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } });
    thread.on('message', (result: Result) => onResult(result, false));
    thread.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      onFault(new PoolError(isMemory ? 'out_of_memory' : 'crashed', 'The worker thread ended', error));
    });
    thread.on('exit', () => onFault(new PoolError('crashed', 'The worker thread ended')));
    return {
      send: (task) => thread.postMessage(task),
      setRef: (isNeeded) => (isNeeded ? thread.ref() : thread.unref()),
      async end() {
        await thread.terminate();
      },
    };
  };
}
