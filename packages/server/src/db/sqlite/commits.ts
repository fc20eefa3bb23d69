import type { DatabaseSync } from 'node:sqlite';
import type { CacheTag } from '../../cache/cache-tag.ts';
import type { CommitListener } from '../store.ts';
import { translateError } from './errors.ts';

/*
 * Processes that share the file notify each other of invalidated cache tags by a row for each commit, written in its transaction. `PRAGMA
 * data_version` shows when there are new rows. The table is not part of the schema, because it is not copied to other stores.
 */

/** The maximum number of rows. A reader further behind invalidates everything. */
const maxCommits = 1000;

/** A commit with a longer list of tags invalidates everything. */
const maxTextLength = 1_000_000;

export function createCommitTable(writer: DatabaseSync): void {
  writer.exec('create table if not exists commits (number integer primary key, invalidated text) strict');
}

export type CommitWriter = ReturnType<typeof createCommitWriter>;

export function createCommitWriter(writer: DatabaseSync) {
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
        trim.run(maxCommits);
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

/** Reads the commits from now on. */
export function createCommitReader(reader: DatabaseSync) {
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const dataVersion = reader.prepare('pragma data_version');
  dataVersion.setReturnArrays(true); // the oldest supported Node.js ignores this as an option of `prepare`
  const newest = reader.prepare('select max(number) as number from commits');
  const after = reader.prepare('select number, invalidated from commits where number > ? order by number');
  const listeners: CommitListener[] = [];
  let last = (newest.get() as { readonly number: number | null }).number ?? 0;
  let known: number | undefined;

  const readVersion = (): number => (dataVersion.get() as unknown as [number])[0];
  /** Reads the version and the new rows from one snapshot, so that no commit between the two is missed. */
  const readVersionAndRows = (): { readonly version: number; readonly rows: readonly CommitRow[] } => {
    reader.exec('begin');
    try {
      return { version: readVersion(), rows: after.all(last) as unknown as readonly CommitRow[] };
    } finally {
      reader.exec('commit');
    }
  };
  return {
    /**
     * Returns a number that changes whenever another connection commits, including the writer's. Calls the listeners for these commits
     * before it returns. A commit without a row, such as one from the SQLite shell, calls none.
     */
    version(): number {
      if (readVersion() === known) return known as number;
      const { version, rows } = readVersionAndRows();
      known = version;
      const isComplete = rows.length === 0 || rows[0]?.number === last + 1;
      last = rows.at(-1)?.number ?? last;
      // Commits whose rows are deleted invalidate everything.
      const invalidated = isComplete
        ? rows.map((row) => (row.invalidated === null ? undefined : JSON.parse(row.invalidated)))
        : [undefined];
      for (const tags of invalidated) for (const listener of listeners) listener(tags);
      return version;
    },
    onCommitted(listener: CommitListener): void {
      listeners.push(listener);
    },
  };
}
