import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeSpan } from '../../test/support/make-span.ts';
import { type SpanTree, walkTrees } from '../span-tree.ts';
import { lanesOf } from './lanes.ts';

describe('lanesOf()', () => {
  it('puts roots one after the other in one lane', () => {
    const spans = [makeSpan({ id: 2, start: 10, end: 20 }), makeSpan({ id: 1, start: 0, end: 10 })];
    assert.deepEqual(lanesOf(spans).map(written), ['f1 f2']);
  });

  it('has spans that are each other’s ancestors, the first as a root', () => {
    const spans = [
      makeSpan({ id: 1, parent: 2, start: 1, end: 9 }),
      makeSpan({ id: 2, parent: 1, start: 2, end: 8 }),
      makeSpan({ id: 3, parent: 2, start: 3, end: 7 }),
    ];
    assert.deepEqual(lanesOf(spans).map(written), ['f1(f2(f3))']);
  });

  it('puts roots that overlap in lanes of their own', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 10 }),
      makeSpan({ id: 2, start: 5, end: 15 }),
      makeSpan({ id: 3, start: 12, end: 20 }),
    ];
    assert.deepEqual(lanesOf(spans).map(written), ['f1 f3', 'f2']);
  });

  it('puts a call that ends after the one that began it in a lane of its own, with the calls within', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 10 }),
      makeSpan({ id: 2, parent: 1, start: 5, end: 30 }),
      makeSpan({ id: 3, parent: 2, start: 6, end: 7 }),
      makeSpan({ id: 4, parent: 1, start: 8, end: 9 }),
    ];
    assert.deepEqual(lanesOf(spans).map(written), ['f1(f4)', 'f2(f3)']);
  });

  it('puts siblings that overlap in lanes of their own', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 100 }),
      makeSpan({ id: 2, parent: 1, start: 5, end: 30 }),
      makeSpan({ id: 3, parent: 1, start: 6, end: 40 }),
      makeSpan({ id: 4, parent: 1, start: 30, end: 50 }),
      makeSpan({ id: 5, parent: 3, start: 39, end: 41 }),
    ];
    assert.deepEqual(lanesOf(spans).map(written), ['f1(f2 f4)', 'f3', 'f5']);
  });

  it('keeps calls without any duration where they are', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 0 }),
      makeSpan({ id: 2, parent: 1, start: 0, end: 0 }),
      makeSpan({ id: 3, parent: 1, start: 0, end: 0 }),
      makeSpan({ id: 4, parent: 3, start: 0, end: 0 }),
    ];
    assert.deepEqual(lanesOf(spans).map(written), ['f1(f2 f3(f4))']);
  });

  it('takes a span that names itself, or one that is not there, as a root', () => {
    const spans = [makeSpan({ id: 1, parent: 1, start: 0, end: 1 }), makeSpan({ id: 2, parent: 9, start: 1, end: 2 })];
    assert.deepEqual(lanesOf(spans).map(written), ['f1 f2']);
    assert.deepEqual(lanesOf([]), []);
  });

  it('goes as deep and as wide as a trace may be', () => {
    const deep = Array.from({ length: 60_000 }, (_, index) =>
      makeSpan({ id: index + 1, ...(index > 0 && { parent: index }), start: index, end: 200_000 - index }),
    );
    const wide = Array.from({ length: 150_000 }, (_, index) =>
      makeSpan({
        id: index + 1,
        ...(index > 0 && { parent: 1 }),
        start: index,
        end: index === 0 ? 200_000 : index + 1,
      }),
    );
    for (const spans of [deep, wide]) {
      let count = 0;
      const lanes = lanesOf(spans);
      for (const lane of lanes) walkTrees(lane, { enter: () => count++ });
      assert.equal(lanes.length, 1);
      assert.equal(count, spans.length);
    }
  });
});

function written(trees: readonly SpanTree[]): string {
  return trees
    .map(({ span, children }) => `${span.name}${children.length > 0 ? `(${written(children)})` : ''}`)
    .join(' ');
}
