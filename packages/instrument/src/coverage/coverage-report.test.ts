import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { InstrumentError } from '../errors.ts';
import {
  type CoverageMap,
  type CoverageReportOptions,
  coveragePages,
  createCoverageReport,
  formatProfile,
  lcov,
  mergeProfiles,
  parseProfile,
  percentOf,
  uncoveredRanges,
} from './index.ts';
import { coverageStyles, coverageStylesHash } from './page-styles.ts';

const block = (counter: number, start: number, end: number) => ({ counter, start, end, outputStart: 0, outputEnd: 0 });

/** `main` at 10 to 40 with three blocks, `helper` at 50 to 60, and `free` at 70 to 80, which has no lines. */
const map: CoverageMap = {
  functions: [
    { functionIndex: 3, blocks: [block(0, 10, 20), block(1, 20, 30), block(2, 30, 40)] },
    { functionIndex: 4, blocks: [block(3, 50, 60)] },
    { functionIndex: 6, blocks: [block(4, 70, 80)] },
  ],
  blockCount: 5,
};
const names = new Map([
  [3, 'main'],
  [4, 'helper<int, bool>'],
  [6, 'free'],
]);
const ranges = [
  { start: 10, end: 14, file: '/src/main.c', line: 3, column: 1 },
  { start: 14, end: 22, file: '/src/main.c', line: 4, column: 1 },
  { start: 22, end: 30, file: '/src/inlined.h', line: 9, column: 1 },
  { start: 30, end: 40, file: '/src/main.c', line: 6, column: 1 },
  { start: 52, end: 58, file: '/src/main.c', line: 1, column: 1 },
  { start: 58, end: 60, file: '/src/main.c', line: 0, column: 0 },
];
const source: CoverageReportOptions['source'] = {
  functionSource: (index) => (index === 3 ? { file: '/src/main.c', line: 2, column: 5 } : undefined),
  lineRanges: (start, end) => ranges.filter((range) => range.start < end && range.end > start),
};
const options = { moduleName: 'tool.wasm', functionName: (index: number) => names.get(index) ?? '?' };
const withLines = createCoverageReport(map, Float64Array.of(2, 7, 0, 0, 1), { ...options, source });

describe('createCoverageReport()', () => {
  it('gives a line the highest count of its blocks, and functions their first block’s', () => {
    const [inlined, main] = withLines.files;
    assert.deepEqual(inlined, { path: '/src/inlined.h', unit: 'line', lines: [{ line: 9, count: 7 }], functions: [] });
    assert.deepEqual(main, {
      path: '/src/main.c',
      unit: 'line',
      lines: [
        { line: 1, count: 0 },
        { line: 3, count: 2 },
        { line: 4, count: 7 },
        { line: 6, count: 0 },
      ],
      functions: [
        { name: 'helper<int, bool>', line: 1, count: 0, blocks: { total: 1, covered: 0 } },
        { name: 'main', line: 2, count: 2, blocks: { total: 3, covered: 2 } },
      ],
    });
    assert.deepEqual(withLines.totals, {
      lines: { total: 5, covered: 3 },
      functions: { total: 2, covered: 1 },
      blocks: { total: 4, covered: 2 },
    });
    assert.equal(withLines.functionsWithoutLines, 1);
  });

  it('lists blocks by offset in one file without debug information', () => {
    const { files, totals } = createCoverageReport(map, Float64Array.of(2, 7, 0, 0, 1), options);
    assert.deepEqual(
      files.map(({ path, unit, lines }) => [path, unit, lines.map(({ line }) => line)]),
      [['tool.wasm', 'offset', [10, 20, 30, 50, 70]]],
    );
    assert.deepEqual(totals.lines, totals.blocks);
    assert.deepEqual(totals.functions, { total: 3, covered: 2 });
  });

  it('leaves out files and renames them', () => {
    const pathOf = (file: string) => (file.endsWith('.h') ? undefined : file.slice('/src/'.length));
    const { files } = createCoverageReport(map, new Float64Array(5), { ...options, source, pathOf });
    assert.deepEqual(
      files.map(({ path }) => path),
      ['main.c'],
    );
  });

  it('combines instances of a function, and distinguishes others with the same name', () => {
    const same = (line: (index: number) => number) =>
      createCoverageReport(map, Float64Array.of(2, 7, 0, 3, 1), {
        ...options,
        functionName: () => 'f',
        source: { ...source, functionSource: (index) => ({ file: 'a.rs', line: line(index), column: 1 }) },
      }).files.flatMap(({ functions }) => functions.map(({ name, count }) => [name, count]));
    assert.deepEqual(
      same(() => 5),
      [['f', 5]],
    );
    assert.deepEqual(
      same((index) => index),
      [
        ['f:3', 2],
        ['f:4', 3],
      ],
    );
  });
});

describe('lcov()', () => {
  it('writes a record per file', () => {
    assert.equal(
      lcov(withLines),
      [
        ...['TN:', 'SF:/src/inlined.h', 'FNF:0', 'FNH:0', 'DA:9,7', 'LF:1', 'LH:1', 'end_of_record'],
        ...['TN:', 'SF:/src/main.c', 'FN:1,helper<int;bool>', 'FN:2,main', 'FNDA:0,helper<int;bool>', 'FNDA:2,main'],
        ...['FNF:2', 'FNH:1', 'DA:1,0', 'DA:3,2', 'DA:4,7', 'DA:6,0', 'LF:4', 'LH:2', 'end_of_record', ''],
      ].join('\n'),
    );
  });

  it('keeps untrusted names on their line', () => {
    const [first] = withLines.files;
    const path = 'a\nSF:/etc/passwd\r';
    const text = lcov({ ...withLines, files: first ? [{ ...first, path }] : [] });
    assert.equal(text.match(/^SF:/gm)?.length, 1);
  });
});

describe('shares', () => {
  it('are 100 percent only if complete', () => {
    assert.equal(percentOf({ total: 100_000, covered: 99_999 }), 99.9);
    assert.equal(percentOf({ total: 3, covered: 3 }), 100);
    assert.equal(percentOf({ total: 0, covered: 0 }), 100);
  });

  it('have ranges of uncovered lines', () => {
    const lines = [1, 0, 0, 5, 0].map((count, at) => ({ line: 10 * at, count }));
    assert.deepEqual(uncoveredRanges({ path: '', unit: 'line', lines, functions: [] }), [
      [10, 20],
      [40, 40],
    ]);
  });
});

describe('profiles', () => {
  const profile = { module: 'abc', counts: Float64Array.of(1, 0, 2 ** 40) };

  it('are added', () => {
    assert.deepEqual(mergeProfiles(profile, profile).counts, Float64Array.of(2, 0, 2 ** 41));
    assert.deepEqual(parseProfile(formatProfile(profile)), profile);
  });

  it('of other modules are refused', () => {
    assert.throws(() => mergeProfiles(profile, { ...profile, module: 'def' }), refusal(/same module.*"abc".*"def"/));
    assert.throws(() => mergeProfiles(profile, { ...profile, counts: new Float64Array(2) }), refusal(/3 and 2/));
  });

  for (const text of ['', '[]', 'null', '{"format":"tenon-coverage-1","module":"a","counts":[-1]}', '{"module":"a"}']) {
    it(`are not ${text || 'empty'}`, () => assert.throws(() => parseProfile(text), refusal(/tenon coverage/)));
  }

  const refusal = (expected: RegExp) => (error: unknown) =>
    error instanceof InstrumentError && error.code === 'invalid_config' && expected.test(error.message);
});

describe('coveragePages()', () => {
  const text = 'int x;\nint main() {\n\tif (x < 3) // \u202e\n  call();\n}\n  missed();\n';
  const pages = new Map(coveragePages(withLines, { title: 'tool', sourceOf: () => text }));

  it('has a page for each file', () => {
    assert.deepEqual([...pages.keys()], ['index.html', 'src-inlined.h.html', 'src-main.c.html']);
    assert.match(pages.get('index.html') ?? '', /href="src-main\.c\.html">\/src\/main\.c</);
  });

  it('shows sources as text, and links uncovered lines', () => {
    const page = pages.get('src-main.c.html') ?? '';
    assert.match(page, /<pre>\tif \(x &#60; 3\) \/\/ \\u\{202e\}<\/pre>/);
    assert.match(page, /<tr id="L1" class="missed">.*<a href="#L6"/);
    assert.match(page, /<tr id="L6" class="missed">.*<a href="#L1"/);
  });

  it('has a policy with the digest of its styles', () => {
    assert.equal(coverageStylesHash, `sha256-${createHash('sha256').update(coverageStyles).digest('base64')}`);
  });

  it('keeps apart files whose names differ in other characters or case', () => {
    const files = ['a/b.c', 'a-b.c', 'A-B.C', 'index', '../..'].map((path) => ({
      path,
      unit: 'line' as const,
      lines: [],
      functions: [],
    }));
    const found = [...coveragePages({ ...withLines, files }, { title: '' })].map(([name]) => name);
    assert.deepEqual(found, ['index.html', 'a-b.c.html', 'a-b.c-2.html', 'A-B.C-3.html', 'index-2.html', 'file.html']);
  });
});
