import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csvLine } from './audit-export.ts';

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
    assert.equal(csvLine(['a=1', '1-2', "'=x"]), "a=1,1-2,'=x\r\n");
  });
});
