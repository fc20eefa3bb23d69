import { DomainError } from '../domain/errors.ts';
import type { Asker, ModuleChecker, ModuleDemands } from '../domain/ports.ts';
import { createPool, type Parcel, type Pool, PoolError, type PoolOptions } from './pool.ts';
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
   * Instruments a module.
   *
   * @throws DomainError the instrumenter's codes, `invalid_config`, or `module_too_complex` when time or memory runs out
   * @throws WorkersBusyError, TaskAbortedError
   */
  instrument(bytes: Uint8Array, tracing: Tracing, asker?: Asker): Promise<Instrumented>;
  /** The same, and answers JSON on what that did: see the protocol's `instrumentationReport`. */
  report(bytes: Uint8Array, tracing: Tracing, asker?: Asker): Promise<Uint8Array>;
  /** How much waits, and how much is worked on. */
  readonly load: PoolLoad;
  close(): Promise<void>;
}

export type PoolLoad = Pick<Pool<never, never>, 'queued' | 'running'>;

export interface ModuleWorkersOptions {
  readonly moduleThreads: number;
  readonly moduleQueue: number;
  readonly moduleThreadMemoryMiB: number;
  /** How long a task may take: so much, */
  readonly moduleTimeoutMs: number;
  /** and so much more for each MiB of the module. */
  readonly moduleTimeoutPerMiBMs: number;
}

/** Called when a thread has done a task, or will not. */
export type OnTaskEnd = PoolOptions<{ readonly kind: string }>['onEnd'];

/** A task with bytes that stay the asker's. */
type Asked = Task extends infer One
  ? One extends { bytes: unknown }
    ? Omit<One, 'bytes'> & { readonly bytes: Uint8Array }
    : One
  : never;

const busyRetrySeconds = 5;

/** Threads that look at modules, so that no module, however large or odd, holds up the requests of others. */
export function createModuleWorkers(options: ModuleWorkersOptions, onEnd?: OnTaskEnd): ModuleWorkers {
  const pool = createPool<Asked, TaskResult>({
    script: new URL('./module-worker.ts', import.meta.url),
    size: options.moduleThreads,
    maxQueued: options.moduleQueue,
    maxHeapMiB: options.moduleThreadMemoryMiB,
    pack,
    onEnd,
  });

  const run = async (task: Asked, { caller, signal }: Asker): Promise<TaskResult & { ok: true }> => {
    const length = 'bytes' in task ? task.bytes.length : 0;
    const timeoutMs = options.moduleTimeoutMs + (length / 2 ** 20) * options.moduleTimeoutPerMiBMs;
    const result = await pool
      .run(task, { caller, timeoutMs, signal })
      .catch((error: unknown) => Promise.reject(toError(error)));
    if (!result.ok) throw new DomainError(result.refusal.code, result.refusal.message);
    return result;
  };

  return {
    async check(bytes, demands, asker = {}) {
      const result = await run({ kind: 'check', bytes, demands: demands && bare(demands) }, asker);
      if (!('checked' in result)) throw new Error('The worker answered another question');
      return result.checked;
    },
    async compare(interfaces, demands, asker = {}) {
      const result = await run({ kind: 'compare', interfaces, demands: bare(demands) }, asker);
      if (!('compared' in result)) throw new Error('The worker answered another question');
      return result.compared;
    },
    async instrument(bytes, { config, options: extra }, asker = {}) {
      const result = await run({ kind: 'instrument', bytes, config, options: extra }, asker);
      if (!('instrumented' in result)) throw new Error('The worker answered another question');
      return result.instrumented;
    },
    async report(bytes, { config, options: extra }, asker = {}) {
      const result = await run({ kind: 'report', bytes, config, options: extra }, asker);
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

/** The bytes are copied when a thread takes them, so that there are as many copies as threads; the thread's own is moved to it. */
function pack(asked: Asked): Parcel {
  if (!('bytes' in asked)) return { task: asked, transfer: [] };
  const bytes = new Uint8Array(asked.bytes);
  return { task: { ...asked, bytes } satisfies Task, transfer: [bytes.buffer] };
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
