import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { RunResult } from '@tenon/run-kit';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';
import { locations } from '../locations.ts';
import { type RunMessage, signals, type ThreadTask } from './messages.ts';

export interface RunOptions {
  readonly task: Omit<ThreadTask, 'shared' | 'stdin'>;
  /** Stops the program. */
  readonly signal: AbortSignal;
  /** Stops the program this long after its start. */
  readonly timeoutMs: number | undefined;
  readonly stdin: Io['stdin'];
  /** Whether the program may read stdin. */
  readonly hasStdin: boolean;
  /** How long a stopped program may take to reach a traced call, before its thread is terminated without a trace. */
  readonly graceMs?: number;
  readonly onLog: (text: string) => void;
}

const defaultGraceMs = 2_000;
/** Time for creating the spans of a program that has stopped. */
const spansMs = 60_000;

/**
 * Runs a program in another thread, so that one that never ends can be terminated.
 *
 * @returns its result, until the stop if it was stopped; `undefined` if its thread had to be terminated
 */
export async function runInThread(options: RunOptions): Promise<RunResult | undefined> {
  const { signal, onLog, graceMs = defaultGraceMs } = options;
  const shared = new SharedArrayBuffer(8);
  const flags = new Int32Array(shared);
  const { port1: ours, port2: theirs } = new MessageChannel();
  const task: ThreadTask = { ...options.task, shared, stdin: theirs };
  const worker = new Worker(locations.traceWorker, {
    workerData: task,
    transferList: [theirs],
    // Options of this process are not for its threads.
    execArgv: [],
  });
  const input = createInputPump(options, ours, flags);
  let deadline: NodeJS.Timeout | undefined;
  let timeout: NodeJS.Timeout | undefined;
  const endAfter = (ms: number) => {
    clearTimeout(deadline);
    deadline = setTimeout(() => void worker.terminate(), ms);
  };
  const stop = () => {
    Atomics.store(flags, signals.stop, 1);
    // The program may sleep, or wait for stdin.
    Atomics.notify(flags, signals.stop);
    Atomics.notify(flags, signals.stdin);
    endAfter(graceMs);
  };
  signal.addEventListener('abort', stop);
  try {
    return await new Promise<RunResult | undefined>((resolve, reject) => {
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
          case 'ended':
            return resolve(message.result);
        }
      });
      worker.on('error', (error: Error & { code?: string }) => reject(threadError(error)));
      worker.on('exit', () => resolve(undefined));
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
  return new CliError('out_of_memory', 'Not enough memory for the trace.', {
    hint: 'Trace fewer functions (--allowed, --banned), or only longer calls (--min-duration).',
    cause: error,
  });
}

/** Reads a piece of stdin when the program asks for it, and wakes the thread that waits for it. */
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
      // An empty piece means the end.
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
    /** Closes stdin, because a terminal would keep the process running. */
    end() {
      if (pieces !== undefined) stdin.destroy();
    },
  };
}
