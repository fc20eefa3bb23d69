import type { OnTaskEnd } from '../workers/module-workers.ts';
import type { Tracer } from './tracer.ts';

/** Makes a span of each task of a pool of threads, once it has ended: from when it was asked for, with how long it waited for a thread. */
export function traceTasks(tracer: Tracer, pool: string): NonNullable<OnTaskEnd> {
  return ({ kind }, outcome, durationMs, waitedMs) => {
    const endMs = performance.now();
    const span = tracer.begin(`${pool}.${kind}`, {
      kind: 'internal',
      startMs: endMs - durationMs,
      attributes: { 'tenon.task.wait_seconds': waitedMs / 1000 },
    });
    if (outcome !== 'done') span?.fail(outcome);
    span?.end(endMs);
  };
}
