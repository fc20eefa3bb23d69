import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ContentEncoding, chooseEncoding } from './content-encoding.ts';

describe('chooseEncoding()', () => {
  const all: readonly ContentEncoding[] = ['identity', 'br', 'gzip'];

  const cases: [header: string | undefined, expected: ContentEncoding][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br;q=0.1, gzip;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['br ; q=0.5', 'br'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['identity, br;q=0.5', 'identity'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['zstd', 'identity'],
    ['brotli, gzipped', 'identity'],
    ['br;q=nonsense', 'identity'],
  ];
  for (const [header, expected] of cases) {
    it(`takes ${expected} for ${header === undefined ? 'no field' : `"${header}"`}`, () => {
      assert.equal(chooseEncoding(header, all), expected);
    });
  }

  it('chooses among the available encodings only', () => {
    assert.equal(chooseEncoding('br, gzip', ['identity', 'gzip']), 'gzip');
    assert.equal(chooseEncoding('br', ['identity']), 'identity');
  });
});
