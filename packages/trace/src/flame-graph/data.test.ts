import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { growth, makeSpan, smallTrace } from '../../test/support/make-span.ts';
import { flameGraphData } from './data.ts';

describe('flameGraphData()', () => {
  it('puts parents before children, times since the first span, and each name once', () => {
    const spans = smallTrace();
    const data = flameGraphData(spans);
    assert.deepEqual(data.names, ['_start', 'main', 'parse(int)', 'run']);
    assert.deepEqual(data.rawNames, [null, null, '_Z5parsei', null]);
    assert.deepEqual(data.sources, [null, null, null, null]);
    assert.deepEqual(data.name, [0, 1, 2, 2, 2, 3]);
    assert.deepEqual(data.parent, [-1, 0, 1, 1, 1, 1]);
    assert.deepEqual(data.start, [0, 1_000, 2_000, 402_000, 902_000, 1_002_000]);
    assert.deepEqual(data.duration.slice(0, 3), [12_800_000, 12_796_930, 400_000]);
    assert.deepEqual(
      data.self,
      spans.map(({ selfTimeNano }) => Number(selfTimeNano)),
    );
    assert.deepEqual(data.folded, [[3, 340, 320_500]]);
    assert.deepEqual(data.failures, [[5, 'unreachable']]);
    assert.equal(data.title, '_start');
  });

  it('is the same whatever the order of the spans', () => {
    const spans = smallTrace();
    assert.deepEqual(flameGraphData(spans.toReversed()), flameGraphData(spans));
  });

  it('has an attribute of any kind as text, exactly', () => {
    const [[, entries] = []] = flameGraphData(smallTrace()).attributes;
    assert.deepEqual(entries?.slice(0, 2), [
      ['plugin.step', 'last'],
      ['count', '9007199254740993'],
    ]);
  });

  it('survives JSON', () => {
    const data = flameGraphData(smallTrace(), { title: 'x', initialPages: 17 });
    assert.deepEqual(JSON.parse(JSON.stringify(data)), data);
  });

  it('tells when memory grew, and at the end of a span what has no event', () => {
    const data = flameGraphData([
      makeSpan({ id: 1, start: 0, end: 100, grownPages: 7, events: [growth(40, 2), growth(20, 1)] }),
      makeSpan({ id: 2, parent: 1, start: 25, end: 30, grownPages: 1, events: [growth(26, 1)] }),
    ]);
    assert.deepEqual(data.growth, [
      [20, 1],
      [26, 1],
      [40, 2],
      [100, 4],
    ]);
  });

  it('begins a tree of its own with a span whose parent is elsewhere, is itself, or lies in a circle', () => {
    const spans = [
      makeSpan({ id: 1, parent: 99, start: 0, end: 10 }),
      makeSpan({ id: 2, parent: 2, start: 20, end: 30 }),
      makeSpan({ id: 3, parent: 4, start: 40, end: 50 }),
      makeSpan({ id: 4, parent: 3, start: 41, end: 49 }),
    ];
    assert.deepEqual(flameGraphData(spans).parent, [-1, -1, -1, 2]);
  });

  it('keeps functions apart that have one name for people and several in the module', () => {
    const of = (id: number, rawName: string) =>
      makeSpan({ id, start: id, end: id + 1, name: 'f', function: { index: id, rawName, name: 'f' } });
    assert.deepEqual(flameGraphData([of(1, '_Zf1'), of(2, '_Zf2'), of(3, '_Zf1')]).name, [0, 1, 0]);
  });

  it('cuts names that are too long for any screen', () => {
    const data = flameGraphData([makeSpan({ id: 1, start: 0, end: 1, name: 'n'.repeat(1_000_000) })]);
    assert.equal(data.names[0]?.length, 2_001);
    assert.equal(data.title.length, 2_001);
  });

  it('is empty without spans', () => {
    assert.deepEqual(flameGraphData([]).name, []);
  });

  it('takes calls ten thousand deep', () => {
    const deep = Array.from({ length: 10_000 }, (_, at) =>
      makeSpan({ id: at + 1, ...(at > 0 && { parent: at }), start: at, end: 40_000 - at }),
    );
    assert.equal(flameGraphData(deep).parent.at(-1), 9_998);
  });
});
