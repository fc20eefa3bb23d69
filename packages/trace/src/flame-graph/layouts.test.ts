import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../../test/helpers/random.ts';
import { makeSpan, smallTrace } from '../../test/support/make-span.ts';
import { flameGraphData } from './data.ts';
import { findFrames, matchingNames, totalTime } from './find.ts';
import { childrenOf, type Frames, frameAt, pathTo } from './frames.ts';
import { functionStats } from './function-stats.ts';
import { layOutLeftHeavy } from './left-heavy.ts';
import { layOutTimeOrder } from './time-order.ts';

/** Two frames of a row that overlap, if there are any. */
function overlaps(frames: Frames): readonly number[] {
  for (const row of frames.rows) {
    for (let at = 1; at < row.length; at++) {
      const [before, next] = [row[at - 1] as number, row[at] as number];
      if ((frames.to[before] as number) > (frames.from[next] as number)) return [before, next];
    }
  }
  return [];
}

/** A trace of which nothing is known but that children lie within their parents. */
function randomTrace(seed: number, count: number) {
  const { below } = createRandom(seed);
  const ends: number[] = [];
  return Array.from({ length: count }, (_, at) => {
    const parent = at === 0 ? 0 : 1 + below(at);
    const within = at === 0 || below(20) === 0 ? undefined : parent;
    const start = within === undefined ? at * 1_000 : at * 10;
    ends.push(start + below(5_000));
    return makeSpan({
      id: at + 1,
      ...(within !== undefined && { parent: within }),
      start,
      end: ends[at] as number,
      name: `f${below(7)}`,
    });
  });
}

describe('layOutTimeOrder()', () => {
  it('puts each call below the one that it lies in', () => {
    const frames = layOutTimeOrder(flameGraphData(smallTrace()));
    assert.deepEqual([...frames.row], [0, 1, 2, 2, 2, 2]);
    assert.deepEqual([...frames.from], [0, 1_000, 2_000, 402_000, 902_000, 1_002_000]);
    assert.equal(frames.extent, 12_800_000);
    assert.deepEqual(
      frames.rows.map((row) => [...row]),
      [[0], [1], [2, 3, 4, 5]],
    );
  });

  it('cuts a long pause between calls to a hundredth of the calls', () => {
    const frames = layOutTimeOrder(
      flameGraphData([
        makeSpan({ id: 1, start: 0, end: 500 }),
        makeSpan({ id: 2, start: 1_000_000, end: 1_000_500 }),
        makeSpan({ id: 3, start: 1_000_505, end: 1_000_600 }),
      ]),
    );
    const gap = 1_095 * 0.01;
    assert.deepEqual(
      frames.collapsedGaps.map((gap) => gap.toFixed(3)),
      [(500 + gap / 2).toFixed(3)],
    );
    assert.ok(Math.abs((frames.from[1] as number) - (500 + gap)) < 1e-6);
    assert.ok(Math.abs((frames.from[2] as number) - (1_005 + gap)) < 1e-6, 'a short one stays as it is');
    assert.ok(
      frames.placeOf(700_000) <= (frames.from[1] as number),
      'a moment within the pause stays before the next call',
    );
  });

  it('gives trees that overlap rows of their own', () => {
    const frames = layOutTimeOrder(
      flameGraphData([
        makeSpan({ id: 1, start: 0, end: 100 }),
        makeSpan({ id: 2, parent: 1, start: 10, end: 90 }),
        makeSpan({ id: 3, start: 50, end: 150 }),
        makeSpan({ id: 4, start: 100, end: 160 }),
      ]),
    );
    assert.deepEqual([...frames.row], [0, 1, 2, 0]);
  });

  it('lays no two frames of a row over each other, whatever the spans', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const data = flameGraphData(randomTrace(seed, 300));
      assert.deepEqual(overlaps(layOutTimeOrder(data)), [], `seed ${seed}`);
      assert.deepEqual(overlaps(layOutLeftHeavy(data)), [], `seed ${seed}`);
    }
  });
});

describe('layOutLeftHeavy()', () => {
  it('merges calls along the same path, the longest first', () => {
    const data = flameGraphData(smallTrace());
    const frames = layOutLeftHeavy(data);
    const named = (name: string) => [...frames.name].findIndex((number) => data.names[number] === name);
    const parse = named('parse(int)');
    const run = named('run');
    assert.equal(frames.count, 4);
    assert.deepEqual([frames.calls[parse], frames.total[parse], frames.foldedCalls[parse]], [3, 1_000_000, 340]);
    assert.equal(frames.failures[run], 1);
    assert.equal(frames.from[run], 0);
    assert.equal(frames.from[parse], frames.to[run]);
  });

  it('keeps what is called along different paths apart', () => {
    const call = (id: number, name: string, start: number, end: number, parent?: number) =>
      makeSpan({ id, name, start, end, ...(parent !== undefined && { parent }) });
    const data = flameGraphData([
      call(1, 'a', 0, 10),
      call(2, 'c', 1, 2, 1),
      call(3, 'b', 20, 30),
      call(4, 'c', 21, 22, 3),
      call(5, 'a', 40, 50),
      call(6, 'c', 41, 43, 5),
    ]);
    const frames = layOutLeftHeavy(data);
    assert.deepEqual([...frames.calls], [2, 2, 1, 1]);
    assert.equal(frames.extent, 30);
  });

  it('makes room for calls that overlapped in time and took longer than what they lie in', () => {
    const data = flameGraphData([
      makeSpan({ id: 1, start: 0, end: 10 }),
      makeSpan({ id: 2, parent: 1, start: 0, end: 10 }),
      makeSpan({ id: 3, parent: 1, start: 0, end: 9 }),
    ]);
    const frames = layOutLeftHeavy(data);
    assert.equal(frames.extent, 19);
    assert.equal(frames.total[0], 10);
  });
});

describe('frameAt()', () => {
  const frames = layOutTimeOrder(flameGraphData(smallTrace()));

  it('finds the frame of a place, and none between frames', () => {
    assert.equal(frameAt(frames, 2, 500_000, 0), 3);
    assert.equal(frameAt(frames, 1, 12_800_500, 0), -1);
    assert.equal(frameAt(frames, 9, 0, 0), -1);
  });

  it('finds what is a little beside a place', () => {
    assert.equal(frameAt(frames, 1, 800, 0), -1);
    assert.equal(frameAt(frames, 1, 800, 300), 1);
  });
});

describe('childrenOf()', () => {
  it('finds what a frame called, from left to right, those that overlap in time too', () => {
    const data = flameGraphData([
      makeSpan({ id: 1, start: 0, end: 100 }),
      makeSpan({ id: 2, parent: 1, start: 0, end: 60 }),
      makeSpan({ id: 3, parent: 2, start: 5, end: 50 }),
      makeSpan({ id: 4, parent: 1, start: 20, end: 90 }),
    ]);
    const frames = layOutTimeOrder(data);
    assert.deepEqual([childrenOf(frames, -1), childrenOf(frames, 0), childrenOf(frames, 3)], [[0], [1, 3], []]);
  });
});

describe('pathTo()', () => {
  it('leads from a root to a frame', () => {
    assert.deepEqual(pathTo(layOutTimeOrder(flameGraphData(smallTrace())), 4), [0, 1, 4]);
  });
});

describe('findFrames()', () => {
  const data = flameGraphData([
    makeSpan({ id: 1, name: 'Outer', start: 0, end: 100 }),
    makeSpan({ id: 2, name: 'parse', parent: 1, start: 0, end: 40 }),
    makeSpan({ id: 3, name: 'Reparse', parent: 2, start: 10, end: 20 }),
    makeSpan({ id: 4, name: 'parse', parent: 1, start: 50, end: 60 }),
  ]);
  const frames = layOutTimeOrder(data);

  it('counts time within another match once, whatever the case of letters', () => {
    const { frames: found, calls, timeNano } = findFrames(frames, matchingNames(data, 'PARSE'));
    assert.deepEqual([found, calls, timeNano], [3, 3, 50]);
    assert.equal(totalTime(frames), 100);
  });

  it('searches source files', () => {
    const traced = { index: 1, rawName: 'run', name: 'run', file: '/src/Main.c', line: 7 };
    const found = flameGraphData([makeSpan({ id: 1, start: 0, end: 1, name: 'run', function: traced })]);
    assert.deepEqual(found.sources, ['/src/Main.c:7']);
    assert.deepEqual([...matchingNames(found, 'main.c:7')], [1]);
    assert.deepEqual([...matchingNames(found, 'main.c:8')], [0]);
  });

  it('tells how many of a row match before a place', () => {
    const { before } = findFrames(frames, matchingNames(data, 'parse'));
    assert.deepEqual(
      before.map((counts) => [...counts]),
      [
        [0, 0],
        [0, 1, 2],
        [0, 1],
      ],
    );
  });
});

describe('functionStats()', () => {
  it('counts the time of a recursive function once, and its own time fully', () => {
    const data = flameGraphData([
      makeSpan({ id: 1, name: 'f', start: 0, end: 100, selfTimeNano: 30n, grownPages: 2 }),
      makeSpan({ id: 2, name: 'g', parent: 1, start: 10, end: 80, selfTimeNano: 20n }),
      makeSpan({ id: 3, name: 'f', parent: 2, start: 20, end: 70, selfTimeNano: 50n, grownPages: 1 }),
      makeSpan({ id: 4, name: 'f', start: 200, end: 210, selfTimeNano: 10n, status: { code: 'error', message: 'x' } }),
    ]);
    const [f, g] = functionStats(data);
    assert.deepEqual(f, { name: 0, calls: 3, failures: 1, total: 110, self: 90, longest: 100, pages: 3 });
    assert.deepEqual(g, { name: 1, calls: 1, failures: 0, total: 70, self: 20, longest: 70, pages: 0 });
  });
});
