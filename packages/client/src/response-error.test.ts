import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualClock } from '../test/helpers/manual-clock.ts';
import { responseError, retryAfter } from './response-error.ts';

const clock = createManualClock();
const now = new Date(clock.wallMs()).toUTCString();

describe('retryAfter()', () => {
  it('reads seconds and dates, the latter relative to the server’s clock', () => {
    const cases: [Record<string, string>, number | undefined][] = [
      [{}, undefined],
      [{ 'retry-after': '0' }, 0],
      [{ 'retry-after': ' 120 ' }, 120_000],
      [{ 'retry-after': now }, 0],
      [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:05 GMT' }, 60_000],
      [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:05 GMT', date: 'Thu, 01 Jan 1970 00:01:00 GMT' }, 5_000],
      [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:05 GMT' }, 0],
      [{ 'retry-after': '-5' }, undefined],
      [{ 'retry-after': 'later' }, undefined],
    ];
    for (const [fields, ms] of cases) assert.equal(retryAfter(new Headers(fields), clock), ms, JSON.stringify(fields));
  });
});

describe('responseError()', () => {
  const refused = (status: number, body: unknown, type = 'application/problem+json') => {
    const answer = { status, headers: new Headers({ 'content-type': type }), type: 'basic' as const };
    return responseError(
      answer,
      new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
      clock,
    );
  };

  it("has the server's code and detail", () => {
    const error = refused(403, { code: 'insufficient_scope', title: 'No', detail: 'It needs\u0007 `read`.' });
    assert.equal(error.code, 'insufficient_scope');
    assert.equal(error.status, 403);
    assert.equal(error.message, 'It needs  `read`.');
    assert.equal(refused(404, { code: 'not_found', detail: 'x'.repeat(9_999) }).message.length, 500);
  });

  it('derives the code from the status without a problem document', () => {
    const bodies = ['', '{', '[]', 'null', '{"code":7}', '{"code":"Not A Code"}', '{"title":"x"}'];
    for (const body of bodies) assert.equal(refused(503, body).code, 'unavailable', body);
    assert.equal(refused(404, { code: 'not_found' }, 'text/html').code, 'unexpected_response');
    assert.deepEqual(
      [401, 403, 429, 500, 418].map((status) => refused(status, '').code),
      ['invalid_token', 'forbidden', 'rate_limited', 'unavailable', 'unexpected_response'],
    );
  });

  it('names only the origin of a redirect', () => {
    const headers = new Headers({ location: 'https://other.example/secret?x' });
    const error = responseError({ status: 308, headers, type: 'basic' }, undefined, clock);
    assert.equal(error.code, 'redirected');
    assert.match(error.message, /https:\/\/other\.example:/);
    assert.doesNotMatch(error.message, /secret/);
    const hidden = responseError({ status: 0, headers: new Headers(), type: 'opaqueredirect' }, undefined, clock);
    assert.deepEqual([hidden.code, hidden.status], ['redirected', undefined]);
  });
});
