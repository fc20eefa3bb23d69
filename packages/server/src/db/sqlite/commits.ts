import type { DatabaseSync } from 'node:sqlite';
import type { CacheTag } from '../../cache/cache-tag.ts';
import type { CommitListener } from '../store.ts';
import { translateError } from './errors.ts';

/*
 * How processes that share the file notify each other of invalidated cache tags: a row for each commit, written in its transaction. `PRAGMA
 * data_version` says when to look for rows. Each file has its own table: it is made where it is missing, and not copied to other stores.
 */

/** The maximum number of rows. A reader further behind invalidates everything. */
const kept = 1000;

/** Longer texts are not written: the commit invalidates everything. */
const maxTextLength = 1_000_000;

/** Call once with the connection that writes. */
export function createCommitTable(writer: DatabaseSync): void {
  writer.exec('create table if not exists commits (number integer primary key, invalidated text) strict');
}

/** What each transaction of the connection that writes does. Its statements are prepared once, since every change waits for them. */
export type CommitWriter = ReturnType<typeof writeCommits>;

export function writeCommits(writer: DatabaseSync) {
  // https://www.sqlite.org/lang_corefunc.html#total_changes
  const changes = writer.prepare('select total_changes() as changes');
  const insert = writer.prepare('insert into commits (invalidated) values (?)');
  const trim = writer.prepare('delete from commits where number <= last_insert_rowid() - ?');
  return {
    /** The number of rows that this connection has changed so far. */
    countChanges: () => changes.get()?.changes,
    /** Records the tags that the current transaction invalidates. */
    note(invalidated: readonly CacheTag[]): void {
      const text = JSON.stringify(invalidated);
      try {
        insert.run(text.length > maxTextLength ? null : text);
        trim.run(kept);
      } catch (error) {
        throw translateError(error);
      }
    },
  };
}

interface CommitRow {
  readonly number: number;
  readonly invalidated: string | null;
}

/** Follows what is committed, from now on. */
export function readCommits(reader: DatabaseSync) {
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const dataVersion = reader.prepare('pragma data_version');
  dataVersion.setReturnArrays(true); // the oldest Node.js passes over options of `prepare`, and each answer would look like the one before
  const newest = reader.prepare('select max(number) as number from commits');
  const after = reader.prepare('select number, invalidated from commits where number > ? order by number');
  const listeners: CommitListener[] = [];
  let last = (newest.get() as { readonly number: number | null }).number ?? 0;
  let known: number | undefined;

  const ask = (): number => (dataVersion.get() as unknown as [number])[0];
  /** The version and its rows from one snapshot: the row of a commit between the two would be missed. */
  const askWithRows = (): { readonly version: number; readonly rows: readonly CommitRow[] } => {
    reader.exec('begin');
    try {
      return { version: ask(), rows: after.all(last) as unknown as readonly CommitRow[] };
    } finally {
      reader.exec('commit');
    }
  };
  return {
    /**
     * A number that changes whenever another connection has committed, the writer's included. Listeners are called for these commits
     * before. A commit without a row, as of SQL that was run by hand, calls none.
     */
    version(): number {
      if (ask() === known) return known as number;
      const { version, rows } = askWithRows();
      known = version;
      const isComplete = rows.length === 0 || rows[0]?.number === last + 1;
      last = rows.at(-1)?.number ?? last;
      // Commits whose rows are deleted invalidate everything.
      const invalidated = isComplete
        ? rows.map((row) => (row.invalidated === null ? undefined : JSON.parse(row.invalidated)))
        : [undefined];
      for (const one of invalidated) for (const listener of listeners) listener(one);
      return version;
    },
    onCommitted(listener: CommitListener): void {
      listeners.push(listener);
    },
  };
}
