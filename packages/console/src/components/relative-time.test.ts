import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { relativeTime } from './relative-time.ts';

describe('relativeTime()', () => {
  const now = Date.parse('2026-05-01T12:00:00Z');
  const cases: [at: string, words: string][] = [
    ['2026-05-01T12:00:00Z', 'just now'],
    ['2026-05-01T11:59:01Z', 'just now'],
    ['2026-05-01T12:00:59Z', 'just now'],
    ['2026-05-01T11:58:30Z', '1 minute ago'],
    ['2026-05-01T14:10:00Z', 'in 2 hours'],
    ['2026-05-08T11:59:30Z', 'in 7 days'],
    ['2026-07-30T11:59:30Z', 'in 3 months'],
    ['2026-04-30T12:00:00Z', 'yesterday'],
    ['2026-04-20T12:00:00Z', '11 days ago'],
    ['2026-07-31T12:00:00Z', 'in 3 months'],
    ['2024-05-01T12:00:00Z', '2 years ago'],
  ];
  for (const [at, words] of cases)
    it(`says "${words}" of ${at}`, () => assert.equal(relativeTime(Date.parse(at), now), words));
});
