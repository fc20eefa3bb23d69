import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moduleOf, observe, tree } from '../test/support/observed.ts';
import type { TraceOptions } from './index.ts';

const named = moduleOf(`(module
  (func $a) (func $b) (func $c) (func $d)
  (memory (export "memory") 1)
  (data (i32.const 0) "load:fast,hit,deep:a:b, ,logged"))`);
const [a, b, c, d] = [0, 1, 2, 3];

/** The functions that a module would import, called by the test as the module would. */
function events(options: TraceOptions = {}) {
  const observed = observe(named, options);
  const { 'dylibso:observe/instrument': hooks, 'dylibso:observe/api': api } = observed.context.imports;
  const { enter, exit } = hooks as { enter: (index: number) => void; exit: (index: number) => void };
  const grow = hooks['memory-grow'] as (pages: number) => void;
  const manual = api as Record<string, (...args: (number | bigint)[]) => void>;
  observed.context.bind(new WebAssembly.Instance(named));
  return { ...observed, enter, exit, grow, manual };
}

describe('enter() and exit()', () => {
  it('make spans with exact times since 1970, parents before children', () => {
    const { enter, exit, clock, batches } = events();
    const began = clock.originUnixNano + BigInt(clock.nowNs());
    for (const step of [() => enter(a), () => enter(b), () => enter(c), () => exit(c), () => exit(b), () => exit(a)]) {
      step();
      clock.moveNs(1_001);
    }
    const [batch = []] = batches;
    assert.deepEqual(tree(batch), ['a', '  b', '    c']);
    assert.deepEqual(
      batch.map(({ startTimeUnixNano, endTimeUnixNano }) => [startTimeUnixNano - began, endTimeUnixNano - began]),
      [
        [0n, 5_005n],
        [1_001n, 4_004n],
        [2_002n, 3_003n],
      ],
    );
    assert.deepEqual(
      batch.map(({ selfTimeNano }) => selfTimeNano),
      [2_002n, 2_002n, 1_001n],
    );
  });

  it('give calls made one after the other in their order', () => {
    const { enter, exit, batches } = events();
    enter(a);
    for (const func of [b, c, b]) {
      enter(func);
      enter(d);
      exit(d);
      exit(func);
    }
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a', '  b', '    d', '  c', '    d', '  b', '    d']);
  });

  it('leave out what is shorter than the minimum, and count it in the nearest span around it', () => {
    const { enter, exit, grow, clock, batches } = events({ spanFilter: { minDurationMicroseconds: 20 } });
    enter(a);
    enter(b);
    clock.moveNs(30_000);
    enter(c);
    enter(d);
    clock.moveNs(7_000);
    grow(3);
    exit(d);
    clock.moveNs(2_000);
    exit(c);
    exit(b);
    enter(d);
    clock.moveNs(19_999);
    exit(d);
    exit(a);
    const [root, span, ...more] = batches[0] ?? [];
    assert.deepEqual(tree(batches[0]), ['a', '  b']);
    assert.deepEqual(more, []);
    assert.deepEqual(span?.folded, { calls: 2, timeNano: 9_000n });
    assert.equal(span?.selfTimeNano, 39_000n);
    assert.equal(span?.grownPages, 3);
    assert.deepEqual(
      span?.events.map(({ name, attributes }) => [name, ...attributes]),
      [['memory.grow', ['pages', 3]]],
    );
    assert.deepEqual(root?.folded, { calls: 1, timeNano: 19_999n });
    assert.equal(root?.grownPages, 0);
  });

  it('emit a root however short', () => {
    const { enter, exit, batches } = events({ spanFilter: { minDurationMicroseconds: 1e300 } });
    enter(a);
    enter(b);
    exit(b);
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a']);
    assert.equal(batches[0]?.[0]?.folded.calls, 1);
  });

  it('go on at the nearest open call where an exit does not fit, and end what lies within as failed', () => {
    const { enter, exit, context, batches } = events();
    for (const func of [a, b, c, d]) enter(func);
    exit(b);
    exit(d);
    exit(a);
    const reason = 'the end of this call was not reported';
    assert.deepEqual(tree(batches[0]), ['a', '  b', `    c ! ${reason}`, `      d ! ${reason}`]);
    assert.equal(context.statistics().dropped.unmatched, 3);
  });

  it('take an exit that fits nothing for nothing', () => {
    const { enter, exit, context, batches } = events();
    exit(a);
    enter(a);
    exit(-1);
    exit(Number.NaN);
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a']);
    assert.equal(context.statistics().dropped.unmatched, 3);
  });

  it('end what a trap left open once the host is done, without bind()', async () => {
    const { enter, exit, context, batches } = events();
    enter(a);
    enter(b);
    await Promise.resolve();
    enter(c);
    exit(c);
    const reason = 'the end of this call was not reported';
    assert.deepEqual(batches.map(tree), [[`a ! ${reason}`, `  b ! ${reason}`], ['c']]);
    assert.equal(context.statistics().dropped.unmatched, 2);
  });

  it('name functions that have no name by their index', () => {
    const { enter, exit, batches } = events();
    enter(77);
    exit(77);
    assert.deepEqual(batches[0]?.[0]?.function, { index: 77, rawName: 'func[77]', name: 'func[77]' });
  });
});

describe('limits', () => {
  it('keep a number of spans, with all around them, and count the others in those', () => {
    const { enter, exit, clock, context, batches } = events({ limits: { spans: 4 } });
    enter(a);
    for (const func of [b, c]) {
      enter(func);
      for (let count = 0; count < 5; count++) {
        enter(d);
        clock.moveNs(1_000);
        exit(d);
      }
      exit(func);
    }
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a', '  b', '    d', '    d']);
    const [root, first] = batches[0] ?? [];
    assert.deepEqual(first?.folded, { calls: 3, timeNano: 3_000n });
    assert.deepEqual(root?.folded, { calls: 6, timeNano: 5_000n });
    assert.equal(context.statistics().dropped.spans, 9);
  });

  it('hold for one root, and not for the next', () => {
    const { enter, exit, batches } = events({ limits: { spans: 2 } });
    for (let count = 0; count < 3; count++) {
      enter(a);
      enter(b);
      exit(b);
      exit(a);
    }
    assert.deepEqual(batches.map(tree), Array(3).fill(['a', '  b']));
  });

  for (const depth of [1, 2, 3, 40]) {
    it(`keep ${depth} calls within each other, and count deeper ones`, () => {
      const { enter, exit, context, batches } = events({ limits: { depth } });
      for (let round = 0; round < 2; round++) {
        for (let level = 0; level < depth + 5; level++) enter(a);
        for (let level = 0; level < depth + 5; level++) exit(a);
      }
      assert.deepEqual(
        batches.map(({ length }) => length),
        [depth, depth],
      );
      const { dropped } = context.statistics();
      assert.equal(dropped.depth, 10);
      assert.equal(dropped.unmatched, 0);
    });
  }

  it('forget calls that were too deep when a trap leaves them', () => {
    const { enter, exit, context, batches } = events({ limits: { depth: 2 } });
    assert.throws(
      () =>
        context.run(() => {
          for (let level = 0; level < 9; level++) enter(a);
          throw new Error('stop');
        }),
      /stop/,
    );
    enter(b);
    exit(b);
    assert.deepEqual(batches.map(tree), [['a ! Error: stop', '  a ! Error: stop'], ['b']]);
  });

  it('keep a number of events in a span', () => {
    const { enter, exit, grow, context, batches } = events({ limits: { events: 2 } });
    enter(a);
    for (let pages = 1; pages <= 5; pages++) grow(pages);
    exit(a);
    const [span] = batches[0] ?? [];
    assert.equal(span?.events.length, 2);
    assert.equal(span?.dropped.events, 3);
    assert.equal(span?.grownPages, 15);
    assert.equal(context.statistics().dropped.events, 3);
  });

  it('count the events of folded calls among those of the span around them', () => {
    const { enter, exit, grow, context, batches } = events({
      limits: { events: 3 },
      spanFilter: { minDurationMicroseconds: 20 },
    });
    enter(a);
    grow(1);
    for (const pages of [2, 3]) {
      enter(b);
      grow(pages);
      grow(pages);
      exit(b);
    }
    exit(a);
    const [span] = batches[0] ?? [];
    assert.deepEqual(
      span?.events.map(({ attributes }) => attributes.get('pages')),
      [1, 2, 2],
    );
    assert.equal(span?.dropped.events, 2);
    assert.equal(span?.grownPages, 11);
    assert.equal(context.statistics().dropped.events, 2);
  });

  it('count growth that happens in no call among the events that were dropped', () => {
    const { grow, context } = events();
    grow(1);
    assert.equal(context.statistics().dropped.events, 1);
  });
});

describe('span-enter and span-exit', () => {
  it('make spans that the author names', () => {
    const { enter, exit, manual, batches } = events();
    enter(a);
    manual['span-enter']?.(0, 4);
    enter(b);
    exit(b);
    manual['span-exit']?.();
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a', '  load', '    b']);
    assert.equal(batches[0]?.[1]?.function, undefined);
  });

  it('begin a trace where no call is open', () => {
    const { manual, batches } = events();
    manual['span-enter']?.(0n, 4);
    manual['span-exit']?.();
    assert.deepEqual(tree(batches[0]), ['load']);
  });

  it('outlive the functions that authors wrap them in', () => {
    const { enter, exit, manual, clock, batches } = events();
    enter(a);
    enter(b);
    manual['span-enter']?.(0, 4);
    clock.moveNs(10);
    exit(b);
    enter(c);
    clock.moveNs(500);
    exit(c);
    enter(d);
    clock.moveNs(10);
    manual['span-exit']?.();
    exit(d);
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a', '  b', '  load', '    c', '  d']);
    const [root] = batches[0] ?? [];
    assert.ok((root?.selfTimeNano ?? -1n) >= 0n);
  });

  it('keep what was within before the wrapping function ended', () => {
    const { enter, exit, manual, batches } = events();
    enter(a);
    enter(b);
    manual['span-enter']?.(0, 4);
    enter(c);
    exit(c);
    manual['span-tags']?.(0, 9);
    exit(b);
    manual['span-exit']?.();
    exit(a);
    assert.deepEqual(tree(batches[0]), ['a', '  b', '  load', '    c']);
    assert.equal(batches[0]?.[2]?.attributes.get('load'), 'fast');
  });

  it('end with the root at the latest', () => {
    const { enter, exit, manual, context, batches } = events();
    enter(a);
    manual['span-enter']?.(0, 4);
    exit(a);
    manual['span-exit']?.();
    assert.deepEqual(tree(batches[0]), ['a', '  load ! the end of this call was not reported']);
    assert.equal(context.statistics().dropped.unmatched, 2);
  });
});

describe('span-tags, log and metric', () => {
  it('put tags on the innermost manual span, past functions that wrap the call', () => {
    const { enter, exit, manual, batches } = events();
    enter(a);
    manual['span-enter']?.(0, 4);
    enter(b);
    manual['span-tags']?.(0, 24);
    exit(b);
    manual['span-exit']?.();
    manual['span-tags']?.(10, 3);
    exit(a);
    const [root, span] = batches[0] ?? [];
    assert.deepEqual(
      [...(span?.attributes ?? [])],
      [
        ['load', 'fast'],
        ['hit', true],
        ['deep', 'a:b'],
      ],
    );
    assert.deepEqual([...(root?.attributes ?? [])], [['hit', true]]);
  });

  it('keep logs and metrics as events, with 64-bit addresses too', () => {
    const { enter, exit, manual, clock, batches } = events();
    enter(a);
    clock.moveNs(5);
    manual.log?.(2, 25, 6);
    manual.metric?.(1, 0n, 9);
    exit(a);
    const [span] = batches[0] ?? [];
    assert.deepEqual(
      span?.events.map(({ name, timeUnixNano, attributes }) => [
        name,
        timeUnixNano - span.startTimeUnixNano,
        Object.fromEntries(attributes),
      ]),
      [
        ['log', 5n, { 'log.severity': 'warn', 'log.message': 'logged' }],
        ['metric', 5n, { 'metric.format': 'statsd', 'metric.message': 'load:fast' }],
      ],
    );
  });

  it('read what metrics say, several at a time', () => {
    const observed = observe(named, { limits: { events: 2 } });
    const memory = new WebAssembly.Memory({ initial: 1 });
    const text = new TextEncoder().encode('hits:2|c|#kind:a\n\nheap:9|g\nlost:1|c');
    new Uint8Array(memory.buffer).set(text);
    const instance = Object.create(WebAssembly.Instance.prototype, { exports: { value: { memory } } });
    observed.context.bind(instance);
    const { enter, exit } = observed.context.imports['dylibso:observe/instrument'] as Record<
      string,
      (at: number) => void
    >;
    const { metric } = observed.context.imports['dylibso:observe/api'] as { metric: (...args: number[]) => void };
    enter?.(0);
    metric(1, 0, text.length);
    metric(2, 0, 4);
    exit?.(0);
    const [span] = observed.batches[0] ?? [];
    assert.deepEqual(
      span?.events.map(({ attributes }) => Object.fromEntries(attributes)),
      [
        {
          'metric.format': 'statsd',
          'metric.message': 'hits:2|c|#kind:a',
          'metric.name': 'hits',
          'metric.type': 'counter',
          'metric.value': 2,
          'metric.tags': ['kind:a'],
        },
        {
          'metric.format': 'statsd',
          'metric.message': 'heap:9|g',
          'metric.name': 'heap',
          'metric.type': 'gauge',
          'metric.value': 9,
        },
      ],
    );
    assert.equal(span?.dropped.events, 2);
  });

  it('read no further than the memory, and no more than the limits', () => {
    const { enter, exit, manual, context, batches } = events({ limits: { textLength: 5, traceTextLength: 8 } });
    enter(a);
    manual.log?.(1, -1, 10);
    manual.log?.(1, 1n << 63n, 10);
    manual.log?.(1, 0, -1);
    manual.log?.(1, 0, 10);
    manual.log?.(1, 0, 10);
    manual['span-tags']?.(0, 10);
    exit(a);
    const messages = batches[0]?.[0]?.events.map(({ attributes }) => attributes.get('log.message'));
    assert.deepEqual(messages, ['load:', 'loa']);
    assert.equal(context.statistics().dropped.events, 3);
    assert.equal(context.statistics().dropped.attributes, 1);
  });

  it('take nothing of the share of text of calls that come later', () => {
    const { enter, exit, manual, batches } = events({ limits: { traceTextLength: 8 } });
    for (let count = 0; count < 3; count++) manual.log?.(1, 0, 9);
    enter(a);
    manual.log?.(1, 0, 9);
    exit(a);
    assert.deepEqual(
      batches[0]?.[0]?.events.map(({ attributes }) => attributes.get('log.message')),
      ['load:fas'],
    );
  });

  it('say once that the memory is not known', () => {
    const codes: string[] = [];
    const { context } = observe(named, { onError: ({ code }) => codes.push(code) });
    const { log } = context.imports['dylibso:observe/api'] as { log: (...args: number[]) => void };
    log(1, 0, 4);
    log(1, 0, 4);
    assert.deepEqual(codes, ['no_memory']);
  });
});
