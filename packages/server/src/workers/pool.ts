import { createFairQueue } from '../fair-queue.ts';

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

/** A thread or a process that does one task at a time, and answers each with one result. */
export interface PoolWorker<Task> {
  /** Begins a task. What was handed in may be changed or detached as soon as the task has ended. */
  send(task: Task): void;
  /** Whether the process that has the pool waits for this worker before it exits. */
  setRef(isNeeded: boolean): void;
  /** Ends the worker, whatever it does. Resolves when it is gone: only then its processor and memory are free. */
  end(): Promise<void>;
}

export interface WorkerListener<Result> {
  /** @param isSpent whether the worker should do no further task */
  onResult(result: Result, isSpent: boolean): void;
  /** The worker ends, or has ended, and that was not asked for. */
  onFault(error: PoolError): void;
}

/** Starts a worker. */
export type OpenWorker<Task, Result> = (listener: WorkerListener<Result>) => PoolWorker<Task>;

export interface PoolOptions<Task, Result> {
  readonly open: OpenWorker<Task, Result>;
  /** How many workers there are; one more begins when all of these work for one caller, and another one waits. */
  readonly size: number;
  /** How many tasks may wait for a worker. */
  readonly maxQueued: number;
  /** Called when a task has ended, with how long that took, waiting included, and how long it waited. */
  readonly onEnd?: ((task: Task, outcome: PoolOutcome, durationMs: number, waitedMs: number) => void) | undefined;
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
  /** How many workers have a task, or are ending. */
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

/** A worker with what it is doing. */
interface Seat<Task, Result> {
  readonly worker: PoolWorker<Task>;
  /** Resolves when the worker is gone; undefined until it is to end. */
  gone: Promise<void> | undefined;
  job: Job<Task, Result> | undefined;
  /** The caller of the task, also when that was given up and the worker is ending; undefined for one that is idle. */
  caller: string | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Runs tasks in a fixed number of workers, each started when it is first needed. A task whose client goes away, or whose time
 * is up, is ended with its worker: what runs in it is one synchronous computation that can't be told to stop. The client is
 * answered at once; the worker's place is taken until the worker is really gone, so that no more of them run than there are places.
 *
 * Nobody has to wait for all that another caller sends: callers take turns, whoever has the most waiting gives way when the queue
 * is full, and there is a worker for others when all are at one caller's.
 */
export function createPool<Task, Result>(options: PoolOptions<Task, Result>): Pool<Task, Result> {
  const idle: Seat<Task, Result>[] = [];
  const seats = new Set<Seat<Task, Result>>();
  const queue = createFairQueue<Job<Task, Result>>(options.maxQueued);
  let isClosed = false;

  const mayBegin = (caller: string): boolean => {
    if (seats.size - idle.length < options.size) return true;
    const served = new Set(Array.from(seats, ({ caller }) => caller));
    served.delete(undefined);
    return seats.size - idle.length === options.size && served.size === 1 && !served.has(caller);
  };
  const next = (): void => {
    for (let job = queue.next(mayBegin); job !== undefined; job = queue.next(mayBegin))
      begin(idle.pop() ?? open(), job);
  };

  const open = (): Seat<Task, Result> => {
    const worker = options.open({
      onResult(result, isSpent) {
        if (seat.gone !== undefined) return; // it was ended while its answer was under way
        const job = leave(seat);
        seat.caller = undefined;
        if (isSpent) end(seat);
        else idle.push(seat);
        job?.resolve(result);
        next();
      },
      onFault: (error) => end(seat, error),
    });
    const seat: Seat<Task, Result> = { worker, gone: undefined, job: undefined, caller: undefined, timer: undefined };
    worker.setRef(false); // a process that has nothing else to do need not wait for idle workers
    seats.add(seat);
    return seat;
  };

  const begin = (seat: Seat<Task, Result>, job: Job<Task, Result>): void => {
    const { timeoutMs, signal } = job.options;
    job.onBegin();
    seat.job = job;
    seat.caller = job.caller;
    seat.timer = setTimeout(() => {
      end(seat, new PoolError('timed_out', `The task took longer than ${timeoutMs} ms`));
    }, timeoutMs);
    const onAbort = (): void => {
      if (seat.job === job) end(seat, new PoolError('aborted', 'Nobody waits for the task any more'));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    seat.worker.setRef(true);
    seat.worker.send(job.task);
  };

  /** Takes the seat's job off it. */
  const leave = (seat: Seat<Task, Result>): Job<Task, Result> | undefined => {
    const { job } = seat;
    clearTimeout(seat.timer);
    seat.job = undefined;
    seat.worker.setRef(false);
    return job;
  };

  /** Ends a worker with what it does, and frees its seat when it is gone. Called again for the same one, it does nothing. */
  const end = (seat: Seat<Task, Result>, error?: PoolError): void => {
    if (seat.gone !== undefined) return;
    const at = idle.indexOf(seat);
    if (at !== -1) idle.splice(at, 1);
    const job = leave(seat);
    seat.gone = seat.worker.end().then(() => {
      seats.delete(seat);
      next();
    });
    if (error !== undefined) job?.reject(error);
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
      for (const seat of seats) end(seat, new PoolError('closed', 'The pool is closed'));
      await Promise.all(Array.from(seats, ({ gone }) => gone));
    },
  };
}
