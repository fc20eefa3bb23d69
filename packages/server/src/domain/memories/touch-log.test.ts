import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../../../test/helpers/random.ts';
import { createTouchLog } from './touch-log.ts';

describe('createTouchLog()', () => {
  it('tells what was touched since a moment, and what was not', () => {
    const log = createTouchLog();
    const before = log.moment;
    log.note(['a', 'b']);
    const between = log.moment;
    log.note(['c']);
    assert.equal(log.isUntouched(['a'], before), false);
    assert.equal(log.isUntouched(['d', 'c'], before), false);
    assert.equal(log.isUntouched(['d'], before), true);
    assert.equal(log.isUntouched(['a', 'b'], between), true);
    assert.equal(log.isUntouched(['c'], between), false);
    assert.equal(log.isUntouched(['a', 'b', 'c'], log.moment), true);
  });

  it('knows nothing to be untouched by a commit of which nobody knows what it touched', () => {
    const log = createTouchLog();
    const before = log.moment;
    log.note(undefined);
    assert.equal(log.isUntouched([], before), false);
    assert.equal(log.isUntouched(['a'], log.moment), true);
  });

  it('gives up its older notes, and knows how far back they reach', () => {
    const log = createTouchLog(4);
    const moments = [log.moment];
    for (const subject of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) {
      log.note([subject]);
      moments.push(log.moment);
    }
    // a to d are given up; e to h are the older half, i and j the younger one.
    assert.deepEqual(
      moments.map((since) => log.isUntouched(['x'], since)),
      [false, false, false, false, true, true, true, true, true, true, true],
    );
    assert.deepEqual(
      moments.map((since) => log.isUntouched(['f'], since)),
      [false, false, false, false, false, false, true, true, true, true, true],
    );
    assert.equal(log.isUntouched(['j'], moments[9] ?? 0), false);
    log.note(['one', 'two', 'three', 'four', 'five']); // more than there is room for
    assert.equal(log.isUntouched(['x'], moments[10] ?? 0), false);
  });

  it('agrees with a list of everything, wherever it still knows', () => {
    const { below: random } = createRandom(7);
    const log = createTouchLog(8);
    const all: { readonly at: number; readonly touched: readonly string[] | undefined }[] = [];
    let known = 0;
    for (let round = 0; round < 3000; round++) {
      const touched = random(40) === 0 ? undefined : Array.from({ length: random(4) }, () => `s${random(12)}`);
      log.note(touched);
      all.push({ at: log.moment, touched });
      const since = Math.max(0, log.moment - random(20));
      const subjects = Array.from({ length: random(3) }, () => `s${random(12)}`);
      const isUntouched = !all.some(
        ({ at, touched: those }) => at > since && (those === undefined || subjects.some((one) => those.includes(one))),
      );
      if (log.isUntouched(subjects, since)) {
        known++;
        assert.ok(isUntouched, `round ${round}`);
      }
    }
    assert.ok(known > 500, `${known}`);
  });
});
