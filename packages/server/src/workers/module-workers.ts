import { DomainError } from '../domain/errors.ts';
import type { ModuleChecker, ModuleDemands } from '../domain/ports.ts';
import { createPool, type Pool, PoolError, type PoolOptions } from './pool.ts';
import type { Instrumented, Task, TaskResult, Tracing } from './tasks.ts';

/** Thrown when the queue is full: the client may come back after so many seconds. */
export class WorkersBusyError extends Error {
  override readonly name = 'WorkersBusyError';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, cause: unknown) {
    super('All worker threads are busy and the queue is full', { cause });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Thrown when a task was given up since its client went away. */
export class TaskAbortedError extends Error {
  override readonly name = 'TaskAbortedError';
}

export interface ModuleWorkers extends ModuleChecker {
  /**
   * Instruments a module. The bytes' buffer is moved away: they are gone for the caller.
   *
   * @throws DomainError the instrumenter's codes, `invalid_config`, or `module_too_complex` when time or memory runs out
   * @throws WorkersBusyError, TaskAbortedError
   */
  instrument(bytes: Uint8Array, tracing: Tracing, signal?: AbortSignal): Promise<Instrumented>;
  /** The same, and answers JSON on what that did: see the protocol's `instrumentationReport`. */
  report(bytes: Uint8Array, tracing: Tracing, signal?: AbortSignal): Promise<Uint8Array>;
  /** How much waits, and how much is worked on. */
  readonly load: PoolLoad;
  close(): Promise<void>;
}

export type PoolLoad = Pick<Pool<never, never>, 'queued' | 'running'>;

export interface ModuleWorkersOptions {
  readonly workers: number;
  readonly workerQueue: number;
  readonly workerMemoryMiB: number;
  /** How long a task may take: so much, */
  readonly workerTimeoutMs: number;
  /** and so much more for each MiB of the module. */
  readonly workerTimeoutPerMiBMs: number;
}

/** Called when a thread has done a task, or will not. */
export type OnTaskEnd = PoolOptions<{ readonly kind: string }>['onEnd'];

const busyRetrySeconds = 5;

/** Threads that look at modules, so that no module, however large or odd, holds up the requests of others. */
export function createModuleWorkers(options: ModuleWorkersOptions, onEnd?: OnTaskEnd): ModuleWorkers {
  const pool = createPool<Task, TaskResult>({
    script: new URL('./module-worker.ts', import.meta.url),
    size: options.workers,
    maxQueued: options.workerQueue,
    maxHeapMiB: options.workerMemoryMiB,
    onEnd,
  });

  const run = async (task: Task, signal: AbortSignal | undefined): Promise<TaskResult & { ok: true }> => {
    const bytes = 'bytes' in task ? task.bytes : new Uint8Array();
    const timeoutMs = options.workerTimeoutMs + (bytes.length / 2 ** 20) * options.workerTimeoutPerMiBMs;
    const result = await pool
      .run(task, { transfer: [bytes.buffer], timeoutMs, signal })
      .catch((error: unknown) => Promise.reject(toError(error)));
    if (!result.ok) throw new DomainError(result.refusal.code, result.refusal.message);
    return result;
  };

  return {
    async check(bytes, demands, signal) {
      // A copy: the publisher needs the bytes afterwards.
      const result = await run(
        { kind: 'check', bytes: new Uint8Array(bytes), demands: demands && bare(demands) },
        signal,
      );
      if (!('checked' in result)) throw new Error('The worker answered another question');
      return result.checked;
    },
    async compare(interfaces, demands, signal) {
      const result = await run({ kind: 'compare', interfaces, demands: bare(demands) }, signal);
      if (!('compared' in result)) throw new Error('The worker answered another question');
      return result.compared;
    },
    async instrument(bytes, { config, options: extra }, signal) {
      const result = await run({ kind: 'instrument', bytes: movable(bytes), config, options: extra }, signal);
      if (!('instrumented' in result)) throw new Error('The worker answered another question');
      return result.instrumented;
    },
    async report(bytes, { config, options: extra }, signal) {
      const result = await run({ kind: 'report', bytes: movable(bytes), config, options: extra }, signal);
      if (!('report' in result)) throw new Error('The worker answered another question');
      return result.report;
    },
    load: pool,
    close: () => pool.close(),
  };
}

/** No more of an extension point than a thread needs. */
function bare({ schemaJson, limits }: ModuleDemands): ModuleDemands {
  return { schemaJson, limits };
}

/** Bytes that are all of their buffer; a copy unless they are. */
function movable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole && bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

function toError(error: unknown): unknown {
  if (!(error instanceof PoolError)) return error;
  switch (error.code) {
    case 'queue_full':
    case 'closed':
      return new WorkersBusyError(busyRetrySeconds, error);
    case 'aborted':
      return new TaskAbortedError('The client went away', { cause: error });
    case 'timed_out':
    case 'out_of_memory':
      return new DomainError(
        'module_too_complex',
        error.code === 'timed_out'
          ? 'The module took longer than the time that its size allows.'
          : 'The module needs more memory than a worker may have.',
        { cause: error },
      );
    case 'crashed':
      return error;
  }
}
