import { Worker } from 'node:worker_threads';
import type { Answer, Call, ThreadData } from './plugin-thread.ts';

/** A plugin trapped, failed, or took too long. */
export class PluginError extends Error {}

/**
 * Runs each plugin in its own thread, so an endless loop delays only its own guest, and is stopped. A guest's thread is replaced
 * when its module changes; open calls end in the old one.
 */
export interface PluginRunner {
  call(guestKey: string, module: WebAssembly.Module, call: PluginCall): Promise<string>;
  close(): Promise<void>;
}

/** A call of a plugin. */
export type PluginCall = Omit<Call, 'number'>;

interface Thread {
  readonly module: WebAssembly.Module;
  call(call: PluginCall): Promise<string>;
  /** Ends the thread once its open calls have ended. */
  retire(): void;
  /** Ends the thread now. */
  stop(): Promise<void>;
}

export function createPluginRunner({
  timeoutMs = 1000,
  trace,
}: {
  timeoutMs?: number;
  trace?: string | undefined;
}): PluginRunner {
  const threads = new Map<string, Thread>();
  return {
    call(guestKey, module, call) {
      let thread = threads.get(guestKey);
      if (thread?.module !== module) {
        thread?.retire();
        const started = startThread({ module, trace }, timeoutMs, () => {
          if (threads.get(guestKey) === started) threads.delete(guestKey);
        });
        thread = started;
        threads.set(guestKey, thread);
      }
      return thread.call(call);
    },
    async close() {
      await Promise.all([...threads.values()].map((thread) => thread.stop()));
    },
  };
}

function startThread(data: ThreadData, timeoutMs: number, onEnd: () => void): Thread {
  const worker = new Worker(new URL('./plugin-thread.ts', import.meta.url), { workerData: data });
  const waiting = new Map<number, { settle(answer: Partial<Answer>): void }>();
  const begun = Promise.withResolvers<void>();
  let calls = 0;
  let isRetired = false;
  worker.on('message', (message: 'begun' | Answer) => {
    if (message === 'begun') begun.resolve();
    else waiting.get(message.number)?.settle(message);
  });
  worker.on('error', (error) => end(String(error))); // it could not be instantiated
  worker.on('exit', () => end('it was stopped'));

  function end(error: string): void {
    onEnd();
    for (const { settle } of waiting.values()) settle({ error });
  }

  return {
    module: data.module,
    call(call) {
      const number = calls++;
      return new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const limit = (): void => {
          if (!waiting.has(number)) return;
          timer = setTimeout(() => {
            settle({ error: `it took more than ${timeoutMs} ms` });
            onEnd(); // the next call gets another thread
            void worker.terminate(); // other calls in this thread fail too
          }, timeoutMs);
        };
        const settle = ({ output, error }: Partial<Answer>): void => {
          clearTimeout(timer);
          waiting.delete(number);
          if (error === undefined) resolve(output ?? '');
          else reject(new PluginError(`${call.export}() failed: ${error}`));
          if (isRetired && waiting.size === 0) void worker.terminate();
        };
        waiting.set(number, { settle });
        void begun.promise.then(limit); // the start of the thread does not count
        worker.postMessage({ number, ...call } satisfies Call);
      });
    },
    retire() {
      isRetired = true;
      if (waiting.size === 0) void worker.terminate();
    },
    async stop() {
      await worker.terminate();
    },
  };
}
