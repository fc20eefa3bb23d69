import { DomainError } from '../domain/errors.ts';
import type { Asker, ModuleChecker, ModuleRequirements } from '../domain/ports.ts';
import { readSchema } from '../domain/read-schema.ts';
import { createPool, type Pool, PoolError, type PoolOptions } from './pool.ts';
import { processWorkers } from './process-worker.ts';
import type { Instrumented, Task, TaskResult, Tracing } from './tasks.ts';

/** Thrown when the queue is full: the client may come back after so many seconds. */
export class WorkersBusyError extends Error {
  override readonly name = 'WorkersBusyError';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, cause: unknown) {
    super('All worker processes are busy and the queue is full', { cause });
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
  readonly moduleWorkers: number;
  readonly moduleQueue: number;
  readonly moduleWorkerMemoryMiB: number;
  /** How long a task may take: so much, */
  readonly moduleTimeoutMs: number;
  /** and so much more for each MiB of the module. */
  readonly moduleTimeoutPerMiBMs: number;
}

/** Called when a worker has done a task, or will not. */
export type OnTaskEnd = PoolOptions<{ readonly kind: string }, unknown>['onEnd'];

const busyRetrySeconds = 5;

/**
 * Processes that look at modules, so that no module, however large or odd, holds up the requests of others: V8's validator can't be
 * interrupted in a thread, and some of its tables are the whole process's.
 */
export function createModuleWorkers(options: ModuleWorkersOptions, onEnd?: OnTaskEnd): ModuleWorkers {
  const pool = createPool<Task, TaskResult>({
    open: processWorkers({
      script: new URL('./module-process.ts', import.meta.url),
      maxHeapMiB: options.moduleWorkerMemoryMiB,
    }),
    size: options.moduleWorkers,
    maxQueued: options.moduleQueue,
    onEnd,
  });

  const run = async (task: Task, { caller, signal }: Asker): Promise<TaskResult & { ok: true }> => {
    const length = 'bytes' in task ? task.bytes.length : 0;
    const timeoutMs = options.moduleTimeoutMs + (length / 2 ** 20) * options.moduleTimeoutPerMiBMs;
    const result = await pool
      .run(task, { caller, timeoutMs, signal })
      .catch((error: unknown) => Promise.reject(toError(error, task.kind)));
    if (!result.ok) {
      const { code, message, errors } = result.refusal;
      throw new DomainError(code, message, errors === undefined ? {} : { errors });
    }
    return result;
  };

  return {
    async check(bytes, demands, asker = {}) {
      const result = await run({ kind: 'check', bytes: plain(bytes), demands: demands && bare(demands) }, asker);
      if (!('checked' in result)) throw new Error('The worker answered another question');
      return result.checked;
    },
    async compare(interfaces, demands, asker = {}) {
      const result = await run({ kind: 'compare', interfaces, demands: bare(demands) }, asker);
      if (!('compared' in result)) throw new Error('The worker answered another question');
      return result.compared;
    },
    async readSchema(schema, asker = {}) {
      // What is nested too deep for JSON to be written of it is refused by the reader, at that depth.
      if (isDeeperThan(maxSchemaDepth, schema)) return readSchema(schema);
      const result = await run({ kind: 'schema', schemaJson: JSON.stringify(schema ?? null) }, asker);
      if (!('schemaJson' in result)) throw new Error('The worker answered another question');
      return result.schemaJson;
    },
    async instrument(bytes, { config, options: extra }, asker = {}) {
      const result = await run({ kind: 'instrument', bytes: plain(bytes), config, options: extra }, asker);
      if (!('instrumented' in result)) throw new Error('The worker answered another question');
      return result.instrumented;
    },
    async report(bytes, { config, options: extra }, asker = {}) {
      const result = await run({ kind: 'report', bytes: plain(bytes), config, options: extra }, asker);
      if (!('report' in result)) throw new Error('The worker answered another question');
      return result.report;
    },
    load: pool,
    close: () => pool.close(),
  };
}

/** No more of an extension point than a worker needs. */
function bare({ schemaJson, limits }: ModuleRequirements): ModuleRequirements {
  return { schemaJson, limits };
}

/** The same bytes: one that is a Buffer becomes JSON by itself. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** The reader's own limit: see docs/reference/extension-point-schema.md. */
const maxSchemaDepth = 64;

/** Whether lists and objects are nested deeper than that. Stops there, so it never goes deep itself. */
function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeperThan(depth - 1, inner));
}

function toError(error: unknown, kind: Task['kind']): unknown {
  if (!(error instanceof PoolError)) return error;
  switch (error.code) {
    case 'queue_full':
    case 'closed':
      return new WorkersBusyError(busyRetrySeconds, error);
    case 'aborted':
      return new TaskAbortedError('The client went away', { cause: error });
    case 'timed_out':
    case 'out_of_memory':
      if (kind === 'schema')
        return new DomainError('invalid_field', '/schema: it takes too long to read', { cause: error });
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
