import { parentPort, workerData } from 'node:worker_threads';
import { type Span, start } from '../../src/index.ts';

/** What a worker is sent: the module, the call that it works for, and what it wakes when it has its result. */
export interface WorkerTask {
  readonly module: WebAssembly.Module;
  readonly traceparent: string | undefined;
  readonly argument: number;
  /** `[is done, result]` */
  readonly shared: Int32Array<SharedArrayBuffer>;
}

const { module, traceparent, argument, shared } = workerData as WorkerTask;
const batches: (readonly Span[])[] = [];
const context = start(module, {
  spanFilter: { minDurationMicroseconds: 0 },
  parent: traceparent,
  exporters: [{ export: (spans) => void batches.push(spans) }],
});
const { exports } = context.instantiateSync({ host: { fibonacci: () => 0 } });
shared[1] = (exports.fibonacci as (n: number) => number)(argument);
await context.shutdown();
parentPort?.postMessage(batches);
Atomics.store(shared, 0, 1);
Atomics.notify(shared, 0);
