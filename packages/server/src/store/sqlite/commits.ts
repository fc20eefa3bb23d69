import { closeSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import type { Subject } from '../../domain/memories/subject.ts';
import type { CommitListener } from '../../domain/ports.ts';
import type { Db } from '../kysely/db.ts';

/*
 * How processes that share the file tell one another what they have touched: a row a commit, written in its transaction, so that it
 * is there exactly when the commit is. That there are new ones tells `PRAGMA data_version`. The table is the file's own matter: it
 * is made where it is missing, and not copied to other stores.
 */

/** How many rows are kept. Who has fallen behind by more takes it that anything was touched. */
const kept = 1000;

/** Texts that are longer are not written: the commit may have touched anything. */
const maxTextLength = 1_000_000;

/** To be called once with the connection that writes. */
export function createCommitTable(writer: DatabaseSync): void {
  writer.exec('create table if not exists commits (number integer primary key, touched text) strict');
}

/** Notes what the transaction at hand has touched. */
export async function noteCommit(db: Db, touched: readonly Subject[]): Promise<void> {
  const text = JSON.stringify(touched);
  await sql`insert into commits (touched) values (${text.length > maxTextLength ? null : text})`.execute(db);
  await sql`delete from commits where number <= last_insert_rowid() - ${kept}`.execute(db);
}

interface CommitRow {
  readonly number: number;
  readonly touched: string | null;
}

/** Follows what is committed, from now on. */
export interface CommitReader {
  /**
   * A number that is another one whenever another connection has committed since, the writer's included. Listeners are told of
   * these commits before.
   */
  version(): number;
  onCommitted(listener: CommitListener): void;
  /** To be called once the reader is closed. */
  close(): void;
}

/** @param file the database's, as the reader has it open */
export function readCommits(reader: DatabaseSync, file: string): CommitReader {
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const dataVersion = reader.prepare('pragma data_version');
  dataVersion.setReturnArrays(true); // the oldest Node.js passes over options of `prepare`, and each answer would look like the one before
  const newest = reader.prepare('select max(number) as number from commits');
  const after = reader.prepare('select number, touched from commits where number > ? order by number');
  const log = readLogEpochs(`${file}-wal`);
  const listeners: CommitListener[] = [];
  let last = (newest.get() as { readonly number: number | null }).number ?? 0;
  let told: number | undefined;

  const ask = (): number => (dataVersion.get() as unknown as [number])[0];
  /** The version, and the rows that belong to it: both from one snapshot, or a commit between them would be missed by its row. */
  const askWithRows = (): { readonly version: number; readonly rows: readonly CommitRow[] } => {
    reader.exec('begin');
    try {
      return { version: ask(), rows: after.all(last) as unknown as readonly CommitRow[] };
    } finally {
      reader.exec('commit');
    }
  };
  return {
    version() {
      if (ask() === told) return told as number;
      const { version, rows } = askWithRows();
      const isNewLog = log.isNew();
      if (rows.length === 0 && isNewLog) {
        told = version; // the next commit begins the log anew, and is not there yet
        return version;
      }
      const isComplete = rows[0]?.number === last + 1;
      last = rows.at(-1)?.number ?? last;
      // Who has written without a row may have touched anything, and so may those whose rows are gone.
      const touched = isComplete
        ? rows.map((row) => (row.touched === null ? undefined : JSON.parse(row.touched)))
        : [undefined];
      told = version;
      for (const one of touched) for (const listener of listeners) listener(one);
      return version;
    },
    onCommitted(listener) {
      listeners.push(listener);
    },
    close: log.close,
  };
}

/**
 * Whether the write-ahead log was begun anew, as it is once all of it is in the database's file, which changes the version as a commit
 * does: its header then has another number and other salts (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). SQLite
 * holds no lock on that file, which would be lost when another descriptor of it is closed.
 */
function readLogEpochs(file: string): { isNew(): boolean; close(): void } {
  const [offset, length] = [12, 12];
  let descriptor: number | undefined;
  const read = (): string | undefined => {
    try {
      descriptor ??= openSync(file, 'r');
      const bytes = Buffer.alloc(length);
      return readSync(descriptor, bytes, 0, length, offset) === length ? bytes.toString('hex') : undefined;
    } catch {
      return undefined; // then nothing is known of it, and whatever is not understood may be anything
    }
  };
  let known = read();
  return {
    isNew() {
      const now = read();
      const isNew = now !== undefined && known !== undefined && now !== known;
      known = now;
      return isNew;
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}
