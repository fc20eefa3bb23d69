import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { Kysely } from 'kysely';
import { beforeAllNews } from '../../../domain/news/ports.ts';
import { columnTypes } from '../../sqlite/column-types.ts';
import { writingDialect } from '../../sqlite/dialect.ts';
import { createDatabaseFile, openWriter } from '../../sqlite/files.ts';
import { openSqliteStore } from '../../sqlite/store.ts';
import { migrate } from '../migrate.ts';
import { migrations } from './all.ts';

describe('migration news', () => {
  it('marks where applications from before it stand, in each copy of the data by itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-migration-'));
    const app = newId('app');
    const marks: unknown[] = [];
    for (const name of ['original', 'copy']) {
      const file = join(folder, `${name}.db`);
      await createDatabaseFile(file);
      const database = await openWriter(file, 1000);
      const db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
      const before = migrations.slice(
        0,
        migrations.findIndex((migration) => migration.name === 'news'),
      );
      await migrate(
        (work) => db.transaction().execute(work),
        before,
        columnTypes,
        () => 1,
      );
      database.prepare('insert into apps values (?, ?, 1, 1)').run(app, 'App');
      database.close();

      const store = await openSqliteStore({ file });
      const head = (await store.read.newsHeads([app])).get(app);
      assert.equal(head?.serial, 0);
      marks.push(head?.mark);
      const point = newId('extensionPoint');
      const fields = { mark: 'aa', atMs: 1, keep: 9 };
      await store.write((tx) => tx.insertNews(app, [{ extensionPointId: point, guestKey: 'k' }], fields));
      assert.deepEqual(
        (await store.read.news(app, 0, 9)).map(({ serial }) => serial),
        [1],
      );
      await store.close();
    }
    assert.equal(new Set([...marks, beforeAllNews.mark]).size, 3);
    await rm(folder, { recursive: true });
  });
});
