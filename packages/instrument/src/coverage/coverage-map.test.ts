import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customSection, leb } from '../../../../test/helpers/module-bytes.ts';
import { createWriter } from '../binary/writer.ts';
import { type CoverageMap, coverageSection, readCounters, readCoverageMap, writeCoverageMap } from './coverage-map.ts';

const preamble = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

const map: CoverageMap = {
  blockCount: 3,
  functions: [
    {
      functionIndex: 2,
      blocks: [
        { counter: 0, start: 4, end: 9, outputStart: 14, outputEnd: 30 },
        { counter: 1, start: 9, end: 300, outputStart: 30, outputEnd: 900 },
      ],
    },
    { functionIndex: 7, blocks: [{ counter: 5, start: 310, end: 311, outputStart: 920, outputEnd: 940 }] },
  ],
};

function moduleWith(contents: readonly number[]): Uint8Array {
  return Uint8Array.from([...preamble, ...customSection(coverageSection, Uint8Array.from(contents))]);
}

function encoded(value: CoverageMap): number[] {
  const writer = createWriter(1);
  writeCoverageMap(writer, value);
  return Array.from(writer.bytes.subarray(0, writer.length));
}

describe('readCoverageMap()', () => {
  it('reads what writeCoverageMap() writes', () => {
    assert.deepEqual(readCoverageMap(moduleWith(encoded(map))), map);
  });

  it('returns undefined without the section', () => {
    assert.equal(readCoverageMap(Uint8Array.from(preamble)), undefined);
  });

  it('reads a section made by hand', () => {
    const contents = [1, 1, 2, 0, 1, 4, 5, 14, 16];
    const [first] = map.functions[0]?.blocks ?? [];
    const expected = { blockCount: 1, functions: [{ functionIndex: 2, blocks: [first] }] };
    assert.deepEqual(readCoverageMap(moduleWith(contents)), expected);
  });

  it('refuses a malformed section with an offset', () => {
    const whole = encoded(map);
    const bad = [
      [],
      [2, 0],
      [...whole, 0],
      [1, ...leb(0xffff_ffff)],
      [1, 1, 0, 0, ...leb(1_000_000)],
      [1, 1, 0, 0, 1, ...leb(0xffff_ffff), ...leb(0xffff_ffff), 0, 0],
      [1, 1, 0, ...leb(0xffff_ffff), 1, 0, 0, 0, 0],
      ...whole.map((_, length) => whole.slice(0, length)),
    ];
    for (const contents of bad) {
      assert.throws(
        () => readCoverageMap(moduleWith(contents)),
        { code: 'invalid_module', message: /at offset 0x/ },
        `${contents}`,
      );
    }
  });
});

describe('readCounters()', () => {
  it('reads one number for each block', () => {
    const values = [7n, 0n, 1n, 1n, 1n, 2n ** 53n];
    const counts = readCounters(map, { 'tenon:count': (index: number) => values[index] });
    assert.deepEqual(counts, Float64Array.of(7, 0, 2 ** 53));
  });

  it('refuses the exports of another module', () => {
    assert.throws(() => readCounters(map, {}), { code: 'invalid_config', message: /tenon:count/ });
  });
});
