import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { createDevicePolls } from './device-polls.ts';

describe('createDevicePolls()', () => {
  const polled = () => {
    let nowMs = 1_000_000;
    const polls = createDevicePolls(() => nowMs);
    const id = newId('deviceGrant');
    return {
      polls,
      id,
      after(ms: number, who = id) {
        nowMs += ms;
        return polls.isTooSoon(who);
      },
    };
  };

  it('accepts polls about five seconds apart', () => {
    const { after } = polled();
    assert.deepEqual(
      [0, 5000, 4000, 5000].map((ms) => after(ms)),
      [false, false, false, false],
    );
  });

  it('adds five seconds to the interval after each early poll', () => {
    const { after } = polled();
    after(0);
    assert.equal(after(3900), true);
    assert.equal(after(8900), true);
    assert.equal(after(14_000), false);
    assert.equal(after(14_000), false);
    assert.equal(after(13_900), true);
  });

  it('tracks devices separately, and forgets them on request', () => {
    const { polls, after, id } = polled();
    after(0);
    assert.equal(after(0, newId('deviceGrant')), false);
    polls.forget(id);
    assert.equal(after(0), false);
  });

  it('tracks a bounded number of devices', () => {
    const { after, id } = polled();
    after(0);
    for (let count = 0; count < 10_000; count++) after(0, newId('deviceGrant'));
    assert.equal(after(0, id), false, 'forgotten');
    assert.equal(after(0, id), true);
  });
});
