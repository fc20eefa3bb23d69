import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requireJsonBounds } from './json-bounds.ts';

const MiB = 2 ** 20;
const bounds = { maxBytes: 16 * MiB, maxValues: 10, maxDepth: 3 };
const check = (text: string) => requireJsonBounds(Buffer.from(text), bounds, 'A body');
const tooLarge = { code: 'payload_too_large' };

describe('requireJsonBounds()', () => {
  it('counts values and names, but not what strings contain', () => {
    check('[1,2,3,4,5,6,7,8]');
    assert.throws(() => check('[1,2,3,4,5,6,7,8,9,10]'), tooLarge);
    assert.throws(() => check(`[${'[],'.repeat(9)}1]`), tooLarge);
    check('{"a":1,"b":2}');
    for (const text of [',,,,,,,,,,,,', '[[[[[[', String.raw`\",,,,,,,,,,,,[[[[`, String.raw`,\\\",,,,,,,,,,,,\\`]) {
      check(`["${text}",1]`);
    }
    assert.throws(() => check(String.raw`["\\",1,2,3,4,5,6,7,8,9,10]`), tooLarge);
  });

  it('bounds the depth', () => {
    check('[[{}],[{}]]');
    assert.throws(() => check('[[{"a":[]}]]'), { code: 'malformed_json' });
  });

  it('bounds white space and other bytes outside of strings', () => {
    check(`[${' '.repeat(MiB)}"${'A'.repeat(4 * MiB)}"${' '.repeat(MiB - 10)}]`);
    assert.throws(() => check(`["${'A'.repeat(MiB)}"${' '.repeat(2 * MiB)}]`), tooLarge);
    assert.throws(() => check('1'.repeat(2 * MiB + 1)), tooLarge);
  });

  it('ends at the end of a string without its quote', () => {
    for (const text of ['"', '"a', String.raw`"\"`, '"\\']) check(text);
  });

  it('takes little time for the largest bodies', () => {
    for (const text of [' ', '1', String.raw`\"`, 'A', '\\', '"', '{']) {
      const bytes = Buffer.alloc(15 * MiB, text);
      if (text.length > 1 || text === '\\') bytes[0] = 0x22;
      const { user } = process.threadCpuUsage();
      try {
        requireJsonBounds(bytes, bounds, 'A body');
      } catch (error) {
        assert.match((error as { code: string }).code, /^(?:payload_too_large|malformed_json)$/);
      }
      const ms = (process.threadCpuUsage().user - user) / 1000;
      assert.ok(ms < 150, `${ms} ms for ${text}`);
    }
  });
});
