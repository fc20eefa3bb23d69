import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluateRange } from './conditions.ts';

const etag = '"e"';
const rangeOf = (range: string, size = 100, ifRange?: string) =>
  evaluateRange({ range, ...(ifRange === undefined ? {} : { 'if-range': ifRange }) }, size, etag);

describe('evaluateRange()', () => {
  it('parses a single range', () => {
    assert.deepEqual(rangeOf('bytes=0-0'), { first: 0, last: 0 });
    assert.deepEqual(rangeOf('bytes=10-19'), { first: 10, last: 19 });
    assert.deepEqual(rangeOf('bytes=90-'), { first: 90, last: 99 });
    assert.deepEqual(rangeOf('bytes=-10'), { first: 90, last: 99 });
    assert.deepEqual(rangeOf('BYTES= 1-2 '), { first: 1, last: 2 });
  });

  it('cuts ranges at the end of the content, for any number', () => {
    assert.deepEqual(rangeOf('bytes=50-1000'), { first: 50, last: 99 });
    assert.deepEqual(rangeOf('bytes=-1000'), { first: 0, last: 99 });
    assert.deepEqual(rangeOf(`bytes=50-${'9'.repeat(400)}`), { first: 50, last: 99 });
    assert.deepEqual(rangeOf(`bytes=-${'9'.repeat(400)}`), { first: 0, last: 99 });
  });

  it('rejects ranges that start after the end, and empty suffixes', () => {
    for (const range of ['bytes=100-', 'bytes=100-200', `bytes=${'9'.repeat(400)}-`, 'bytes=-0']) {
      assert.equal(rangeOf(range), 'not_satisfiable', range);
    }
    assert.equal(rangeOf('bytes=0-', 0), 'not_satisfiable');
    assert.equal(rangeOf('bytes=-5', 0), 'not_satisfiable');
  });

  it('ignores several ranges, other units and malformed fields', () => {
    for (const range of [
      'bytes=0-1,3-4',
      'lines=0-1',
      'bytes=-',
      'bytes=2-1',
      'bytes=a-b',
      'bytes 0-1',
      'bytes=0-1x',
      '',
    ]) {
      assert.equal(rangeOf(range), undefined, range);
    }
  });

  it('ignores the range if if-range is not the strong tag', () => {
    assert.deepEqual(rangeOf('bytes=0-1', 100, etag), { first: 0, last: 1 });
    for (const ifRange of ['"x"', `W/${etag}`, 'Sat, 01 Jan 2050 00:00:00 GMT', '']) {
      assert.equal(rangeOf('bytes=0-1', 100, ifRange), undefined, ifRange);
    }
  });
});
