import type { CacheTag } from '../../cache/cache-tag.ts';

/*
 * How nodes notify each other of a commit: its name, and the cache tags that it invalidates, as `<id of the node>:<number> <JSON list>`. A note
 * without a list invalidates everything: the list was too long, or another release sent the note.
 */

/** A notification is shorter than 8,000 bytes: https://www.postgresql.org/docs/current/sql-notify.html */
const maxNoteBytes = 7_900;

/** A commit with more notes than this invalidates everything. */
const maxNotes = 100;

interface CommitNote {
  readonly by: string;
  readonly invalidated: readonly CacheTag[] | undefined;
}

/** The notes of a commit: at least one. */
export function writeNotes(by: string, invalidated: readonly CacheTag[]): readonly string[] {
  const notes: string[] = [];
  let items: string[] = [];
  const maxListBytes = maxNoteBytes - by.length - ' []'.length;
  let bytes = 0;
  for (const tag of invalidated) {
    const item = JSON.stringify(tag);
    const itemBytes = Buffer.byteLength(item) + 1;
    if (itemBytes > maxListBytes) return [by];
    if (bytes + itemBytes > maxListBytes) {
      notes.push(`${by} [${items.join(',')}]`);
      items = [];
      bytes = 0;
    }
    items.push(item);
    bytes += itemBytes;
  }
  notes.push(`${by} [${items.join(',')}]`);
  return notes.length > maxNotes ? [by] : notes;
}

export function readNote(note: string): CommitNote {
  const space = note.indexOf(' ');
  if (space === -1) return { by: note, invalidated: undefined };
  const by = note.slice(0, space);
  try {
    const invalidated: unknown = JSON.parse(note.slice(space + 1));
    const isList = Array.isArray(invalidated) && invalidated.every((tag) => typeof tag === 'string');
    return { by, invalidated: isList ? invalidated : undefined };
  } catch {
    return { by, invalidated: undefined };
  }
}
