import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Kysely, sql } from 'kysely';
import { type ColumnTypes, type Migration, migrate, NewerSchemaError } from './migrate.ts';
import { writingDialect } from './sqlite/dialect.ts';
import { openWriter } from './sqlite/files.ts';

const types: ColumnTypes = { text: sql`text`, bigint: sql`integer`, boolean: sql`boolean`, json: sql`json` };

describe('migrate()', () => {
  let folder: string;
  let close: () => void;
  let db: Kysely<unknown>;
  let log: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-migrate-'));
    const database = await openWriter(join(folder, 'x.db'), 1000);
    db = new Kysely<unknown>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    close = () => database.close();
    log = [];
  });
  afterEach(async () => {
    close();
    await rm(folder, { recursive: true });
  });

  /** A migration that makes a table, and then fails if the test says so. */
  const making = (table: string, fault?: Error): Migration => ({
    name: `make ${table}`,
    async up(on, { text }) {
      log.push(table);
      await on.schema.createTable(table).addColumn('id', text).execute();
      if (fault !== undefined) throw fault;
    },
  });
  const run = (migrations: Migration[], nowMs = 7) =>
    migrate(
      (work) => db.transaction().execute(work),
      migrations,
      types,
      () => nowMs,
    );
  const rows = async (query: string) => (await sql.raw<Record<string, unknown>>(query).execute(db)).rows;
  const tables = async () =>
    (await rows("select name from sqlite_schema where type = 'table' order by name")).map(({ name }) => name);

  it('runs pending migrations in order, and records them', async () => {
    await run([making('a')], 1);
    await run([making('a'), making('b'), making('c')], 2);
    await run([making('a'), making('b'), making('c')], 3);
    assert.deepEqual(log, ['a', 'b', 'c']);
    assert.deepEqual(await rows('select * from schema_versions order by version'), [
      { version: 1, name: 'make a', applied_at_ms: 1 },
      { version: 2, name: 'make b', applied_at_ms: 2 },
      { version: 3, name: 'make c', applied_at_ms: 2 },
    ]);
  });

  it('rolls back a failing migration, and keeps those before it', async () => {
    const fault = new Error('no');
    await assert.rejects(run([making('a'), making('b', fault), making('c')]), (error) => error === fault);
    assert.deepEqual(await tables(), ['a', 'schema_versions']);
    await run([making('a'), making('b'), making('c')]);
    assert.deepEqual(await tables(), ['a', 'b', 'c', 'schema_versions']);
  });

  it('runs each step once when several begin at once', async () => {
    await Promise.all([1, 2, 3].map(() => run([making('a'), making('b')])));
    assert.deepEqual(log, ['a', 'b']);
  });

  it('rejects a database from a newer release with both versions, and changes nothing', async () => {
    await run([making('a'), making('b'), making('c')]);
    await assert.rejects(run([making('a')]), (error) => {
      assert.ok(error instanceof NewerSchemaError);
      assert.deepEqual([error.found, error.known], [3, 1]);
      assert.match(error.message, /has version 3.* up to 1\b/);
      return true;
    });
    assert.equal((await rows('select version from schema_versions')).length, 3);
  });
});
