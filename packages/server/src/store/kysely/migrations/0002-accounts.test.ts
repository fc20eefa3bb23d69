import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { Kysely, sql } from 'kysely';
import { runInChild } from '../../../../test/contracts/store/child.ts';
import { addressOf, createRecords, someHash, someTimeMs } from '../../../../test/helpers/records.ts';
import { backend } from '../../../../test/helpers/stores.ts';
import type { Store } from '../../../domain/ports.ts';
import { writingDialect } from '../../sqlite/dialect.ts';
import { openWriter } from '../../sqlite/files.ts';
import { type ColumnTypes, migrate } from '../migrate.ts';
import { initial } from './0001-initial.ts';
import { migrations } from './all.ts';

const types: ColumnTypes = { text: sql`text`, bigint: sql`integer` };

type Row = Record<string, string | number | null>;

/** A row or two in every table that the first migration makes, in an order in which they may be put in. */
function initialRows() {
  const [owner, publisher] = [newId('user'), newId('user')];
  const [app, point, guest, version] = [newId('app'), newId('extensionPoint'), newId('guest'), newId('version')];
  const [invitation, token, boundToken, apiKey] = [
    newId('invitation'),
    newId('token'),
    newId('token'),
    newId('apiKey'),
  ];
  const at = { created_at_ms: someTimeMs };
  const plugin = { extension_point_id: point, user_id: publisher, name: 'constructor' };
  const tables: [string, Row[]][] = [
    [
      'users',
      [
        { id: owner, name: 'Owner', email: 'owner@example.org', ...at },
        { id: publisher, name: '__proto__', email: null, ...at },
      ],
    ],
    ['apps', [{ id: app, name: 'App', ...at, updated_at_ms: someTimeMs }]],
    ['members', [{ app_id: app, user_id: owner, role: 'owner', ...at }]],
    ['extension_points', [{ id: point, app_id: app, name: 'Point', schema_json: '{}', ...at, updated_at_ms: 1 }]],
    ['guests', [{ id: guest, app_id: app, guest_key: 'acme/1', ...at }]],
    ['guest_users', [{ guest_id: guest, user_id: publisher, accepted_at_ms: 2 }]],
    [
      'invitations',
      [
        {
          id: invitation,
          app_id: app,
          guest_id: guest,
          code_hash: someHash(),
          status: 'pending',
          email: 'guest@example.org',
          name: null,
          created_by: owner,
          ...at,
          expires_at_ms: 3,
          settled_at_ms: null,
        },
      ],
    ],
    ['plugins', [{ ...plugin, last_number: 1, ...at }]],
    ['versions', [{ ...plugin, id: version, number: 1, app_id: app, content_address: addressOf('a'), size: 8, ...at }]],
    ['bindings', [{ ...plugin, guest_id: guest, version_id: version, updated_at_ms: 4 }]],
    [
      'tokens',
      [token, boundToken].map((id) => ({
        id,
        user_id: owner,
        name: 'laptop',
        secret_hash: someHash(),
        scopes: 'read manage',
        app_id: id === token ? null : app,
        ...at,
        expires_at_ms: 5,
        last_used_at_ms: id === token ? 6 : null,
      })),
    ],
    ['api_keys', [{ id: apiKey, user_id: owner, name: 'ci', secret_hash: someHash(), ...at, last_used_at_ms: null }]],
  ];
  return { ids: { owner, publisher, app, point, guest, invitation, token }, tables };
}

describe('0002-accounts', () => {
  let location: string;
  let rows: ReturnType<typeof initialRows>;

  /** A database as the first release left it. */
  beforeEach(async () => {
    location = await mkdtemp(join(tmpdir(), 'tenon-accounts-'));
    rows = initialRows();
    const database = await openWriter(file(), 1000);
    const db = new Kysely<Record<string, Row>>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    await migrate(
      (work) => (db as Kysely<unknown>).transaction().execute(work),
      [initial],
      types,
      () => 1,
    );
    for (const [table, values] of rows.tables) await db.insertInto(table).values(values).execute();
    database.close();
  });
  afterEach(() => rm(location, { recursive: true }));

  const file = () => join(location, 'tenon.db');
  async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
    const store = await backend.openStore(location);
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }
  function ask(query: string): Row[] {
    const database = new DatabaseSync(file(), { readOnly: true });
    try {
      return database
        .prepare(query)
        .all()
        .map((row) => ({ ...row }) as Row);
    } finally {
      database.close();
    }
  }

  it('begins with a row in every table', () => {
    const tables = ask("select name from sqlite_schema where type = 'table' and name != 'schema_versions'");
    assert.deepEqual(tables.map(({ name }) => name).sort(), rows.tables.map(([table]) => table).sort());
  });

  it('keeps every row as it was', async () => {
    await withStore(async () => {});
    for (const [table, before] of rows.tables) {
      const columns = Object.keys(before[0] as Row).join(', ');
      assert.deepEqual(ask(`select ${columns} from ${table} order by rowid`), before, table);
    }
    assert.deepEqual(ask('pragma foreign_key_check'), []);
    assert.deepEqual(ask('pragma integrity_check'), [{ integrity_check: 'ok' }]);
    assert.deepEqual(ask('select version, name from schema_versions order by version limit 2'), [
      { version: 1, name: 'initial' },
      { version: 2, name: 'accounts' },
    ]);
  });

  it('takes the users there are for not deleted, the tokens for those of programs, the invitations for not used', async () => {
    const { ids } = rows;
    await withStore(async ({ read }) => {
      assert.equal((await read.user(ids.owner))?.deletedAtMs, null);
      assert.deepEqual(await read.identitiesOf(ids.owner), []);
      assert.equal((await read.tokens(ids.owner, undefined, {})).length, 2);
      assert.equal((await read.token(ids.token))?.sessionId, null);
      assert.equal((await read.invitation(ids.invitation))?.signedUpUserId, null);
    });
  });

  it('gives the users there are what accounts have, and lets them go', async () => {
    const { ids } = rows;
    await withStore(async (store) => {
      const records = createRecords(store);
      const publisher = await store.read.user(ids.publisher);
      assert.ok(publisher);
      const session = await records.session(publisher);
      const token = await records.token(publisher, { sessionId: session.id });
      await store.write(async (tx) => {
        await tx.noteInvitationSignUp(ids.invitation, ids.publisher);
        await tx.deleteSession(session.id);
      });
      assert.equal(await store.read.token(token.id), undefined);
      await store.write((tx) => tx.eraseUser(ids.publisher, { name: 'gone', deletedAtMs: 7 }));
      assert.deepEqual(await store.read.bindings(ids.point, 'acme/1'), []);
      await store.write((tx) => tx.deleteApp(ids.app));
      assert.equal(await store.read.token(ids.token).then((found) => found?.name), 'laptop');
    });
    assert.deepEqual(ask('pragma foreign_key_check'), []);
  });

  it('runs once when several processes start at once', async () => {
    await Promise.all([1, 2, 3].map(() => runInChild(backend, location, 'insertUser', {})));
    assert.equal(ask('select * from schema_versions').length, migrations.length);
    assert.equal(ask('select * from users').length, 2 + 3);
  });
});
