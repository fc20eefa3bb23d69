import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { WorkerServer } from './messages.ts';
import type { WorkerEnd, WorkerProcess } from './worker-process.ts';

/** After how long a worker that has ended is started again: twice as long each time, */
const firstDelayMs = 100;
/** up to this, */
const maxDelayMs = 30_000;
/** until it has served for so long. */
const soundMs = 60_000;

/** How often in a row a worker may end before it serves. */
const maxFailedStarts = 5;

/** Thrown when a worker ends before it serves, and doesn't say why. */
export class WorkerEndedError extends Error {
  override readonly name = 'WorkerEndedError';
  readonly code = 'worker_ended';

  constructor(number: number, { code, signal }: WorkerEnd) {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    super(`Worker ${number} ended ${how} before it served`);
  }
}

/** A worker that is started again when it ends. */
export interface KeptWorker {
  readonly number: number;
  /** Resolves when the first one serves. Rejects when that can't be: then no other is started. */
  readonly listening: Promise<WorkerServer>;
  /** The one that runs, if one does. */
  readonly current: () => WorkerProcess | undefined;
  /** Ends it, in order, or at once when that takes longer than so many milliseconds. */
  stop(timeoutMs: number): Promise<void>;
}

export interface KeepOptions {
  readonly number: number;
  readonly start: () => WorkerProcess;
  readonly log: Logger;
  /** Called when one has ended that nobody had told to. */
  readonly onLost: (worker: WorkerProcess) => void;
  /** Called once when it is given up, since none can begin to serve any more. */
  readonly onGivenUp: (error: Error) => void;
}

/**
 * Starts a worker, and another one when it ends. A store that is away is waited for; a worker that ends again and again before it
 * serves is given up.
 */
export function keepWorker({ number, start, log, onLost, onGivenUp }: KeepOptions): KeptWorker {
  const stopping = new AbortController();
  let current: WorkerProcess | undefined;

  const begin = (): WorkerProcess => {
    const worker = start();
    current = worker;
    void worker.listening.then((server) => {
      if (server !== undefined) log.info({ worker: number, pid: worker.pid }, 'a worker serves');
    });
    return worker;
  };
  const first = begin();
  const listening = first.listening.then(async (server) => {
    if (server !== undefined) return server;
    const end = await first.ended;
    throw end.error ?? new WorkerEndedError(number, end);
  });

  const keep = async (): Promise<void> => {
    let worker = first;
    if ((await worker.listening) === undefined) return;
    for (let deaths = 0, failedStarts = 0; ; ) {
      const serves = (await worker.listening) !== undefined;
      const sinceMs = performance.now();
      const end = await worker.ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      onLost(worker);
      const { pid } = worker;
      const { error, ...how } = end;
      log.error({ worker: number, pid, ...how, err: error }, 'a worker has ended');
      failedStarts = serves || error?.name === 'UnavailableError' ? 0 : failedStarts + 1;
      if (failedStarts === maxFailedStarts) return onGivenUp(error ?? new WorkerEndedError(number, end));
      deaths = serves && performance.now() - sinceMs >= soundMs ? 1 : deaths + 1;
      await sleep(Math.min(maxDelayMs, firstDelayMs * 2 ** (deaths - 1)), undefined, stopping);
      worker = begin();
    }
  };
  const ended = keep().catch((error: unknown) => {
    if (!stopping.signal.aborted) onGivenUp(error instanceof Error ? error : new Error(String(error)));
  });

  return {
    number,
    listening,
    current: () => current,
    async stop(timeoutMs) {
      stopping.abort();
      current?.stop();
      const deadline = setTimeout(() => {
        log.error({ worker: number, pid: current?.pid }, 'a worker did not end in time');
        current?.kill();
      }, timeoutMs);
      await current?.ended;
      await ended;
      clearTimeout(deadline);
    },
  };
}
