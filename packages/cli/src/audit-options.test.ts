import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMoment } from './audit-options.ts';

const nowMs = Date.UTC(2026, 2, 10, 12);

describe('parseMoment()', () => {
  const moments: Readonly<Record<string, string>> = {
    '2026-03-01': '2026-03-01T00:00:00.000Z',
    '2026-03-01T12:30Z': '2026-03-01T12:30:00.000Z',
    '2026-03-01T12:30:15.5+02:00': '2026-03-01T10:30:15.500Z',
    '90m': '2026-03-10T10:30:00.000Z',
    '12h': '2026-03-10T00:00:00.000Z',
    '7d': '2026-03-03T12:00:00.000Z',
  };
  for (const [text, moment] of Object.entries(moments)) {
    it(`takes ${text}`, () => assert.equal(parseMoment(text, nowMs).toISOString(), moment));
  }

  // A time without a zone means another moment on each machine.
  for (const text of ['', 'yesterday', '7', '7w', '-7d', '2026-13-01', '2026-03-01T12:30', '03/01/2026']) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => parseMoment(text, nowMs), /how long ago/));
  }
});
