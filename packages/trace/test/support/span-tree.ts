import assert from 'node:assert/strict';
import type { Span } from '../../src/index.ts';
import type { ExpectedSpan } from './expected-spans.ts';

/**
 * Puts a batch together again by its ids, and holds it to what every batch has to be: one root, parents before children, in
 * the order of their starts, children within their parents. `originNs` is the beginning of the test's clock in Unix time;
 * `indexOf` turns the index that a span names into the input's.
 */
export function spanTree(batch: readonly Span[], originNs: bigint, indexOf: (index: number) => number): ExpectedSpan {
  const [root] = batch;
  assert.ok(root, 'a batch has a root');
  const children = new Map<string, Span[]>();
  const seen = new Map<string, Span>();
  let last = root.startTimeUnixNano;
  for (const span of batch) {
    assert.match(span.traceId, /^(?!0{32})[0-9a-f]{32}$/);
    assert.match(span.spanId, /^(?!0{16})[0-9a-f]{16}$/);
    assert.equal(span.traceId, root.traceId, 'a batch is of one trace');
    assert.ok(!seen.has(span.spanId), 'each span has an id of its own');
    assert.ok(span.startTimeUnixNano >= last, 'spans come in the order of their starts');
    assert.ok(span.endTimeUnixNano >= span.startTimeUnixNano, 'no span ends before it begins');
    last = span.startTimeUnixNano;
    seen.set(span.spanId, span);
    children.set(span.spanId, []);
    if (span === root) continue;
    const parent = seen.get(span.parentSpanId ?? '');
    assert.ok(parent, 'the parent comes before its children');
    assert.ok(span.endTimeUnixNano <= parent.endTimeUnixNano, 'a span lies within its parent');
    children.get(parent.spanId)?.push(span);
  }
  const describe = (span: Span): ExpectedSpan => {
    assert.ok(span.function, 'the span is that of a function');
    assert.deepEqual(span.dropped, { events: 0, attributes: 0 });
    assert.equal(
      span.status.message !== '',
      span.status.code === 'error',
      'what failed has a reason, and nothing else',
    );
    return {
      index: indexOf(span.function.index),
      startNs: Number(span.startTimeUnixNano - originNs),
      endNs: Number(span.endTimeUnixNano - originNs),
      selfNs: Number(span.selfTimeNano),
      folded: { calls: span.folded.calls, timeNs: Number(span.folded.timeNano) },
      grownPages: span.grownPages,
      growths: span.events.map(({ name, timeUnixNano, attributes }) => {
        assert.equal(name, 'memory.grow');
        return { timeNs: Number(timeUnixNano - originNs), pages: Number(attributes.get('pages')) };
      }),
      failed: span.status.code === 'error',
      spans: (children.get(span.spanId) ?? []).map(describe),
    };
  };
  return describe(root);
}
