import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { type Span, start, type TraceLimits } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';

/** `outer` tags itself twice, and calls `inner`, which tags itself and grows a memory five times. */
const text = `(module
  (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
  (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
  (import "dylibso:observe/instrument" "memory-grow" (func $grow (param i32)))
  (import "dylibso:observe/api" "span-tags" (func $tags (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "a:1,b:2,c:3") (data (i32.const 16) "b:4,d:5")
  (func $inner
    (call $enter (i32.const 4))
    (call $tags (i32.const 0) (i32.const 11))
    (call $grow (i32.const 1)) (call $grow (i32.const 2)) (call $grow (i32.const 3))
    (call $grow (i32.const 4)) (call $grow (i32.const 5))
    (call $exit (i32.const 4)))
  (func $outer (export "outer")
    (call $enter (i32.const 5))
    (call $tags (i32.const 0) (i32.const 11)) (call $tags (i32.const 16) (i32.const 7))
    (call $grow (i32.const 6)) (call $inner) (call $inner)
    (call $exit (i32.const 5))))`;

function trace(limits: Partial<TraceLimits>, minDurationMicroseconds: number) {
  const spans: Span[] = [];
  const context = start(new WebAssembly.Module(new Uint8Array(wat(text))), {
    spanFilter: { minDurationMicroseconds },
    exporters: [{ export: (batch) => void spans.push(...batch) }],
    limits,
    clock: createManualClock(),
  });
  (context.instantiateSync().exports.outer as () => void)();
  const seen = spans.map(({ name, attributes, events, grownPages, dropped }) => ({
    name,
    attributes: [...attributes].join(' '),
    pages: events.map((event) => event.attributes.get('pages')).join(' '),
    grownPages,
    dropped,
  }));
  return { seen, dropped: context.statistics().dropped };
}

describe('start() with limits', () => {
  it('keeps a number of attributes, takes new values of those, and counts the others', () => {
    const { seen, dropped } = trace({ attributes: 2 }, 0);
    assert.deepEqual(
      seen.map(({ name, attributes, dropped }) => [name, attributes, dropped.attributes]),
      [
        ['outer', 'a,1 b,4', 2],
        ['inner', 'a,1 b,2', 1],
        ['inner', 'a,1 b,2', 1],
      ],
    );
    assert.equal(dropped.attributes, 4);
  });

  it('keeps a number of events, and all pages', () => {
    const { seen, dropped } = trace({ events: 2 }, 0);
    assert.deepEqual(
      seen.map(({ name, pages, grownPages, dropped }) => [name, pages, grownPages, dropped.events]),
      [
        ['outer', '6', 6, 0],
        ['inner', '1 2', 15, 3],
        ['inner', '1 2', 15, 3],
      ],
    );
    assert.equal(dropped.events, 6);
  });

  it('counts what was dropped of folded calls in the span around them, once', () => {
    for (const [events, pages] of [
      [1, '6'],
      [2, '6 1'],
      [3, '6 1 2'],
      [7, '6 1 2 3 4 5 1'],
    ] as const) {
      const { seen, dropped } = trace({ events }, 20);
      assert.equal(seen.length, 1);
      assert.deepEqual([seen[0]?.pages, seen[0]?.grownPages], [pages, 36]);
      assert.deepEqual([seen[0]?.dropped.events, dropped.events], [11 - events, 11 - events]);
    }
  });
});
