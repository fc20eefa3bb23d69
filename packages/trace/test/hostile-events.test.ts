import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom, type Random } from '../../../test/helpers/random.ts';
import { volume } from '../../../test/helpers/volume.ts';
import type { Span } from '../src/index.ts';
import { moduleOf, observe } from './support/observed.ts';

const module = moduleOf('(module (memory (export "memory") 1) (data (i32.const 0) "name:value,other"))');

type Hook = (...values: number[]) => void;

/** Events that no module made by an instrumenter reports: in no order, and more than there is room for. */
function play(random: Random) {
  const limits = {
    spans: random.pick([1, 3, 20, 1_000]),
    depth: random.pick([1, 2, 7, 100]),
    events: random.pick([1, 4, 100]),
    attributes: random.pick([1, 100]),
    textLength: random.pick([1, 100]),
    traceTextLength: random.pick([20, 10_000]),
  };
  const minDurationMicroseconds = random.pick([0, 1, 20]);
  const observed = observe(module, { limits, spanFilter: { minDurationMicroseconds }, statistics: true });
  const { context, clock } = observed;
  context.bind(new WebAssembly.Instance(module));
  const hooks = context.imports['dylibso:observe/instrument'] as Record<'enter' | 'exit' | 'memory-grow', Hook>;
  const api = context.imports['dylibso:observe/api'] as Record<'span-enter' | 'span-exit' | 'span-tags' | 'log', Hook>;
  const counted = { calls: 0, pages: 0, retained: new Set<string>() };
  const step = (nesting: number): void => {
    clock.moveNs(random.below(12_000));
    const kind = random.below(100);
    if (kind < 35) {
      hooks.enter(random.below(5));
      counted.calls++;
    } else if (kind < 65) hooks.exit(random.below(5));
    else if (kind < 72) {
      api['span-enter'](0, random.below(20));
      counted.calls++;
    } else if (kind < 78) api['span-exit']();
    else if (kind < 82) hooks['memory-grow'](random.below(9));
    else if (kind < 85) api.log(random.below(7), 0, random.below(200));
    else if (kind < 88) api['span-tags'](random.below(70_000), random.below(70_000));
    else if (kind < 90) context.spanContext();
    else if (nesting < 4) {
      try {
        context.run(() => {
          for (let count = random.below(12); count > 0; count--) step(nesting + 1);
          if (random.chance(0.3)) throw new Error('a trap');
        });
      } catch (error) {
        assert.equal((error as Error).message, 'a trap');
      }
    }
  };
  context.run(() => {
    for (let count = 50 + random.below(200); count > 0; count--) step(0);
  });
  return { ...observed, counted, limits };
}

function checkBatch(batch: readonly Span[], maxSpans: number): void {
  assert.ok(batch.length <= maxSpans);
  const byId = new Map<string, Span>();
  for (const [place, span] of batch.entries()) {
    const parent = byId.get(span.parentSpanId ?? '');
    assert.equal(parent === undefined, place === 0, 'the root alone lies in no span, and parents come first');
    assert.ok(!byId.has(span.spanId));
    byId.set(span.spanId, span);
    assert.ok(span.startTimeUnixNano <= span.endTimeUnixNano);
    assert.ok(span.selfTimeNano >= 0n);
    assert.ok(span.folded.timeNano >= 0n && span.folded.timeNano <= span.endTimeUnixNano - span.startTimeUnixNano);
    if (parent === undefined) continue;
    assert.ok(parent.startTimeUnixNano <= span.startTimeUnixNano && span.endTimeUnixNano <= parent.endTimeUnixNano);
    assert.equal(span.traceId, parent.traceId);
  }
}

describe('start() on events that make no sense', () => {
  it('never throws, loses no call, and gives trees', (test) => {
    let calls = 0;
    let spans = 0;
    for (let seed = 1; seed <= volume(200, 2_000); seed++) {
      const { batches, context, counted, limits } = play(createRandom(seed));
      for (const batch of batches) checkBatch(batch, limits.spans);
      const { dropped, functions } = context.statistics();
      const reported = batches.flat().reduce((sum, { folded }) => sum + 1 + folded.calls, 0);
      assert.equal(reported + dropped.depth, counted.calls, `seed ${seed}: every call is reported`);
      for (const { calls: ofFunction, failures } of functions) assert.ok(failures <= ofFunction);
      assertClean(context, batches, seed);
      calls += counted.calls;
      spans += batches.flat().length;
    }
    test.diagnostic(`${calls} calls, ${spans} spans`);
  });
});

/** Nothing of what went before is left in a trace that makes sense. */
function assertClean(
  { imports }: ReturnType<typeof play>['context'],
  batches: (readonly Span[])[],
  seed: number,
): void {
  const { enter, exit } = imports['dylibso:observe/instrument'] as Record<'enter' | 'exit', Hook>;
  batches.length = 0;
  enter(7);
  exit(7);
  const [[span, ...more] = [], ...others] = batches;
  assert.deepEqual([more, others], [[], []], `seed ${seed}`);
  assert.deepEqual(
    { ...span, traceId: '', spanId: '', startTimeUnixNano: span?.endTimeUnixNano },
    {
      traceId: '',
      spanId: '',
      parentSpanId: undefined,
      traceFlags: 1,
      traceState: undefined,
      name: 'func[7]',
      function: { index: 7, rawName: 'func[7]', name: 'func[7]' },
      startTimeUnixNano: span?.endTimeUnixNano,
      endTimeUnixNano: span?.endTimeUnixNano,
      selfTimeNano: 0n,
      folded: { calls: 0, timeNano: 0n },
      grownPages: 0,
      status: { code: 'unset', message: '' },
      attributes: new Map(),
      events: [],
      dropped: { events: 0, attributes: 0 },
    },
    `seed ${seed}: nothing is left of what went before`,
  );
}
