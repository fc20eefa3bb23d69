import assert from 'node:assert/strict';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { addressOfBytes, bytesOf } from '../../../test/helpers/bytes.ts';
import { assertVerifies, copy, embedded, openAsServer, refused } from '../../../test/helpers/copies.ts';
import { dump } from '../../../test/helpers/dump.ts';
import { contents, type FolderCopies, openFolderCopies } from '../../../test/helpers/folder-copies.ts';
import { NewerSchemaError } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/all.ts';
import type { CopyErrorCode } from './errors.ts';

const [first = new Uint8Array()] = contents;

describe('copyStore() with damaged data', () => {
  let copies: FolderCopies;
  let fixture: FolderCopies['fixture'];
  let target: string;
  let fileOf: FolderCopies['fileOf'];
  let failBefore: FolderCopies['failBefore'];
  const from = () => embedded(fixture.dataDir);
  const to = () => embedded(target);
  beforeEach(async () => {
    copies = await openFolderCopies();
    ({ fixture, target, fileOf, failBefore } = copies);
  });
  afterEach(() => copies.close());

  it('rejects a target whose database is truncated or not a database', async () => {
    await failBefore('finish');
    const file = join(target, 'tenon.db');
    const whole = await readFile(file);
    for (const bytes of [whole.subarray(0, 5000), bytesOf(1, 9000)]) {
      await writeFile(file, bytes);
      await assert.rejects(copy(from(), to()), /malformed|not a database/);
      assert.deepEqual(await readFile(file), Buffer.from(bytes));
    }
  });

  it('notices that bytes of the source are missing, others, or cut off', async () => {
    const address = addressOfBytes(first);
    const file = await fileOf(fixture.dataDir, address);
    for (const bytes of [undefined, bytesOf(4, first.length), first.subarray(1)]) {
      await rm(file);
      if (bytes !== undefined) await writeFile(file, bytes);
      await assert.rejects(copy(from(), to()), refused('damaged_data'));
      await assert.rejects(openAsServer(to()), refused('unfinished_copy'));
      if (bytes === undefined) await writeFile(file, '');
    }
    await rm(file);
    await writeFile(file, first);
    await copy(from(), to());
    await assertVerifies(to());
  });

  it('detects damage of the copy before it is finished, and repairs it', async () => {
    const file = () => fileOf(target, addressOfBytes(first));
    const database = (sql: string) => {
      const opened = new DatabaseSync(join(target, 'tenon.db'));
      opened.exec(sql);
      opened.close();
    };
    const spoils: Readonly<Record<string, () => void | Promise<void>>> = {
      gone: async () => rm(await file()),
      others: async () => {
        await rm(await file());
        await writeFile(await file(), bytesOf(4, first.length));
      },
      short: async () => {
        await rm(await file());
        await writeFile(await file(), first.subarray(1));
      },
      row: () => database("update users set name = 'Eve'"),
      fewer: () => database('delete from bindings; delete from versions where number = 1'),
      more: () => database('insert into operators select id, 1 from users limit 1'),
    };
    for (const [what, spoil] of Object.entries(spoils)) {
      const spoiled = copy(from(), to(), {
        async onStep(step) {
          if (step === 'verify') await spoil();
        },
      });
      await assert.rejects(spoiled, refused('differs'), what);
      await assert.rejects(openAsServer(to()), refused('unfinished_copy'));
    }
    await copy(from(), to());
    assert.deepEqual(await dump(to()), await dump(from()));
    await assertVerifies(to());
  });

  describe('of a source that is not as it should be', () => {
    const source = () => join(fixture.dataDir, 'source');
    const into = () => copy(embedded(source()), to());
    beforeEach(() => copy(from(), embedded(source())));

    /** Changes the source behind its back. */
    function change(sql: string): void {
      const database = new DatabaseSync(join(source(), 'tenon.db'), { enableForeignKeyConstraints: false });
      database.exec(sql);
      database.close();
    }

    it('refuses one that is missing, no database, or cut off', async () => {
      await assert.rejects(copy(embedded(join(source(), 'none')), to()), refused('no_source'));
      const file = join(source(), 'tenon.db');
      const whole = await readFile(file);
      for (const bytes of [
        bytesOf(1, 9000),
        Buffer.from('SQLite format 3\0'),
        Buffer.alloc(0),
        whole.subarray(0, 9000),
      ]) {
        await writeFile(file, bytes);
        await assert.rejects(into(), refused('no_source'));
      }
      await assert.rejects(stat(target), { code: 'ENOENT' });
    });

    it('refuses one with damaged pages', async () => {
      const handle = await open(join(source(), 'tenon.db'), 'r+');
      const { size } = await handle.stat();
      for (let page = 3; page * 4096 < size; page += 4) await handle.write(bytesOf(page, 4096), 0, 4096, page * 4096);
      await handle.close();
      await assert.rejects(into(), (error: unknown) => /damaged|malformed|no store/.test(String(error)));
      await assert.rejects(
        openAsServer(to())
          .then(() => dump(to()))
          .then((rows) => {
            assert.equal(rows.get('users')?.length, 0);
            throw new Error('empty');
          }),
        /empty|unfinished/,
      );
    });

    it('rejects a schema of an older or a newer release, and does not change it', async () => {
      change(`delete from schema_versions where version = ${migrations.length}`);
      await assert.rejects(into(), refused('older_source'));
      change(`insert into schema_versions values (${migrations.length}, 'last', 0), (999, 'from the future', 0)`);
      await assert.rejects(into(), NewerSchemaError);
      await assert.rejects(stat(target), { code: 'ENOENT' });
    });

    const damages: readonly [string, string, CopyErrorCode][] = [
      ['a table less', 'drop table bindings', 'no_source'],
      ['another column', 'alter table users rename column email to mail', 'no_source'],
      ['rows that refer to nothing', 'delete from users', 'damaged_data'],
      ['versions of other sizes', 'update versions set size = size + 1', 'damaged_data'],
      ['a content without a row', 'delete from blobs', 'damaged_data'],
    ];
    for (const [what, sql, code] of damages) {
      it(`rejects a source with ${what}`, async () => {
        change(sql);
        await assert.rejects(into(), refused(code));
      });
    }

    it('copies only the rows of a source with an extra trigger, view, table and column', async () => {
      change(`
        create trigger t after insert on users begin delete from users; end;
        create view v as select 1;
        create table extra (a);
        alter table users add column extra text;
      `);
      await into();
      assert.deepEqual(await dump(to()), await dump(from()));
      await assertVerifies(to());
    });
  });
});
