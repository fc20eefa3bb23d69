import assert from 'node:assert/strict';
import { it } from 'node:test';
import { noProvenancePolicy } from '@tenon/protocol';
import { type Kysely, sql, type Transaction } from 'kysely';
import { type ColumnTypes, type Migration, migrate, NewerSchemaError } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/all.ts';
import type { Store } from '../../src/db/store.ts';
import { unrestricted } from '../../src/db/trust-records.ts';
import tables from '../fixtures/baseline-rows.json' with { type: 'json' };

/** An empty database. */
export interface EmptyDatabase {
  readonly db: Kysely<unknown>;
  readonly types: ColumnTypes;
  openStore(): Promise<Store>;
  close(): Promise<void>;
}

/**
 * Data of the baseline, in every table, that later releases continue with. The rows are written as they are in the baseline, and never
 * change.
 */
export function upgradeContract(make: () => Promise<EmptyDatabase>): void {
  it('opens data of the baseline', async () => {
    const { db, types, openStore, close } = await make();
    await writeBaseline(db, types);
    const store = await openStore();
    try {
      assert.deepEqual(await store.check(), []);
      const { rows } = await sql<{ version: number }>`select max(version) as version from schema_versions`.execute(db);
      assert.equal(rows[0]?.version, migrations.length);
      const [app] = tables.apps;
      const [user] = tables.users.filter(({ email }) => email !== null);
      const events = await store.read.auditOfApp(app?.id as never, {}, { limit: 10 });
      assert.deepEqual(events, tables.audit_events);
      const [binding] = tables.bindings;
      const [guest] = tables.guests;
      const lists = await store.read.bindings(binding?.extensionPointId as never, guest?.guestKey ?? '');
      assert.deepEqual(
        lists.map(({ name, versionId }) => ({ name, versionId })),
        [{ name: binding?.name, versionId: binding?.versionId }],
      );
      const [password] = tables.passwords;
      assert.deepEqual(await store.read.passwordByEmail(user?.email ?? ''), password);
      for (const token of tables.tokens) {
        assert.deepEqual(await store.read.tokenByHash(token.secretHash), {
          ...token,
          ...unrestricted,
          suspendedAtMs: null,
          passkeyId: null,
        });
      }
      for (const { deletedAtMs: _, ...point } of tables.extension_points)
        assert.deepEqual(await store.read.extensionPoint(point.id as never), {
          ...point,
          minVersionAgeSeconds: 0,
          rollOut: null,
          imports: {},
          provenance: noProvenancePolicy,
        });
    } finally {
      await store.close();
      await close();
    }
  });

  it('keeps the rows of the baseline in a migration, and an older release rejects the result', async () => {
    const { db, types, openStore, close } = await make();
    try {
      await writeBaseline(db, types);
      await migrate(locked(db), [...migrations, addingColumns], types, () => 1);
      for (const [table, rows] of Object.entries(tables)) {
        const { rows: found } = await sql`select * from ${sql.table(table)}`.execute(db);
        const expected = rows.map((row) => (altered.includes(table) ? { ...row, ofNextRelease: null } : row));
        // Migrations add columns, and never change those of the baseline.
        const names = Object.keys(expected[0] ?? {});
        const kept = (found as Record<string, unknown>[]).map((row) =>
          Object.fromEntries(names.map((name) => [name, row[name]])),
        );
        assert.deepEqual(sorted(kept), sorted(expected), table);
      }
      await assert.rejects(openStore(), NewerSchemaError);
    } finally {
      await close();
    }
  });
}

const altered = ['apps', 'tokens', 'versions', 'bindings'];

const addingColumns: Migration = {
  name: 'adding columns',
  async up(db, { text }) {
    for (const table of altered) await db.schema.alterTable(table).addColumn('ofNextRelease', text).execute();
  },
};

const locked =
  (db: Kysely<unknown>) =>
  <T>(work: (tx: Transaction<unknown>) => Promise<T>): Promise<T> =>
    db.transaction().execute(work);

async function writeBaseline(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await migrate(locked(db), migrations.slice(0, 1), types, () => 1);
  for (const [table, rows] of Object.entries(tables)) {
    for (const row of rows) {
      const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
      await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(db);
    }
  }
}

function sorted(rows: readonly unknown[]): unknown[] {
  return rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
