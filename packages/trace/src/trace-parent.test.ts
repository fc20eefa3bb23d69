import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTraceParent, parseTraceParent } from './trace-parent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('parseTraceParent()', () => {
  it('reads a header, and keeps the state as it came', () => {
    assert.deepEqual(parseTraceParent(`00-${traceId}-${spanId}-01`, 'congo=t61rcWkgMzE'), {
      traceId,
      spanId,
      traceFlags: 1,
      traceState: 'congo=t61rcWkgMzE',
    });
  });

  it('reads later versions as far as it knows them', () => {
    assert.equal(parseTraceParent(`cc-${traceId}-${spanId}-03-what.else`)?.traceFlags, 3);
    assert.equal(parseTraceParent(` 01-${traceId}-${spanId}-00\t`)?.traceFlags, 0);
  });

  it('drops a state that is longer than the limit of the specification', () => {
    const header = `00-${traceId}-${spanId}-01`;
    assert.equal(parseTraceParent(header, 'a'.repeat(512))?.traceState?.length, 512);
    assert.deepEqual(parseTraceParent(header, 'a'.repeat(513)), parseTraceParent(header));
  });

  for (const header of [
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01\n00`,
    `cc-${traceId}-${spanId}-01.x`,
  ]) {
    it(`ignores ${JSON.stringify(header)}`, () => assert.equal(parseTraceParent(header), undefined));
  }
});

describe('formatTraceParent()', () => {
  it('writes what parseTraceParent() reads', () => {
    for (const traceFlags of [0, 1, 255]) {
      const context = { traceId, spanId, traceFlags, traceState: undefined };
      assert.deepEqual(parseTraceParent(formatTraceParent(context)), context);
    }
  });
});
