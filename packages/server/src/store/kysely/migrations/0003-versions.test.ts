import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type GuestId, newId, type UserId, type VersionId } from '@tenon/protocol';
import { Kysely, sql } from 'kysely';
import { addressOf, someTimeMs } from '../../../../test/helpers/records.ts';
import { bindingListJson } from '../../../domain/bindings.ts';
import type { Store } from '../../../domain/ports.ts';
import { rebind } from '../../../domain/rebind.ts';
import { noLimits } from '../../../domain/records.ts';
import { writingDialect } from '../../sqlite/dialect.ts';
import { openWriter } from '../../sqlite/files.ts';
import { openSqliteStore } from '../../sqlite/store.ts';
import { type ColumnTypes, migrate } from '../migrate.ts';
import { initial } from './0001-initial.ts';
import { accounts } from './0002-accounts.ts';

const types: ColumnTypes = { text: sql`text`, bigint: sql`integer` };

type Row = Record<string, string | number | null>;

const [app, point] = [newId('app'), newId('extensionPoint')];
const [publisher, other] = [newId('user'), newId('user')];
const [first, second, late] = [newId('guest'), newId('guest'), newId('guest')];
const at = { created_at_ms: someTimeMs };

/** A version as the releases before kept it. */
function version(user: UserId, name: string, number: number) {
  const id = newId('version');
  const content_address = addressOf(`${user} ${name} ${number}`);
  return {
    row: {
      id,
      extension_point_id: point,
      user_id: user,
      name,
      number,
      app_id: app,
      content_address,
      size: number,
      ...at,
    },
    binding: (guest: GuestId, updatedAtMs: number): Row => ({
      extension_point_id: point,
      guest_id: guest,
      name,
      user_id: user,
      version_id: id,
      updated_at_ms: updatedAtMs,
    }),
  };
}

/*
 * `10` has three versions: the newest under all but the second guest, at which a publish for other guests left the second one;
 * the first guest of another plugin has its only version; and one plugin is bound nowhere, since its guest was removed.
 */
const ten = [1, 2, 3].map((number) => version(publisher, '10', number));
const [one, two, three] = ten as [ReturnType<typeof version>, ReturnType<typeof version>, ReturnType<typeof version>];
const alone = version(other, 'constructor', 1);
const unbound = version(publisher, 'unbound', 1);
const bindings = [three.binding(first, 11), two.binding(second, 22), three.binding(late, 33), alone.binding(first, 44)];
const rows: [string, Row[]][] = [
  ['users', [publisher, other].map((id) => ({ id, name: 'U', email: null, deleted_at_ms: null, ...at }))],
  ['apps', [{ id: app, name: 'App', ...at, updated_at_ms: 1 }]],
  [
    'extension_points',
    [{ id: point, app_id: app, name: 'Point', schema_json: '{"exports":{}}', ...at, updated_at_ms: 1 }],
  ],
  ['guests', [first, second, late].map((id) => ({ id, app_id: app, guest_key: `key of ${id}`, ...at }))],
  [
    'plugins',
    [
      { extension_point_id: point, user_id: publisher, name: '10', last_number: 3, ...at },
      { extension_point_id: point, user_id: other, name: 'constructor', last_number: 1, ...at },
      { extension_point_id: point, user_id: publisher, name: 'unbound', last_number: 1, ...at },
    ],
  ],
  ['versions', [one, two, three, alone, unbound].map(({ row }) => row)],
  ['bindings', bindings],
];

describe('0003-versions', () => {
  let folder: string;
  const file = () => join(folder, 'tenon.db');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-versions-'));
    const database = await openWriter(file(), 1000);
    const db = new Kysely<Record<string, Row>>({ dialect: writingDialect({ database, waitMs: 1000 }) });
    await migrate(
      (work) => (db as Kysely<unknown>).transaction().execute(work),
      [initial, accounts],
      types,
      () => 1,
    );
    for (const [table, values] of rows) await db.insertInto(table).values(values).execute();
    database.close();
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
    const store = await openSqliteStore({ file: file() });
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

  /** A2's answer as the release before gave it. */
  const listBefore = (guest: GuestId): string => {
    const entries = bindings
      .filter(({ guest_id }) => guest_id === guest)
      .map(({ name, user_id, version_id, updated_at_ms }) => {
        const found = [...ten, alone].find(({ row }) => row.id === version_id);
        const id = `${point}/plugin/${user_id}/${name}`;
        const contentAddress = found?.row.content_address;
        return [name, { id, contentAddress, updatedAt: new Date(Number(updated_at_ms)).toISOString() }] as const;
      });
    return `{${entries.map(([name, entry]) => `"${name}":${JSON.stringify(entry)}`).join(',')}}`;
  };

  it('leaves every binding list as it was, to the letter, and a rebinding leaves it too', async () => {
    await withStore(async (store) => {
      const lists = () =>
        Promise.all(
          [first, second, late].map(async (id) => bindingListJson(await store.read.bindings(point, `key of ${id}`))),
        );
      const before = [first, second, late].map(listBefore);
      assert.deepEqual(await lists(), before);
      for (const [userId, name] of [
        [publisher, '10'],
        [other, 'constructor'],
        [publisher, 'unbound'],
      ] as const) {
        await store.write((tx) => rebind(tx, { extensionPointId: point, userId, name }, someTimeMs));
      }
      assert.deepEqual(await lists(), before);
    });
  });

  it('takes every version for published, since it was', async () => {
    await withStore(async ({ read }) => {
      const { id, content_address: contentAddress, size } = two.row;
      assert.deepEqual(await read.version({ extensionPointId: point, userId: publisher, name: '10' }, 2), {
        extensionPointId: point,
        userId: publisher,
        name: '10',
        id,
        number: 2,
        contentAddress,
        size,
        semver: null,
        note: null,
        createdAtMs: someTimeMs,
        state: 'published',
        stateReason: null,
        stateAtMs: someTimeMs,
        stateSide: null,
      });
      assert.equal((await read.plugin({ extensionPointId: point, userId: publisher, name: '10' }))?.block, null);
      assert.deepEqual(await read.versionsAwaitingApproval(app, {}), []);
    });
  });

  it('takes what is bound, and what came before it, for published under the guest, and nothing newer', async () => {
    await withStore(async ({ read }) => {
      const ids = [one, two, three, alone, unbound].map(({ row }) => row.id);
      const found = await read.guestsOfVersions(ids);
      const under = (id: VersionId) => found.filter(({ versionId }) => versionId === id).map(({ guestId }) => guestId);
      assert.deepEqual(under(one.row.id), [first, second, late].sort());
      assert.deepEqual(under(two.row.id), [first, second, late].sort());
      assert.deepEqual(under(three.row.id), [first, late].sort());
      assert.deepEqual(under(alone.row.id), [first]);
      assert.deepEqual(under(unbound.row.id), []);
    });
  });

  it('asks for no approval and sets no limit where none was asked for', async () => {
    await withStore(async ({ read }) => {
      const extensionPoint = await read.extensionPoint(point);
      assert.equal(extensionPoint?.requiresApproval, false);
      assert.deepEqual(extensionPoint?.limits, noLimits);
    });
  });

  it('keeps the database whole, deletions included', async () => {
    await withStore((store) => store.write((tx) => tx.deleteGuest(first)));
    assert.deepEqual(ask('select guest_id from bindings order by updated_at_ms'), [
      { guest_id: second },
      { guest_id: late },
    ]);
    await withStore((store) => store.write((tx) => tx.deleteApp(app)));
    for (const table of ['bindings', 'versions', 'version_guests', 'plugins']) {
      assert.deepEqual(ask(`select * from ${table}`), [], table);
    }
    assert.deepEqual(ask('pragma foreign_key_check'), []);
    assert.deepEqual(ask('pragma integrity_check'), [{ integrity_check: 'ok' }]);
  });
});
