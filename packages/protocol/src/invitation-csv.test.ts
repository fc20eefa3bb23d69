import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CsvError, parseCsv } from './csv.ts';
import { invitationChunks, readInvitationCsv, resultCsvHeader, resultCsvLine } from './invitation-csv.ts';

describe('readInvitationCsv()', () => {
  it('finds the columns by their names, in any order', () => {
    const { invitations, ignored } = readInvitationCsv(
      'E-Mail;Guest key;Plan;LABEL\ngrace@example.org; customers/1 ;gold;Globex\n;customers/2;;\n',
    );
    assert.deepEqual(ignored, ['Plan']);
    assert.deepEqual(invitations, [
      { line: 2, row: { guestKey: 'customers/1', email: 'grace@example.org', label: 'Globex' }, faults: [] },
      { line: 3, row: { guestKey: 'customers/2' }, faults: [] },
    ]);
  });

  it('names the faults of each row', () => {
    const long = 'x'.repeat(201);
    const { invitations } = readInvitationCsv(
      `guestKey,email,label\n,a,\na//b,,\nk,,${long}\nk2,,exe.\u202etxt\nk3,a@b,\nk3,a@b,other label\nk3,c@d,\n`,
    );
    assert.deepEqual(
      invitations.map(({ line, faults }) => [line, faults.length]),
      [
        [2, 1],
        [3, 1],
        [4, 1],
        [5, 1],
        [6, 0],
        [7, 1],
        [8, 0],
      ],
    );
    assert.match(invitations[0]?.faults[0] ?? '', /missing/);
    assert.match(invitations[1]?.faults[0] ?? '', /^A guest key must not contain an empty segment/);
    assert.match(invitations[2]?.faults[0] ?? '', /^label must/);
    assert.equal(invitations[5]?.faults[0], 'The row repeats line 6.');
  });

  it('refuses a file without guest keys, and a column that is there twice', () => {
    for (const text of ['', 'a,b\n1,2', '"guestKey']) assert.throws(() => readInvitationCsv(text), CsvError);
    assert.throws(() => readInvitationCsv('guestKey,guest_key\n'), /twice/);
  });
});

describe('invitationChunks()', () => {
  it('limits rows and bytes', () => {
    const rows = Array.from({ length: 250 }, (_, at) => ({ row: { guestKey: `k${at}` } }));
    assert.deepEqual(
      invitationChunks(rows).map(({ length }) => length),
      [100, 100, 50],
    );
    const large = Array.from({ length: 100 }, () => ({ row: { guestKey: 'k', note: 'é'.repeat(1500) } }));
    const chunks = invitationChunks(large);
    assert.equal(chunks.flat().length, 100);
    for (const chunk of chunks) assert.ok(Buffer.byteLength(JSON.stringify(chunk)) < 160 * 1024);
  });
});

describe('resultCsvLine()', () => {
  it('escapes formulas', () => {
    const line = resultCsvLine({ guestKey: '=1+1' }, { guestKey: '=1+1', outcome: 'invited', link: 'https://x' });
    assert.equal(line, "'=1+1,,,,invited,https://x,,\r\n");
    assert.equal(parseCsv(resultCsvHeader, 1)[0]?.cells.length, 8);
  });
});
