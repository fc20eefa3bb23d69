import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notesHeader } from './instrument-routes.ts';

describe('notesHeader()', () => {
  it('is a JSON array in ASCII', () => {
    assert.equal(notesHeader([]), '[]');
    const notes = ['plain', 'ünï ✓ 🦊', 'with "quotes" and \n\u007f'];
    const header = notesHeader(notes);
    assert.match(header, /^[\x20-\x7e]*$/);
    assert.deepEqual(JSON.parse(header), notes);
  });

  it('has at most 4 KiB, and then ends with the number of omitted notes', () => {
    for (const length of [1, 40, 400, 4085, 4092, 4093, 5000]) {
      for (const count of [1, 2, 10, 1000]) {
        const notes = Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, 'é').slice(0, length));
        const header = notesHeader(notes);
        assert.ok(header.length <= 4096, `${header.length}`);
        const shown = JSON.parse(header) as string[];
        if (shown.length === count && shown[0] === notes[0] && shown.at(-1) === notes.at(-1)) continue;
        const [, left] = /^(\d+) more notes? (?:was|were) left out$/.exec(shown.at(-1) ?? '') ?? [];
        assert.equal(shown.length - 1 + Number(left), count);
        assert.deepEqual(shown.slice(0, -1), notes.slice(0, shown.length - 1));
      }
    }
  });

  it('has the last note when all fit exactly', () => {
    const notes = ['a'.repeat(2000), 'b'.repeat(2089)];
    assert.equal(notesHeader(notes).length, 4096);
    assert.deepEqual(JSON.parse(notesHeader(notes)), notes);
  });
});
