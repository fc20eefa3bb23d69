import { Worker } from 'node:worker_threads';

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
  readonly size: number;
  /** How many tasks may wait for a worker. */
  readonly maxQueued: number;
  /** The largest JavaScript heap of a worker, in MiB. */
  readonly maxHeapMiB: number;
  /** Called when a task has ended, with how long that took, waiting included. */
  readonly onEnd?: ((task: Task, outcome: PoolOutcome, durationMs: number) => void) | undefined;
}

export interface RunOptions {
  /** What is moved to the worker, not copied. */
  readonly transfer: readonly ArrayBuffer[];
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
  readonly options: RunOptions;
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
 */
export function createPool<Task, Result>(options: PoolOptions<Task>): Pool<Task, Result> {
  const idle: Seat<Task, Result>[] = [];
  const seats = new Set<Seat<Task, Result>>();
  const queue = new Set<Job<Task, Result>>();
  let isClosed = false;

  const next = (): void => {
    for (const job of queue) {
      const seat = idle.pop() ?? (seats.size < options.size ? open() : undefined);
      if (seat === undefined) return;
      queue.delete(job);
      begin(seat, job);
    }
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
    const { timeoutMs, transfer, signal } = job.options;
    seat.job = job;
    seat.timer = setTimeout(() => {
      end(seat, new PoolError('timed_out', `The task took longer than ${timeoutMs} ms`));
    }, timeoutMs);
    const onAbort = (): void => {
      if (seat.job === job) end(seat, new PoolError('aborted', 'Nobody waits for the task any more'));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    seat.worker.ref();
    seat.worker.postMessage(job.task, [...transfer]);
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

  const run = (task: Task, runOptions: RunOptions): Promise<Result> => {
    const { signal } = runOptions;
    return new Promise<Result>((resolve, reject) => {
      if (isClosed) return reject(new PoolError('closed', 'The pool is closed'));
      if (signal?.aborted) return reject(new PoolError('aborted', 'Nobody waits for the task any more'));
      const isBusy = idle.length === 0 && seats.size >= options.size;
      if (isBusy && queue.size >= options.maxQueued) {
        return reject(new PoolError('queue_full', `${queue.size} tasks wait already`));
      }
      const job: Job<Task, Result> = { task, options: runOptions, resolve, reject };
      queue.add(job);
      const leaveQueue = (): void => {
        if (queue.delete(job)) reject(new PoolError('aborted', 'Nobody waits for the task any more'));
      };
      signal?.addEventListener('abort', leaveQueue, { once: true });
      next();
    });
  };

  return {
    async run(task, runOptions) {
      const startedAt = performance.now();
      const ended = (outcome: PoolOutcome): void => options.onEnd?.(task, outcome, performance.now() - startedAt);
      try {
        const result = await run(task, runOptions);
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
      for (const job of queue) job.reject(new PoolError('closed', 'The pool is closed'));
      queue.clear();
      const workers = [...seats].map(({ worker }) => worker);
      for (const seat of seats) end(seat, new PoolError('closed', 'The pool is closed'));
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}
