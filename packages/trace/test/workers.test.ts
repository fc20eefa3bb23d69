import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { instrument } from '@tenon/instrument';
import { wat } from '../../../test/helpers/wat.ts';
import { type Span, start } from '../src/index.ts';
import type { WorkerTask } from './support/tracing-worker.ts';

const text = `(module
  (import "host" "fibonacci" (func $elsewhere (param i32) (result i32)))
  (func $fibonacci (export "fibonacci") (param i32) (result i32)
    (if (i32.lt_u (local.get 0) (i32.const 2)) (then (return (local.get 0))))
    (i32.add
      (call $fibonacci (i32.sub (local.get 0) (i32.const 1)))
      (call $fibonacci (i32.sub (local.get 0) (i32.const 2)))))
  (func $both (export "both") (param i32 i32) (result i32)
    (i32.add (call $elsewhere (local.get 0)) (call $elsewhere (local.get 1)))))`;

describe('start() in workers', () => {
  it('hangs what a worker does under the call that waits for it', async () => {
    const module = new WebAssembly.Module(new Uint8Array(instrument(wat(text)).bytes));
    const batches: (readonly Span[])[] = [];
    const answers: Promise<(readonly Span[])[]>[] = [];
    const context = start(module, {
      spanFilter: { minDurationMicroseconds: 0 },
      exporters: [{ export: (spans) => void batches.push(spans) }],
    });
    const fibonacci = (argument: number): number => {
      const shared = new Int32Array(new SharedArrayBuffer(8));
      const task: WorkerTask = { module, traceparent: context.traceparent(), argument, shared };
      const worker = new Worker(new URL('./support/tracing-worker.ts', import.meta.url), { workerData: task });
      answers.push(once(worker, 'message').then(([found]) => found));
      Atomics.wait(shared, 0, 0);
      return shared[1] as number;
    };
    const { exports } = context.instantiateSync({ host: { fibonacci } });
    assert.equal((exports.both as (first: number, second: number) => number)(7, 10), 13 + 55);

    const [own = []] = batches;
    assert.deepEqual(
      own.map(({ name }) => name),
      ['both', 'elsewhere', 'elsewhere'],
    );
    const all = [...own];
    for (const [place, answer] of answers.entries()) {
      const [found = [], ...more] = await answer;
      assert.equal(more.length, 0);
      assert.deepEqual([found[0]?.name, found.length], ['fibonacci', [41, 177][place]]);
      assert.equal(found[0]?.parentSpanId, own[place + 1]?.spanId);
      all.push(...found);
    }
    assert.equal(new Set(all.map(({ traceId }) => traceId)).size, 1);
    assert.equal(new Set(all.map(({ spanId }) => spanId)).size, 3 + 41 + 177);
  });
});
