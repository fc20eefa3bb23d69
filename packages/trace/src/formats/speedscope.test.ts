import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../../test/helpers/random.ts';
import { makeSpan, smallTrace } from '../../test/support/make-span.ts';
import type { Span } from '../span.ts';
import { speedscope } from './speedscope.ts';

interface Profile {
  readonly name: string;
  readonly startValue: number;
  readonly endValue: number;
  readonly events: readonly { readonly type: 'O' | 'C'; readonly frame: number; readonly at: number }[];
}

describe('speedscope()', () => {
  it('opens and closes each call at its time', () => {
    const { name, shared, profiles } = JSON.parse(speedscope(smallTrace()));
    assert.equal(name, '_start');
    assert.deepEqual(shared.frames, [{ name: '_start' }, { name: 'main' }, { name: 'parse(int)' }, { name: 'run' }]);
    assert.equal(profiles.length, 1);
    assert.deepEqual(
      profiles[0].events.map(({ type, frame, at }: Profile['events'][number]) => `${type}${frame} ${at}`),
      [
        ...['O0 0', 'O1 1000', 'O2 2000', 'C2 402000', 'O2 402000', 'C2 902000', 'O2 902000', 'C2 1002000'],
        ...['O3 1002000', 'C3 12797518', 'C1 12797930', 'C0 12800000'],
      ],
    );
    assert.equal(profiles[0].unit, 'nanoseconds');
    assert.equal(profiles[0].endValue, 12_800_000);
  });

  it('has the source of each function', () => {
    const traced = { index: 1, rawName: 'f', name: 'f', file: '/src/f.c', line: 7 };
    const spans = [
      makeSpan({ id: 1, start: 0, end: 2, name: 'f', function: traced }),
      makeSpan({ id: 2, start: 3, end: 4, name: 'f', function: { ...traced, file: '/src/g.c' } }),
    ];
    const { frames } = JSON.parse(speedscope(spans)).shared;
    assert.deepEqual(frames, [
      { name: 'f', file: '/src/f.c', line: 7 },
      { name: 'f', file: '/src/g.c', line: 7 },
    ]);
  });

  it('takes a name', () => {
    assert.equal(JSON.parse(speedscope(smallTrace(), { name: 'app.wasm' })).name, 'app.wasm');
    assert.deepEqual(JSON.parse(speedscope([])).profiles, []);
  });

  it('keeps every call, closes what it opened last, and never goes back in time, whatever overlaps', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const spans = randomSpans(seed);
      const { shared, profiles } = JSON.parse(speedscope(spans));
      const durations: string[] = [];
      for (const profile of profiles as Profile[]) {
        const open: { readonly frame: number; readonly at: number }[] = [];
        let last = profile.startValue;
        for (const { type, frame, at } of profile.events) {
          assert.ok(at >= last, `seed ${seed}: ${at} after ${last}`);
          last = at;
          if (type === 'O') open.push({ frame, at });
          else {
            const opened = open.pop();
            assert.equal(opened?.frame, frame, `seed ${seed}`);
            durations.push(`${shared.frames[frame].name} ${at - (opened?.at ?? 0)}`);
          }
        }
        assert.equal(open.length, 0, `seed ${seed}`);
        assert.ok(last <= profile.endValue);
      }
      const all = spans.map(
        ({ name, startTimeUnixNano, endTimeUnixNano }) => `${name} ${endTimeUnixNano - startTimeUnixNano}`,
      );
      assert.deepEqual(durations.sort(), all.sort(), `seed ${seed}`);
    }
  });
});

/** Spans of which some overlap, some outlast their parents, and some begin where others end, in any order. */
function randomSpans(seed: number): Span[] {
  const random = createRandom(seed);
  const spans = Array.from({ length: 1 + random.below(60) }, (_, index) => {
    const start = random.below(40);
    return makeSpan({
      id: index + 1,
      ...(index > 0 && random.below(5) > 0 && { parent: 1 + random.below(index) }),
      start,
      end: start + random.below(30),
      name: `f${random.below(4)}`,
    });
  });
  return spans.sort(() => random.below(3) - 1);
}
