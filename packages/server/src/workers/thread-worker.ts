import { Worker } from 'node:worker_threads';
import { workerEnvironment } from './own-compile-cache.ts';
import { PoolError, type StartWorker } from './pool.ts';

interface ThreadOptions {
  /** The main module of the thread. It posts one message in response to each message. */
  readonly script: URL;
  readonly maxHeapMiB: number;
}

/** Workers in threads. Terminating a thread waits for native code that is running, such as the validation of a module. */
export function threadWorkers<Task, Result>({ script, maxHeapMiB }: ThreadOptions): StartWorker<Task, Result> {
  return ({ onResult, onFailure }) => {
    const thread = new Worker(script, {
      env: workerEnvironment(),
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
    });
    thread.on('message', (result: Result) => onResult(result, false));
    thread.on('error', (error: Error & { code?: string }) => {
      const code = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out_of_memory' : 'crashed';
      onFailure(new PoolError(code, 'The worker thread failed', error));
    });
    thread.on('exit', () => onFailure(new PoolError('crashed', 'The worker thread exited')));
    return {
      send: (task) => thread.postMessage(task),
      setRef: (isNeeded) => (isNeeded ? thread.ref() : thread.unref()),
      async terminate() {
        await thread.terminate();
      },
    };
  };
}
