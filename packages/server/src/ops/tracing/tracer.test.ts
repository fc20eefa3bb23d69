import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostSpan } from '@tenon/trace/otlp';
import { createOrigin, createTracer, toNano } from './tracer.ts';

const options = { kind: 'internal' } as const;

function collect(maxSpans = 100) {
  const sent: HostSpan[] = [];
  return { sent, tracer: createTracer({ random: randomBytes, export: (span) => sent.push(span), maxSpans }) };
}

describe('createTracer()', () => {
  it('creates spans as children of the current one, across await', async () => {
    const { sent, tracer } = collect();
    const work = async (name: string): Promise<void> => {
      const root = tracer.beginTrace(name, options, undefined);
      await tracer.run(root, async () => {
        await sleep(1);
        await tracer.within(`${name}.child`, options, () => sleep(1));
      });
      root.end();
    };
    await Promise.all([work('a'), work('b')]);
    assert.deepEqual(sent.map(({ name }) => name).sort(), ['a', 'a.child', 'b', 'b.child']);
    for (const name of ['a', 'b']) {
      const root = sent.find((span) => span.name === name);
      const child = sent.find((span) => span.name === `${name}.child`);
      assert.equal(child?.parentSpanId, root?.spanId);
      assert.equal(child?.traceId, root?.traceId);
    }
  });

  it('creates no span without a trace, and runs the work', async () => {
    const { sent, tracer } = collect();
    assert.equal(await tracer.within('x', options, async (span) => span), undefined);
    const root = tracer.beginTrace('root', options, undefined);
    tracer.run(root, () => tracer.run(undefined, () => assert.equal(tracer.begin('x', options), undefined)));
    assert.deepEqual(sent, []);
  });

  it('ends a span once, with the type of the error, but without its message', async () => {
    const { sent, tracer } = collect();
    const root = tracer.beginTrace('root', options, undefined);
    const failing = () => {
      throw new TypeError('guest acme');
    };
    await tracer.run(root, () => assert.rejects(tracer.within('x', options, failing), TypeError));
    root.end();
    root.end();
    assert.equal(sent.length, 2);
    assert.equal(sent[0]?.attributes.get('error.type'), 'TypeError');
    assert.deepEqual(sent[0]?.status, { code: 'error', message: '' });
  });

  it('bounds how many spans a trace has, and counts the others', async () => {
    const { sent, tracer } = collect(2);
    const root = tracer.beginTrace('root', options, undefined);
    await tracer.run(root, async () => {
      for (let round = 0; round < 5; round++) await tracer.within('x', options, async () => {});
    });
    root.end();
    assert.deepEqual(
      sent.map(({ name }) => name),
      ['x', 'x', 'root'],
    );
    assert.equal(sent.at(-1)?.attributes.get('tenon.dropped_spans'), 3);
  });
});

describe('createOrigin()', () => {
  it('follows the wall clock when it is set, and not its lack of digits', () => {
    let [now, wallNow] = [1_000.25, 1_790_000_001_000];
    const origin = createOrigin(
      () => now,
      () => wallNow,
    );
    const first = origin();
    now += 1.75;
    wallNow += 2;
    assert.equal(origin(), first);
    wallNow += 3_600_000;
    assert.equal(origin(), wallNow - now);
  });
});

describe('toNano()', () => {
  it('keeps every nanosecond', () => assert.equal(toNano(1_790_000_000_000.25), 1_790_000_000_000_250_000n));
});
