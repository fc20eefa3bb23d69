import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { createCommitReader, createCommitTable } from './commits.ts';

describe('createCommitReader()', () => {
  let folder: string;
  let writer: DatabaseSync;
  const readers: DatabaseSync[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-commits-'));
    writer = new DatabaseSync(join(folder, 'tenon.db'));
    writer.exec('pragma journal_mode = wal; create table others (value integer) strict');
    createCommitTable(writer);
    createCommitTable(writer);
  });
  after(async () => {
    for (const opened of [writer, ...readers]) opened.close();
    await rm(folder, { recursive: true });
  });

  /** Follows from now on. */
  function follow() {
    const database = new DatabaseSync(join(folder, 'tenon.db'), { readOnly: true });
    readers.push(database);
    const commits = createCommitReader(database);
    commits.version();
    const reported: (readonly string[] | undefined)[] = [];
    commits.onCommitted((invalidated) => reported.push(invalidated));
    return { commits, reported };
  }
  const commit = (...tags: readonly string[]) =>
    void writer.prepare('insert into commits (invalidated) values (?)').run(JSON.stringify(tags));

  it('calls listeners once per commit, in order, before the version changes', () => {
    const { commits, reported } = follow();
    const version = commits.version();
    commit('a');
    commit('b', 'c');
    commit();
    assert.notEqual(commits.version(), version);
    assert.deepEqual(reported, [['a'], ['b', 'c'], []]);
    commits.version();
    assert.equal(reported.length, 3);
  });

  it('invalidates everything for a row without tags', () => {
    const { commits, reported } = follow();
    writer.exec('insert into commits (invalidated) values (null)');
    commits.version();
    assert.deepEqual(reported, [undefined]);
  });

  it('changes the version, but calls no listener, after a commit without a row', () => {
    const { commits, reported } = follow();
    const version = commits.version();
    writer.exec('insert into others values (1)');
    assert.notEqual(commits.version(), version);
    assert.deepEqual(reported, []);
    commit('a');
    commits.version();
    assert.deepEqual(reported, [['a']]);
  });

  it('invalidates everything when unread rows were deleted', () => {
    const { commits, reported } = follow();
    for (const tag of ['a', 'b', 'c']) commit(tag);
    writer.exec('delete from commits where number < (select max(number) from commits)');
    commits.version();
    assert.deepEqual(reported, [undefined]);
    commit('d');
    commits.version();
    assert.deepEqual(reported.slice(1), [['d']]);
  });

  it('calls listeners once per commit while the log restarts', () => {
    const { commits, reported } = follow();
    const tags = Array.from({ length: 200 }, (_, at) => `s${at}`);
    for (const tag of tags) {
      commits.version();
      writer.exec('pragma wal_checkpoint(restart)');
      commits.version();
      commit(tag);
      commits.version();
    }
    assert.deepEqual(reported.flat(), tags);
  });

  it('calls no listener, and keeps the version, without a commit', () => {
    const { commits, reported } = follow();
    const version = commits.version();
    writer.exec('begin immediate; insert into others values (2); rollback');
    assert.equal(commits.version(), version);
    assert.deepEqual(reported, []);
  });
});
