import { createFairQueue } from './fair-queue.ts';

type PoolErrorCode = 'queue_full' | 'aborted' | 'timed_out' | 'crashed' | 'out_of_memory' | 'closed';

export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly code: PoolErrorCode;

  constructor(code: PoolErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

type PoolOutcome = 'done' | PoolErrorCode;

/** A thread or a process that runs one task at a time and returns one result for each. */
interface PoolWorker<Task> {
  /** Resolves when the worker can take a task; `undefined` if it can from the beginning. */
  readonly ready?: Promise<void> | undefined;
  /** Starts a task. The caller may change or detach the task's buffers as soon as the task has ended. */
  send(task: Task): void;
  /** Sets whether this worker keeps the server process alive. */
  setRef(isNeeded: boolean): void;
  /** Kills the worker, whatever it is doing. Resolves when it has exited and its CPU and memory are free. */
  terminate(): Promise<void>;
}

interface WorkerEvents<Result> {
  /** @param shouldRecycle whether the pool must replace the worker instead of giving it another task */
  onResult(result: Result, shouldRecycle: boolean): void;
  /** The worker has failed or exited without `terminate()`. */
  onFailure(error: PoolError): void;
}

/** Starts a worker. It throws if the system has no memory for one, for example. */
export type StartWorker<Task, Result> = (events: WorkerEvents<Result>) => PoolWorker<Task>;

export interface PoolOptions<Task, Result> {
  readonly startWorker: StartWorker<Task, Result>;
  /** The number of workers. The pool adds one more while all of these serve a single caller and another caller waits. */
  readonly size: number;
  readonly maxQueued: number;
  /** Workers that the pool starts ahead, from the first task on, until there was no task for some minutes. Default: 0. */
  readonly spares?: number | undefined;
  /** Called when a task has ended. `durationMs` includes `waitedMs`, the time in the queue. */
  readonly onEnd?: ((task: Task, outcome: PoolOutcome, durationMs: number, waitedMs: number) => void) | undefined;
}

export interface RunOptions {
  /** The key for fair scheduling: callers that wait take turns. Default: one caller shared by all tasks without it. */
  readonly caller?: string | undefined;
  /** The maximum run time, without the time in the queue and until a new worker is ready. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type Pool<Task, Result> = ReturnType<typeof createPool<Task, Result>>;

/** The numbers of queued and running tasks. */
export type PoolLoad = Pick<Pool<never, never>, 'queued' | 'running'>;

/** Called when a task has ended, successfully or not. */
export type OnTaskEnd = PoolOptions<{ readonly kind: string }, unknown>['onEnd'];

interface Job<Task, Result> {
  readonly task: Task;
  readonly caller: string;
  readonly options: RunOptions;
  readonly onStart: () => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: PoolError) => void;
}

interface WorkerState<Task, Result> {
  readonly worker: PoolWorker<Task>;
  isReady: boolean;
  /** Resolves when the worker has exited; `undefined` before the pool terminates it. */
  terminated: Promise<void> | undefined;
  job: Job<Task, Result> | undefined;
  /** The caller of the current job. It stays set while the worker of an aborted job is being terminated. */
  caller: string | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** How long a worker may take until it is ready. */
const startTimeoutMs = 60_000;

/** How long spares stay without a task. */
const spareLifetimeMs = 600_000;

/**
 * Runs tasks in a fixed number of workers, which start on demand.
 *
 * A task is one synchronous computation that can't be interrupted. When its client disconnects or its time-out expires, the pool
 * terminates the worker with it. The task fails at once, but the worker counts as running until it has exited, so that the number of
 * live workers stays bounded.
 *
 * Callers share the workers fairly. They take turns in the queue; when the queue is full, the caller with the most queued tasks loses
 * one; and the pool adds a worker for the other callers when one caller occupies all.
 */
export function createPool<Task, Result>(options: PoolOptions<Task, Result>) {
  const idle: WorkerState<Task, Result>[] = [];
  const workers = new Set<WorkerState<Task, Result>>();
  const queue = createFairQueue<Job<Task, Result>>(options.maxQueued);
  const { spares = 0 } = options;
  let spareTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const runningCount = (): number => workers.size - idle.length;
  const canStart = (caller: string): boolean => {
    if (runningCount() < options.size) return true;
    const served = new Set(Array.from(workers, ({ caller }) => caller));
    served.delete(undefined);
    return runningCount() === options.size && served.size === 1 && !served.has(caller);
  };
  const startQueuedJobs = (): void => {
    for (let job = queue.take(canStart); job !== undefined; job = queue.take(canStart)) startJob(job);
  };

  const addWorker = (): WorkerState<Task, Result> => {
    const worker = options.startWorker({
      onResult(result, shouldRecycle) {
        if (state.terminated !== undefined) return; // terminated while its result was in transit
        const job = releaseJob(state);
        state.caller = undefined;
        if (shouldRecycle) terminate(state);
        else idle.push(state);
        job?.resolve(result);
        startQueuedJobs();
      },
      onFailure: (error) => terminate(state, error),
    });
    const state: WorkerState<Task, Result> = {
      worker,
      isReady: worker.ready === undefined,
      terminated: undefined,
      job: undefined,
      caller: undefined,
      timer: undefined,
    };
    worker.setRef(false); // an idle worker must not keep the process alive
    workers.add(state);
    void worker.ready?.then(() => {
      state.isReady = true;
      if (state.job !== undefined) sendJob(state, state.job);
    });
    return state;
  };

  const warm = (): void => {
    if (spares === 0 || isClosed) return;
    try {
      while (idle.length < spares) idle.push(addWorker());
    } catch {
      return; // The next task starts its worker itself, and fails if that fails too.
    }
    clearTimeout(spareTimer);
    spareTimer = setTimeout(() => {
      for (const state of [...idle]) terminate(state);
    }, spareLifetimeMs).unref();
  };

  const startJob = (job: Job<Task, Result>): void => {
    let state: WorkerState<Task, Result>;
    try {
      state = idle.shift() ?? addWorker();
    } catch (error) {
      job.reject(new PoolError('crashed', 'The worker could not start', error));
      return;
    }
    const { signal } = job.options;
    state.job = job;
    state.caller = job.caller;
    const onAbort = (): void => {
      if (state.job === job) terminate(state, aborted());
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    state.worker.setRef(true);
    if (state.isReady) sendJob(state, job);
    else failAfter(state, startTimeoutMs, 'crashed', `The worker did not start within ${startTimeoutMs} ms`);
    warm();
  };

  const sendJob = (state: WorkerState<Task, Result>, job: Job<Task, Result>): void => {
    const { timeoutMs } = job.options;
    job.onStart();
    failAfter(state, timeoutMs, 'timed_out', `The task took longer than ${timeoutMs} ms`);
    state.worker.send(job.task);
  };

  const failAfter = (state: WorkerState<Task, Result>, ms: number, code: PoolErrorCode, message: string): void => {
    clearTimeout(state.timer);
    state.timer = setTimeout(() => terminate(state, new PoolError(code, message)), ms);
  };

  const releaseJob = (state: WorkerState<Task, Result>): Job<Task, Result> | undefined => {
    const { job } = state;
    clearTimeout(state.timer);
    state.job = undefined;
    state.worker.setRef(false);
    return job;
  };

  /** Terminates a worker and fails its job with the error. Idempotent. */
  const terminate = (state: WorkerState<Task, Result>, error?: PoolError): void => {
    if (state.terminated !== undefined) return;
    const index = idle.indexOf(state);
    if (index !== -1) idle.splice(index, 1);
    const job = releaseJob(state);
    state.terminated = state.worker.terminate().then(() => {
      workers.delete(state);
      startQueuedJobs();
    });
    if (error !== undefined) job?.reject(error);
  };

  const run = (task: Task, runOptions: RunOptions, onStart: () => void): Promise<Result> => {
    const { signal, caller = '' } = runOptions;
    return new Promise<Result>((resolve, reject) => {
      if (isClosed) return reject(new PoolError('closed', 'The pool is closed'));
      if (signal?.aborted) return reject(aborted());
      const job: Job<Task, Result> = { task, caller, options: runOptions, onStart, resolve, reject };
      // No queued job could start here: the queue is drained whenever a worker becomes free.
      if (canStart(caller)) return startJob(job);
      const displaced = queue.add(caller, job);
      displaced?.item.reject(new PoolError('queue_full', `The queue is full: ${queue.size} tasks wait`));
      const onAbort = (): void => {
        if (queue.delete(caller, job)) reject(aborted());
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  };

  return {
    /** @throws PoolError */
    async run(task: Task, runOptions: RunOptions): Promise<Result> {
      const queuedAtMs = performance.now();
      let startedAtMs: number | undefined;
      const report = (outcome: PoolOutcome): void => {
        const endedAtMs = performance.now();
        options.onEnd?.(task, outcome, endedAtMs - queuedAtMs, (startedAtMs ?? endedAtMs) - queuedAtMs);
      };
      try {
        const result = await run(task, runOptions, () => {
          startedAtMs = performance.now();
        });
        report('done');
        return result;
      } catch (error) {
        report(error instanceof PoolError ? error.code : 'crashed');
        throw error;
      }
    },
    /** Starts the spares ahead of a task that is expected soon. */
    warm,
    get queued(): number {
      return queue.size;
    },
    /** The number of workers that run a task or are being terminated. */
    get running(): number {
      return runningCount();
    },
    /** Terminates all workers. Running and queued tasks fail with `closed`. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(spareTimer);
      for (const job of queue.clear()) job.reject(new PoolError('closed', 'The pool is closed'));
      for (const state of workers) terminate(state, new PoolError('closed', 'The pool is closed'));
      await Promise.all(Array.from(workers, ({ terminated }) => terminated));
    },
  };
}

function aborted(): PoolError {
  return new PoolError('aborted', 'The caller aborted the task');
}
