import { Worker } from 'node:worker_threads';
import { createFairQueue } from './fair-queue.ts';

/** Why a task has no result. */
export type PoolFault = 'queue_full' | 'aborted' | 'timed_out' | 'crashed' | 'out_of_memory' | 'closed';

export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly code: PoolFault;

  constructor(code: PoolFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** How a task ended. */
export type PoolOutcome = 'done' | PoolFault;

export interface PoolOptions<Task> {
  /** The module that each worker runs. It answers every message with one message. */
  readonly script: URL;
  /** How many workers there are; one more begins when all of these work for one caller, and another one waits. */
  readonly size: number;
  /** How many tasks may wait for a worker. */
  readonly maxQueued: number;
  /** The largest JavaScript heap of a worker, in MiB. */
  readonly maxHeapMiB: number;
  /** What is sent to a worker for a task, made when it begins: what waits holds no copy. Default: the task itself. */
  readonly pack?: ((task: Task) => Parcel) | undefined;
  /** Called when a task has ended, with how long that took, waiting included, and how long it waited. */
  readonly onEnd?: ((task: Task, outcome: PoolOutcome, durationMs: number, waitedMs: number) => void) | undefined;
}

/** What goes to a worker. */
export interface Parcel {
  readonly task: unknown;
  /** What is moved to the worker, not copied. */
  readonly transfer: readonly ArrayBuffer[];
}

export interface RunOptions {
  /** Who asks: those who wait take turns. Default: one caller for all who don't say. */
  readonly caller?: string | undefined;
  /** How long the worker may take, from when it begins. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Pool<Task, Result> {
  /** @throws PoolError */
  run(task: Task, options: RunOptions): Promise<Result>;
  /** How many tasks wait. */
  readonly queued: number;
  /** How many tasks are worked on. */
  readonly running: number;
  /** Ends all workers; what runs or waits fails as `closed`. */
  close(): Promise<void>;
}

interface Job<Task, Result> {
  readonly task: Task;
  readonly caller: string;
  readonly options: RunOptions;
  readonly onBegin: () => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: PoolError) => void;
}

/** A thread with what it is doing. */
interface Seat<Task, Result> {
  readonly worker: Worker;
  job: Job<Task, Result> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Runs tasks in a fixed number of threads, each started when it is first needed. A task whose client goes away, or whose time
 * is up, is ended with its thread, and another one takes its place when needed: what runs in it is one synchronous
 * computation that can't be told to stop, and to let it run to its end would keep a core busy for nobody.
 *
 * Nobody has to wait for all that another caller sends: callers take turns, whoever has the most waiting gives way when the queue
 * is full, and there is a worker for others when all are at one caller's.
 */
export function createPool<Task, Result>(options: PoolOptions<Task>): Pool<Task, Result> {
  const idle: Seat<Task, Result>[] = [];
  const seats = new Set<Seat<Task, Result>>();
  const queue = createFairQueue<Job<Task, Result>>(options.maxQueued);
  let isClosed = false;

  const mayBegin = (caller: string): boolean => {
    if (seats.size - idle.length < options.size) return true;
    const served = new Set(Array.from(seats, ({ job }) => job?.caller));
    served.delete(undefined);
    return seats.size - idle.length === options.size && served.size === 1 && !served.has(caller);
  };
  const next = (): void => {
    for (let job = queue.next(mayBegin); job !== undefined; job = queue.next(mayBegin))
      begin(idle.pop() ?? open(), job);
  };

  const open = (): Seat<Task, Result> => {
    const worker = new Worker(options.script, { resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMiB } });
    const seat: Seat<Task, Result> = { worker, job: undefined, timer: undefined };
    worker.unref(); // a process that has nothing else to do need not wait for idle threads
    worker.on('message', (result: Result) => {
      if (!seats.has(seat)) return; // it was ended while its answer was under way
      const job = leave(seat);
      idle.push(seat);
      job?.resolve(result);
      next();
    });
    worker.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      end(seat, new PoolError(isMemory ? 'out_of_memory' : 'crashed', 'The worker thread ended', error));
    });
    worker.on('exit', () => end(seat, new PoolError('crashed', 'The worker thread ended')));
    seats.add(seat);
    return seat;
  };

  const begin = (seat: Seat<Task, Result>, job: Job<Task, Result>): void => {
    const { timeoutMs, signal } = job.options;
    job.onBegin();
    seat.job = job;
    seat.timer = setTimeout(() => {
      end(seat, new PoolError('timed_out', `The task took longer than ${timeoutMs} ms`));
    }, timeoutMs);
    const onAbort = (): void => {
      if (seat.job === job) end(seat, new PoolError('aborted', 'Nobody waits for the task any more'));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    seat.worker.ref();
    const { task, transfer } = options.pack?.(job.task) ?? { task: job.task, transfer: [] };
    seat.worker.postMessage(task, [...transfer]);
  };

  /** Takes the seat's job off it. */
  const leave = (seat: Seat<Task, Result>): Job<Task, Result> | undefined => {
    const { job } = seat;
    clearTimeout(seat.timer);
    seat.job = undefined;
    seat.worker.unref();
    return job;
  };

  /** Ends a thread with what it does. Called again for the same one, it does nothing. */
  const end = (seat: Seat<Task, Result>, error: PoolError): void => {
    if (!seats.delete(seat)) return;
    const at = idle.indexOf(seat);
    if (at !== -1) idle.splice(at, 1);
    const job = leave(seat);
    void seat.worker.terminate();
    job?.reject(error);
    next();
  };

  const run = (task: Task, runOptions: RunOptions, onBegin: () => void): Promise<Result> => {
    const { signal, caller = '' } = runOptions;
    return new Promise<Result>((resolve, reject) => {
      if (isClosed) return reject(new PoolError('closed', 'The pool is closed'));
      if (signal?.aborted) return reject(new PoolError('aborted', 'Nobody waits for the task any more'));
      const job: Job<Task, Result> = { task, caller, options: runOptions, onBegin, resolve, reject };
      // Whoever waits may not begin, so that nobody is passed by.
      if (mayBegin(caller)) return begin(idle.pop() ?? open(), job);
      const displaced = queue.add(caller, job);
      displaced?.item.reject(new PoolError('queue_full', `${queue.size} tasks wait already`));
      const leaveQueue = (): void => {
        if (queue.delete(caller, job)) reject(new PoolError('aborted', 'Nobody waits for the task any more'));
      };
      signal?.addEventListener('abort', leaveQueue, { once: true });
    });
  };

  return {
    async run(task, runOptions) {
      const startedAt = performance.now();
      let begunAt: number | undefined;
      const ended = (outcome: PoolOutcome): void => {
        const endedAt = performance.now();
        options.onEnd?.(task, outcome, endedAt - startedAt, (begunAt ?? endedAt) - startedAt);
      };
      try {
        const result = await run(task, runOptions, () => {
          begunAt = performance.now();
        });
        ended('done');
        return result;
      } catch (error) {
        ended(error instanceof PoolError ? error.code : 'crashed');
        throw error;
      }
    },
    get queued() {
      return queue.size;
    },
    get running() {
      return seats.size - idle.length;
    },
    async close() {
      isClosed = true;
      for (const job of queue.clear()) job.reject(new PoolError('closed', 'The pool is closed'));
      const workers = [...seats].map(({ worker }) => worker);
      for (const seat of seats) end(seat, new PoolError('closed', 'The pool is closed'));
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
