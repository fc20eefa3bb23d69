import cluster, { type Worker } from 'node:cluster';
import type { CountedAllowances } from '../allowances.ts';
import type { Config } from '../config.ts';
import type { FirstStart } from '../first-start.ts';
import type { Readings } from '../metrics/readings.ts';
import { closeUnanswered } from './close-unanswered.ts';
import { countForWorker } from './count-for-worker.ts';
import { fromWords } from './error-words.ts';
import type { ToPrimary, ToWorker, WorkerServer } from './messages.ts';

/** How a worker has ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not begin to serve, if it was able to tell. */
  readonly error: Error | undefined;
}

/** A worker as its primary sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Resolves when it serves; with `undefined` when it has ended before. */
  readonly listening: Promise<WorkerServer | undefined>;
  readonly ended: Promise<WorkerEnd>;
  /** Whether it serves. */
  readonly isListening: () => boolean;
  /** Has it finish what it is at, and end; one that answers nobody yet ends at once. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
  /** What it has counted; `undefined` when it doesn't answer in time. */
  readings(timeoutMs: number): Promise<Readings | undefined>;
}

export interface WorkerOrder {
  readonly number: number;
  readonly config: Config;
  readonly start: FirstStart | undefined;
}

/** Starts a worker, and counts for it. */
export function startWorker(order: WorkerOrder, allowances: CountedAllowances): WorkerProcess {
  const worker = cluster.fork();
  closeUnanswered(worker);
  const listening = Promise.withResolvers<WorkerServer | undefined>();
  const ended = Promise.withResolvers<WorkerEnd>();
  const asked = new Map<number, (readings: Readings | undefined) => void>();
  const send = (message: ToWorker): void => sendTo(worker, message);
  const counts = countForWorker(allowances, (id, answer) => send({ kind: 'answer', id, answer }));
  let state: 'starting' | 'answering' | 'listening' | 'ended' = 'starting';
  let error: Error | undefined;
  let lastId = 0;

  worker.on('message', (message: ToPrimary) => {
    switch (message.kind) {
      case 'here':
        return send({ kind: 'serve', ...order });
      case 'listening':
        state = 'listening';
        return listening.resolve(message.server);
      case 'failed':
        error = fromWords(message.error);
        return;
      case 'told':
        return asked.get(message.id)?.(message.readings);
      default:
        return counts.take(message);
    }
  });
  worker.once('listening', () => {
    state = 'answering';
  });
  worker.on('error', () => {}); // what it could not be told it needs no more: it ends, or has ended
  worker.once('exit', (code: number | null, signal: string | null) => {
    state = 'ended';
    counts.end();
    for (const answer of [...asked.values()]) answer(undefined);
    listening.resolve(undefined);
    ended.resolve({ code, signal, error });
  });

  const kill = (): void => void worker.process.kill('SIGKILL');
  return {
    pid: worker.process.pid,
    listening: listening.promise,
    ended: ended.promise,
    isListening: () => state === 'listening',
    stop: () => (state === 'starting' ? kill() : send({ kind: 'stop' })),
    kill,
    readings(timeoutMs) {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Readings | undefined>();
      const answer = (readings: Readings | undefined): void => {
        clearTimeout(timer);
        asked.delete(id);
        resolve(readings);
      };
      const timer = setTimeout(answer, timeoutMs, undefined);
      asked.set(id, answer);
      send({ kind: 'tell', id });
      return promise;
    },
  };
}

function sendTo(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
