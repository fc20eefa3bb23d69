import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatDuration, parseDuration, parseLifetimeDays, parseTimeout } from './duration.ts';

describe('durations of the command line', () => {
  it('reads a number with a unit', () => {
    const expected = {
      '20us': 0.02,
      '1.5ms': 1.5,
      '60s': 60_000,
      '5m': 300_000,
      '12h': 43_200_000,
      '90d': 7_776_000_000,
    };
    for (const [text, ms] of Object.entries(expected)) assert.equal(parseDuration(text), ms, text);
    assert.equal(parseDuration('0'), 0);
  });

  it('refuses all else, and shows the notation', () => {
    for (const text of ['', '60', '60 s', '-1s', '1e3s', '1w', 's', '1h30m', 'Infinity']) {
      assert.throws(() => parseDuration(text), /20us, 60s, 12h, 90d/, text);
    }
  });

  it('bounds time-outs and lifetimes', () => {
    assert.equal(parseTimeout('300ms'), 300);
    for (const text of ['0', '0s', '25h']) assert.throws(() => parseTimeout(text), /at most 1d/, text);
    assert.equal(parseLifetimeDays('48h'), 2);
    for (const text of ['0d', '12h', '1.5d', '3651d']) assert.throws(() => parseLifetimeDays(text), /whole days/, text);
  });

  it('writes them with the largest unit that fits', () => {
    const expected = { '1s': 1000, '90s': 90_000, '2m': 120_000, '300ms': 300, '1d': 86_400_000 };
    for (const [text, ms] of Object.entries(expected)) assert.equal(formatDuration(ms), text);
  });
});
