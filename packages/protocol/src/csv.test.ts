import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CsvError, csvLine, parseCsv } from './csv.ts';

describe('csvLine()', () => {
  it('writes cells as RFC 4180 has them', () => {
    assert.equal(csvLine(['a', '', 'b c', 'd,e', 'f"g', 'h\ni', 'j\r\nk']), 'a,,b c,"d,e","f""g","h\ni","j\r\nk"\r\n');
  });

  it('keeps a spreadsheet from taking a cell for a formula', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r', '\n']) {
      const cell = csvLine([`${start}HYPERLINK(1)`])
        .slice(0, -2)
        .replace(/^"(.*)"$/s, '$1');
      assert.equal(cell, `'${start}HYPERLINK(1)`);
    }
    assert.equal(csvLine(['=1+1,"x"']), `"'=1+1,""x"""\r\n`);
    assert.equal(csvLine(['a=1', '1-2', "'x"]), "a=1,1-2,'x\r\n");
  });
});

describe('parseCsv()', () => {
  const cells = (text: string) => parseCsv(text, 10).map((row) => row.cells);

  it('reads quotes, any line ends, a byte order mark, and three separators', () => {
    assert.deepEqual(cells('\ufeffa,b\r\n1,"2"\r\n'), [
      ['a', 'b'],
      ['1', '2'],
    ]);
    assert.deepEqual(cells('a;b\n"x;""y""\nz";2'), [
      ['a', 'b'],
      ['x;"y"\nz', '2'],
    ]);
    assert.deepEqual(cells('a\tb\r1,5\t'), [
      ['a', 'b'],
      ['1,5', ''],
    ]);
    assert.deepEqual(cells('a,b,'), [['a', 'b', '']]);
    assert.deepEqual(cells('a\n"b"c'), [['a'], ['bc']]);
  });

  it('leaves out blank lines, and counts lines as an editor does', () => {
    assert.deepEqual(cells(''), []);
    assert.deepEqual(parseCsv('\n"a\nb",c\r\n\r\n,,\nd', 10), [
      { line: 2, cells: ['a\nb', 'c'] },
      { line: 6, cells: ['d'] },
    ]);
  });

  it('returns what csvLine() was given', () => {
    const texts = ['=1', '-2', "'=3", "''=4", 'ok', 'a"b,c\nd', "'x", '@', ' ', '\t'];
    assert.deepEqual(cells(csvLine(texts)), [texts]);
  });

  it('refuses open quotes and too many rows', () => {
    assert.throws(() => cells('a\nb\n"c'), new CsvError('The quotes that begin in line 3 have no end.'));
    assert.throws(() => cells('a\n'.repeat(11)), new CsvError('There are more than 10 rows.'));
  });

  it('needs linear time for 10 MB', () => {
    for (const text of [
      '"'.repeat(9_999_999),
      ','.repeat(10_000_000),
      'x'.repeat(10_000_000),
      '"x"",\n'.repeat(1_500_000),
    ]) {
      const startMs = performance.now();
      try {
        parseCsv(text, 1000);
      } catch (error) {
        assert.ok(error instanceof CsvError);
      }
      assert.ok(performance.now() - startMs < 20_000);
    }
  });
});
