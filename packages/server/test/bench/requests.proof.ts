import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMix, createRequestWriter, type RequestKind } from '../../bench/support/requests.ts';

const run = Buffer.from('12345678');
const kind: RequestKind = {
  name: 'publish',
  weight: 1,
  method: 'PUT',
  path: '/p{connection}',
  headers: { authorization: 'Bearer x' },
  body: Buffer.alloc(32, '.'),
  freshAt: 10,
  status: 200,
};

describe('createMix()', () => {
  it('gives each kind its share of any hundred in a row', () => {
    for (const offset of [0, 7, 105]) {
      const next = createMix([90, 5, 4, 1], offset);
      const chosen = Array.from({ length: 1000 }, next);
      for (let from = 0; from + 100 <= chosen.length; from += 9) {
        const counts = [0, 0, 0, 0];
        for (const kind of chosen.slice(from, from + 100)) counts[kind] = (counts[kind] ?? 0) + 1;
        assert.deepEqual(counts, [90, 5, 4, 1]);
      }
    }
  });

  it('refuses weights that give no share', () => {
    assert.throws(() => createMix([], 0), RangeError);
    assert.throws(() => createMix([1, 0], 0), RangeError);
  });
});

describe('createRequestWriter()', () => {
  it('writes a request whose body is another each time, of the same length', () => {
    const write = createRequestWriter(kind, 'localhost', 3, run);
    const texts = [write(), write()].map((bytes) => bytes.toString('latin1'));
    const head = 'PUT /p3 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\ncontent-length: 32\r\n\r\n';
    const tails = ['\0\0\0\0\0\0\0\0', '\x01\0\0\0\0\0\0\0'];
    assert.deepEqual(
      texts,
      tails.map((tail) => `${head}..........12345678${tail}......`),
    );
  });

  it('writes the same where nothing is to be fresh', () => {
    const { body: _, freshAt: __, ...rest } = kind;
    const write = createRequestWriter({ ...rest, method: 'GET' }, 'localhost', 0, run);
    assert.equal(write(), write());
    assert.match(write().toString(), /^GET \/p0 HTTP\/1\.1\r\nhost: localhost\r\nauthorization: Bearer x\r\n\r\n$/);
  });

  it('refuses a body that ends before what is to be fresh', () => {
    assert.throws(() => createRequestWriter({ ...kind, freshAt: 17 }, 'localhost', 0, run), RangeError);
  });
});
