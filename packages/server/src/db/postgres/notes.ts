import type { CacheTag } from '../../cache/cache-tag.ts';

/*
 * The payloads of notifications by which nodes notify each other of a commit: `<id of the node>:<number> <JSON list>`, the commit's name
 * and the cache tags that it invalidates. A payload without a list invalidates everything: the list was too long, or another release sent
 * it.
 */

/** A notification is shorter than 8,000 bytes: https://www.postgresql.org/docs/current/sql-notify.html */
const maxNoteBytes = 7_900;

/** A commit with more notes than this invalidates everything. */
const maxNotes = 100;

interface CommitNote {
  readonly commit: string;
  readonly invalidated: readonly CacheTag[] | undefined;
}

/** The notes of a commit: at least one. */
export function writeNotes(commit: string, invalidated: readonly CacheTag[]): readonly string[] {
  const notes: string[] = [];
  let items: string[] = [];
  const maxListBytes = maxNoteBytes - commit.length - ' []'.length;
  let bytes = 0;
  for (const tag of invalidated) {
    const item = JSON.stringify(tag);
    const itemBytes = Buffer.byteLength(item) + 1;
    if (itemBytes > maxListBytes) return [commit];
    if (bytes + itemBytes > maxListBytes) {
      notes.push(`${commit} [${items.join(',')}]`);
      items = [];
      bytes = 0;
    }
    items.push(item);
    bytes += itemBytes;
  }
  notes.push(`${commit} [${items.join(',')}]`);
  return notes.length > maxNotes ? [commit] : notes;
}

export function readNote(note: string): CommitNote {
  const space = note.indexOf(' ');
  if (space === -1) return { commit: note, invalidated: undefined };
  const commit = note.slice(0, space);
  try {
    const invalidated: unknown = JSON.parse(note.slice(space + 1));
    const isList = Array.isArray(invalidated) && invalidated.every((tag) => typeof tag === 'string');
    return { commit, invalidated: isList ? invalidated : undefined };
  } catch {
    return { commit, invalidated: undefined };
  }
}
