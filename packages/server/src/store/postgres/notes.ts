import type { Subject } from '../../domain/memories/subject.ts';

/*
 * What nodes tell one another with a commit: which one it is, and what it has touched, as `<id of the node>:<number> <JSON list>`. A note
 * without a list may be about anything: that was too much to tell, or a release has sent it that tells less.
 */

/** A notification is shorter than 8,000 bytes: https://www.postgresql.org/docs/current/sql-notify.html */
const maxNoteBytes = 7_900;

/** A commit that would take more notes may have touched anything. */
const maxNotes = 100;

/** A note, as it was read. */
interface CommitNote {
  readonly by: string;
  readonly touched: readonly Subject[] | undefined;
}

/** The notes that tell of a commit: one at least. */
export function writeNotes(by: string, touched: readonly Subject[]): readonly string[] {
  const notes: string[] = [];
  let items: string[] = [];
  const room = maxNoteBytes - by.length - ' []'.length;
  let bytes = 0;
  for (const subject of touched) {
    const item = JSON.stringify(subject);
    const itemBytes = Buffer.byteLength(item) + 1;
    if (itemBytes > room) return [by];
    if (bytes + itemBytes > room) {
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
  if (space === -1) return { by: note, touched: undefined };
  const by = note.slice(0, space);
  try {
    const touched: unknown = JSON.parse(note.slice(space + 1));
    const isList = Array.isArray(touched) && touched.every((subject) => typeof subject === 'string');
    return { by, touched: isList ? touched : undefined };
  } catch {
    return { by, touched: undefined };
  }
}
