import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readNote, writeNotes } from './notes.ts';

const self = '3d594650-3436-11e5-bf21-0800200c9a66';

describe('notes of commits', () => {
  it('are read as they were written', () => {
    const tags = ['tok_01', 'ext_01 a guest key with spaces', 'ext_01 "schlüssel"\n\u2028', 'ext_01 😀'];
    for (const invalidated of [[], tags]) {
      const notes = writeNotes(self, invalidated);
      assert.equal(notes.length, 1);
      assert.deepEqual(readNote(notes[0] ?? ''), { commit: self, invalidated });
    }
  });

  it('are split below the maximum length of a notification', () => {
    const invalidated = Array.from({ length: 1000 }, (_, at) => `ext_01kx guest-ä-${at}`);
    const notes = writeNotes(self, invalidated);
    assert.ok(notes.length > 1);
    for (const note of notes) assert.ok(Buffer.byteLength(note) < 8000);
    assert.deepEqual(
      notes.flatMap((note) => readNote(note).invalidated ?? []),
      invalidated,
    );
  });

  it('invalidate everything if there would be too many, or one too long', () => {
    for (const invalidated of [
      Array.from({ length: 100_000 }, (_, at) => `ext_01kx guest-${at}`),
      ['a', 'x'.repeat(8000)],
    ]) {
      assert.deepEqual(writeNotes(self, invalidated).map(readNote), [{ commit: self, invalidated: undefined }]);
    }
  });

  it('may be about anything when they are not understood', () => {
    for (const note of [self, `${self} `, `${self} [`, `${self} {}`, `${self} [1]`, `${self} null`]) {
      assert.deepEqual(readNote(note), { commit: self, invalidated: undefined }, note);
    }
    assert.deepEqual(readNote(''), { commit: '', invalidated: undefined });
  });
});
