import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addTotals, createActivity, kinds, noTotals, type RequestTotals, type TotalsByKind } from './activity.ts';

const bounds = [1, 10, 100];

describe('createActivity()', () => {
  function stage() {
    let nowMs = 5_000;
    let totals = Object.fromEntries(kinds.map((kind) => [kind, noTotals(bounds.length)])) as TotalsByKind;
    const activity = createActivity(
      () => totals,
      bounds,
      () => nowMs,
    );
    return {
      activity,
      /** Has requests come that took so long, in the place of one of the bounds. */
      come(kind: 'lists' | 'others', requests: number, place: number, more: Partial<RequestTotals> = {}) {
        const bucketCounts = [0, 0, 0, 0].with(place, requests);
        totals = {
          ...totals,
          [kind]: addTotals(totals[kind], { requests, refused: 0, failed: 0, ...more, bucketCounts }),
        };
      },
      /** Lets time pass, with its ticks. */
      pass(seconds: number) {
        for (let second = 5; second <= seconds; second += 5) {
          nowMs += 5_000;
          activity.tick();
        }
      },
    };
  }

  it('returns the requests of the last minute by kind, from the start', () => {
    const { activity, come, pass } = stage();
    come('lists', 98, 0);
    come('lists', 2, 2, { failed: 1 });
    pass(10);
    come('others', 1, 3, { refused: 1 });
    const { seconds, kinds: byKind } = activity.recent();
    assert.equal(seconds, 10);
    assert.deepEqual(byKind.lists, { requests: 100, refused: 0, failed: 1, p50Ms: 1, p99Ms: 100 });
    assert.deepEqual(byKind.others, { requests: 1, refused: 1, failed: 0, p50Ms: 100, p99Ms: 100 });
    assert.deepEqual(byKind.publishes, { requests: 0, refused: 0, failed: 0, p50Ms: null, p99Ms: null });
  });

  it('drops values older than a minute', () => {
    const { activity, come, pass } = stage();
    come('lists', 7, 0);
    pass(30);
    come('lists', 5, 0);
    pass(40);
    const { seconds, kinds: byKind } = activity.recent();
    assert.equal(byKind.lists.requests, 5);
    assert.ok(seconds >= 60 && seconds <= 65, String(seconds));
    pass(60);
    assert.equal(activity.recent().kinds.lists.requests, 0);
  });

  it('keeps the minutes of an hour, over all kinds', () => {
    const { activity, come, pass } = stage();
    come('lists', 3, 0);
    come('others', 1, 1, { failed: 1 });
    pass(55);
    assert.deepEqual(activity.history(), { untilMsAgo: 55_000, minutes: [] });
    pass(5);
    const first = { requests: 4, refused: 0, failed: 1, p99Ms: 10 };
    assert.deepEqual(activity.history(), { untilMsAgo: 0, minutes: [first] });
    pass(120);
    const none = { requests: 0, refused: 0, failed: 0, p99Ms: null };
    assert.deepEqual(activity.history().minutes, [first, none, none]);
    pass(3600);
    assert.equal(activity.history().minutes.length, 60);
    assert.ok(activity.history().minutes.every(({ requests }) => requests === 0));
  });
});
