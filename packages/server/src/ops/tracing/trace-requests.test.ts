import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createRequestTraces } from './trace-requests.ts';
import { createTracer } from './tracer.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';

interface Chance {
  readonly ratio: number;
  readonly random: number;
  readonly trustsCallers?: boolean;
}

/** Whether a request is traced, without a parent or with one that has these flags. */
function isTraced({ ratio, random, trustsCallers = false }: Chance, flags?: string): boolean {
  const tracer = createTracer({ random: (bytes) => new Uint8Array(bytes), export: () => {}, maxSpans: 1 });
  const traces = createRequestTraces({
    tracer,
    samplingRatio: ratio,
    random: () => random,
    trustsCallers,
    probes: new Set(),
  });
  const headers = flags === undefined ? {} : { traceparent: `00-${traceId}-b7ad6b7169203331-${flags}` };
  return traces.begin({ headers, httpVersion: '1.1' } as unknown as IncomingMessage);
}

describe('createRequestTraces()', () => {
  it('traces the share of requests that is set', () => {
    assert.equal(isTraced({ ratio: 1, random: 0.9999 }), true);
    assert.equal(isTraced({ ratio: 0.25, random: 0.2499 }), true);
    assert.equal(isTraced({ ratio: 0.25, random: 0.25 }), false);
    assert.equal(isTraced({ ratio: 0, random: 0 }), false);
  });

  it('ignores the flag of a caller that is not trusted', () => {
    for (const flags of ['00', '01']) {
      assert.equal(isTraced({ ratio: 0.1, random: 0.9 }, flags), false);
      assert.equal(isTraced({ ratio: 0.1, random: 0.05 }, flags), true);
    }
  });

  it('uses the flag of a trusted caller, and the sampling ratio without a caller', () => {
    const trusting = { ratio: 0, random: 0, trustsCallers: true };
    assert.equal(isTraced(trusting, '01'), true);
    assert.equal(isTraced(trusting, 'fe'), false);
    assert.equal(isTraced({ ...trusting, ratio: 1 }, '00'), false);
    assert.equal(isTraced(trusting), false);
    assert.equal(isTraced({ ...trusting, ratio: 1 }), true);
  });
});
