import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type RunFigures, type RunMessage, type RunResult, type RunTask, signals } from './messages.ts';

export interface RunOptions {
  readonly task: Omit<RunTask, 'shared' | 'stdin'>;
  /** Stops the program. */
  readonly signal: AbortSignal;
  /** Stops it after so many milliseconds; what is done before it begins does not count. */
  readonly timeoutMs: number | undefined;
  readonly stdin: Io['stdin'];
  /** Whether the program may read stdin. */
  readonly hasStdin: boolean;
  readonly onLog: (text: string) => void;
}

/** How long it may take to reach a program that is to stop, before its thread is ended: then nothing is known of what it did. */
const graceMs = 2_000;
/** And how long the making of spans may take, once it is reached. */
const spansMs = 60_000;

/**
 * Runs a program in a thread of its own, so that one that never ends can be ended.
 *
 * @returns what it came to; when it was stopped, what there was until then
 */
export async function runInThread(options: RunOptions): Promise<RunResult> {
  const { signal, onLog } = options;
  const shared = new SharedArrayBuffer(8);
  const flags = new Int32Array(shared);
  const { port1: ours, port2: theirs } = new MessageChannel();
  const task: RunTask = { ...options.task, shared, stdin: theirs };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: task,
    transferList: [theirs],
    // What it may be started with is for this process, and not for a thread of it.
    execArgv: [],
  });
  const runs: RunFigures[] = [];
  const input = createInputPump(options, ours, flags);
  let deadline: NodeJS.Timeout | undefined;
  let timeout: NodeJS.Timeout | undefined;
  const endAfter = (ms: number) => {
    clearTimeout(deadline);
    deadline = setTimeout(() => void worker.terminate(), ms);
  };
  const stop = () => {
    Atomics.store(flags, signals.stop, 1);
    Atomics.notify(flags, signals.stdin);
    endAfter(graceMs);
  };
  signal.addEventListener('abort', stop);
  try {
    return await new Promise<RunResult>((resolve, reject) => {
      const unfinished = (): RunResult => ({
        ending: { kind: 'stopped' },
        spans: [],
        timeNano: 0,
        statistics: undefined,
        runs,
        initialPages: undefined,
        output: undefined,
      });
      worker.on('message', (message: RunMessage) => {
        switch (message.type) {
          case 'begins':
            if (options.timeoutMs !== undefined) timeout = setTimeout(stop, options.timeoutMs);
            return;
          case 'stops':
            return endAfter(spansMs);
          case 'wants-input':
            return input.sendMore();
          case 'log':
            return onLog(message.text);
          case 'ran':
            return void runs.push(message.figures);
          case 'ended':
            return resolve({ ...message.result, runs });
        }
      });
      worker.on('error', (error: Error & { code?: string }) => reject(threadError(error)));
      worker.on('exit', () => resolve(unfinished()));
      if (signal.aborted) stop();
    });
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(deadline);
    clearTimeout(timeout);
    input.end();
    ours.close();
    await worker.terminate();
  }
}

function threadError(error: Error & { code?: string }): Error {
  if (error instanceof CliError || error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new CliError('out_of_memory', 'There is not enough memory for what was traced.', {
    hint: 'Trace fewer functions (--allowed, --banned), or longer calls alone (--min-duration).',
    cause: error,
  });
}

/** Reads stdin when the program asks for it, a piece at a time, and wakes the thread that waits for it. */
function createInputPump({ stdin, hasStdin }: RunOptions, port: MessagePort, flags: Int32Array) {
  let pieces: AsyncIterator<unknown> | undefined;
  let isReading = false;
  const send = (bytes: Uint8Array) => {
    port.postMessage(bytes);
    Atomics.add(flags, signals.stdin, 1);
    Atomics.notify(flags, signals.stdin);
  };
  const readOne = async (): Promise<Uint8Array> => {
    if (!hasStdin) return new Uint8Array();
    pieces ??= stdin[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return new Uint8Array();
      const piece = typeof value === 'string' ? new TextEncoder().encode(value) : (value as Uint8Array);
      // An empty piece would say that there is no more.
      if (piece.length > 0) return Uint8Array.from(piece);
    }
  };
  return {
    sendMore() {
      if (isReading) return;
      isReading = true;
      readOne()
        .catch(() => new Uint8Array())
        .then((bytes) => {
          isReading = false;
          send(bytes);
        });
    },
    /** Nobody reads any more: a terminal would keep the process. */
    end() {
      if (pieces !== undefined) stdin.destroy();
    },
  };
}
