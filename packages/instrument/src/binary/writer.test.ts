import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readerOver, readS33, readU32 } from './reader.ts';
import { createWriter, putS32, putU32, u32Length, writeByte, writeRange, writeSized } from './writer.ts';

const edges = [
  0, 1, 0x3f, 0x40, 0x7f, 0x80, 0x1fff, 0x2000, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 0xfff_ffff, 0x1000_0000,
];

describe('putU32()', () => {
  it('writes the shortest form of what readU32() reads', () => {
    const bytes = new Uint8Array(5);
    for (const value of [...edges, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
      const end = putU32(bytes, 0, value);
      assert.equal(end, u32Length(value));
      assert.equal(readU32(readerOver(bytes, 0, end), 'a value'), value);
    }
  });
});

describe('putS32()', () => {
  it('writes what readS33() reads', () => {
    const bytes = new Uint8Array(5);
    for (const value of [...edges, ...edges.map((edge) => -edge - 1), -1, 0x7fff_ffff, -0x8000_0000]) {
      const end = putS32(bytes, 0, value);
      assert.equal(readS33(readerOver(bytes, 0, end), 'a value'), value);
    }
  });
});

describe('writeSized()', () => {
  for (const expected of [0, 100, 1_000, 100_000]) {
    it(`is right where ${expected} bytes were expected, whatever comes`, () => {
      for (const actual of [0, 1, 127, 128, 16_383, 16_384]) {
        const writer = createWriter(1);
        writeByte(writer, 0xaa);
        writeSized(writer, expected, () => writeRange(writer, new Uint8Array(actual).fill(7)));
        const reader = readerOver(writer.bytes, 1, writer.length);
        assert.equal(readU32(reader, 'a size'), actual);
        assert.equal(writer.length - reader.offset, actual);
        assert.ok(writer.bytes.subarray(reader.offset, writer.length).every((byte) => byte === 7));
      }
    });
  }
});
