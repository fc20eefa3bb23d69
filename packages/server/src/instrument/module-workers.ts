import type { ModuleComparison } from '@tenon/instrument';
import { ClientDisconnected } from '../http/bodies/read-bytes.ts';
import { DomainError } from '../http/domain-errors.ts';
import { unavailable } from '../http/http-error.ts';
import type { JobOptions, ModuleChecker, ModuleRequirements } from '../plugins/module-checker.ts';
import { createPool, type OnTaskEnd, PoolError, type PoolLoad } from '../workers/pool.ts';
import { processWorkers } from '../workers/process-worker.ts';
import type { Instrumented, Task, TaskResult, TaskValues, Tracing } from './module-tasks.ts';

export interface ModuleWorkers extends ModuleChecker {
  /**
   * Instruments a module.
   *
   * @throws DomainError with a code of the instrumenter, `invalid_config`, or `module_too_complex` (out of time or memory)
   * @throws HttpError `unavailable` when the queue is full, ClientDisconnected when the task was aborted
   */
  instrument(bytes: Uint8Array, tracing: Tracing, jobOptions?: JobOptions): Promise<Instrumented>;
  /** Like `instrument()`, but returns the report as JSON: see the protocol's `instrumentationReport`. */
  report(bytes: Uint8Array, tracing: Tracing, jobOptions?: JobOptions): Promise<Uint8Array>;
  /** Compares two valid modules. Without `before`, describes `after`. */
  diff(before: Uint8Array | undefined, after: Uint8Array, jobOptions?: JobOptions): Promise<ModuleComparison>;
  readonly load: PoolLoad;
  close(): Promise<void>;
}

interface ModuleWorkersOptions {
  readonly moduleWorkers: number;
  readonly moduleQueue: number;
  readonly moduleWorkerMemoryMiB: number;
  /** A task's time-out, to which `moduleTimeoutPerMiBMs` adds. */
  readonly moduleTimeoutMs: number;
  /** Additional time for each MiB of the module. */
  readonly moduleTimeoutPerMiBMs: number;
  /** Those that verify attached documents. */
  readonly trustedRoots: readonly unknown[];
}

const busyRetrySeconds = 5;

/**
 * Processes that check and instrument modules, so that no module can block other requests. Threads would not do: V8's validator
 * can't be interrupted in a thread, and some of V8's tables belong to the whole process.
 */
export function createModuleWorkers(options: ModuleWorkersOptions, onEnd?: OnTaskEnd): ModuleWorkers {
  const pool = createPool<Task, TaskResult>({
    startWorker: processWorkers({
      script: new URL('./module-process.ts', import.meta.url),
      maxHeapMiB: options.moduleWorkerMemoryMiB,
    }),
    size: options.moduleWorkers,
    maxQueued: options.moduleQueue,
    onEnd,
  });

  /** @param value the name of the result of this kind of task */
  const run = async <Name extends keyof TaskValues>(
    value: Name,
    task: Task,
    { fairnessKey: caller, signal }: JobOptions = {},
  ): Promise<TaskValues[Name]> => {
    const length = sizeOf(task);
    const timeoutMs = options.moduleTimeoutMs + (length / 2 ** 20) * options.moduleTimeoutPerMiBMs;
    const result = await pool
      .run(task, { caller, timeoutMs, signal })
      .catch((error: unknown) => Promise.reject(toError(error, task.kind)));
    if (!result.ok) {
      const { code, message, errors } = result.error;
      throw new DomainError(code, message, errors === undefined ? {} : { errors });
    }
    if (!(value in result)) throw new Error('The worker returned the result of another kind of task');
    return (result as unknown as TaskValues)[value];
  };

  return {
    check: (bytes, requirements, jobOptions) =>
      run(
        'checked',
        { kind: 'check', bytes: plain(bytes), requirements: requirements && pick(requirements) },
        jobOptions,
      ),
    compare: (interfaces, requirements, jobOptions) =>
      run('compared', { kind: 'compare', interfaces, requirements: pick(requirements) }, jobOptions),
    async readSchema(schema, jobOptions) {
      // JSON.stringify() overflows the stack on deeply nested values. The reader rejects those quickly, with the right error.
      if (isDeeperThan(maxSchemaDepth, schema)) return (await import('./read-schema.ts')).readSchema(schema);
      return run('schema', { kind: 'schema', schemaJson: JSON.stringify(schema ?? null) }, jobOptions);
    },
    checkDocument: ({ bytes, ...document }, contentAddress, jobOptions) => {
      const { trustedRoots } = options;
      const task = {
        kind: 'document',
        document: { ...document, bytes: plain(bytes) },
        contentAddress,
        trustedRoots,
      } as const;
      return run('checkedDocument', task, jobOptions);
    },
    instrument: (bytes, tracing, jobOptions) =>
      run('instrumented', { kind: 'instrument', bytes: plain(bytes), ...tracing }, jobOptions),
    report: (bytes, tracing, jobOptions) =>
      run('report', { kind: 'report', bytes: plain(bytes), ...tracing }, jobOptions),
    diff: (before, after, jobOptions) =>
      run('diff', { kind: 'diff', before: before && plain(before), after: plain(after) }, jobOptions),
    load: pool,
    close: () => pool.close(),
  };
}

/** The number of bytes of a task's modules or document. */
function sizeOf(task: Task): number {
  if (task.kind === 'diff') return (task.before?.length ?? 0) + task.after.length;
  if (task.kind === 'document') return task.document.bytes.length;
  return 'bytes' in task ? task.bytes.length : 0;
}

/** Drops the fields that a worker doesn't need: callers pass whole extension point records. */
function pick({ schemaJson, limits }: ModuleRequirements): ModuleRequirements {
  return { schemaJson, limits };
}

/** Converts a Buffer to a plain Uint8Array over the same memory, since `encodeMessage()` doesn't attach Buffers. */
function plain({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** The schema reader's limit: see docs/reference/extension-point-schema.md. */
const maxSchemaDepth = 64;

/** Whether arrays and objects are nested deeper than `depth`. The recursion stops at that depth. */
function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeperThan(depth - 1, inner));
}

function toError(error: unknown, kind: Task['kind']): unknown {
  if (!(error instanceof PoolError)) return error;
  switch (error.code) {
    case 'queue_full':
    case 'closed':
      return unavailable('All workers are busy and others wait already. Try again shortly.', busyRetrySeconds, error);
    case 'aborted':
      return new ClientDisconnected('The client disconnected', { cause: error });
    case 'timed_out':
    case 'out_of_memory':
      if (kind === 'schema')
        return new DomainError('invalid_field', '/schema: takes too long to parse', { cause: error });
      if (kind === 'document')
        return new DomainError('invalid_field', 'The attestation takes too long to verify.', { cause: error });
      return new DomainError(
        'module_too_complex',
        error.code === 'timed_out'
          ? 'Processing the module took longer than its size allows.'
          : 'Processing the module needs more memory than a worker may use.',
        { cause: error },
      );
    case 'crashed':
      return error;
  }
}
