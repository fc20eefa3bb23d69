import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely } from 'kysely';
import pg from 'pg';
import { until } from '../../../../test/helpers/until.ts';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { collect } from '../../src/blobs/collect.ts';
import { NewerSchemaError } from '../../src/db/migrate.ts';
import { columnTypes, poolDialect } from '../../src/db/postgres/dialect.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { openPostgresStore } from '../../src/db/postgres/store.ts';
import { ConflictError, type Store, UnavailableError } from '../../src/db/store.ts';
import { statements } from '../../src/queries.ts';
import { type Major, type PostgresServer, startPostgres, whyNoPostgres } from '../helpers/postgres.ts';
import { backendOn } from '../helpers/postgres-stores.ts';
import { addressOf, createRecords, someTimeMs } from '../helpers/records.ts';
import { storeContract } from './store-contract.ts';
import { upgradeContract } from './upgrade-contract.ts';

/** What a PostgreSQL store keeps: the contract of all stores, and what is PostgreSQL's own. */
export function postgresStoreContract(major: Major): void {
  if (whyNoPostgres(major) === false) storeContract(`openPostgresStore() on PostgreSQL ${major}`, backendOn(major));

  describe(`openPostgresStore() on PostgreSQL ${major}`, { skip: whyNoPostgres(major) }, () => {
    let server: PostgresServer;
    let url: string;
    let [here, there]: [Store, Store] = [undefined, undefined] as never;
    before(async () => {
      server = await startPostgres(major);
      ({ url } = await server.createDatabase());
      [here, there] = await Promise.all([
        openPostgresStore(statements, { url }),
        openPostgresStore(statements, { url, waitMs: 2000 }),
      ]);
    });
    after(async () => {
      await Promise.allSettled([here.close(), there.close()]);
      server.stop();
    });

    /** What the SQL of a client of its own answers. */
    async function ask(sql: string): Promise<Record<string, unknown>[]> {
      const client = new pg.Client(url);
      await client.connect();
      try {
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    }

    upgradeContract(async () => {
      const database = await server.createDatabase();
      const pool = openPool({ url: database.url, waitMs: 60_000 }, 1);
      return {
        db: new Kysely<unknown>({ dialect: poolDialect(pool) }),
        types: columnTypes,
        openStore: () => openPostgresStore(statements, { url: database.url }),
        close: () => pool.end(),
      };
    });

    it('sorts by code units, whatever the locale', async () => {
      const { owner } = await createRecords(here).stage();
      const names = ['Zebra', 'apple', 'Ärger', '10', '9', '_'];
      for (const name of names) await createRecords(here).app({ name });
      const rows = await ask('select name from apps order by name');
      const sorted = rows.map(({ name }) => name).filter((name) => names.includes(String(name)));
      assert.deepEqual(sorted, names.toSorted());
      assert.ok(owner);
    });

    it('keeps its revision while its pings return and nothing is committed', async () => {
      await createRecords(here).user();
      await until(async () => {
        const before = here.revision();
        await sleep(600);
        return here.revision() === before;
      });
    });

    it('retries the work after a conflict, without an error', async () => {
      const app = await createRecords(here).app({ name: '0' });
      let runs = 0;
      const count = (store: Store) =>
        store.write(async (tx) => {
          runs++;
          const name = String(Number((await tx.app(app.id))?.name) + 1);
          await sleep(5);
          await tx.updateApp(app.id, { name, updatedAtMs: someTimeMs });
        });
      await Promise.all(Array.from({ length: 10 }, (_, at) => count(at % 2 === 0 ? here : there)));
      assert.equal((await here.read.app(app.id))?.name, '10');
      assert.ok(runs > 10, `${runs} runs`);
    });

    it('lets the garbage collector finish while publishers commit between any two of its statements', async () => {
      const [unused, named] = [addressOf('unused bytes'), addressOf('named bytes')];
      const { key } = await createRecords(here).stage();
      /** Publishes the named bytes again, and touches the row of the unused ones. */
      const publish = () =>
        there.write(async (tx) => {
          for (const address of [unused, named])
            await tx.leaseBlob({ address, size: 8, generation: 'one', leaseUntilMs: 0 });
          await tx.markPresent(named, 'one');
        });
      await publish();
      await createRecords(here).version(key('named'), { contentAddress: named });
      let most = 0;
      const interrupted =
        (write: Store['write']): Store['write'] =>
        (work) => {
          let runs = 0;
          return write(async (tx) => {
            most = Math.max(most, ++runs);
            await tx.leaseHolders('copy', someTimeMs); // what it sees at the isolation level "serializable" is from now on fixed
            if ((await there.read.blob(unused)) !== undefined) await publish();
            return work(tx);
          });
        };
      const writeLocking = interrupted(here.writeLocking as Store['write']) as Store['writeLocking'];
      const store = { ...here, write: interrupted(here.write), writeLocking };
      const blobs = { async *list() {}, delete: async () => true, deleteUnfinished: async () => 0 };
      const deps = { store, blobs: blobs as unknown as BlobStore, clock: () => someTimeMs, random: randomBytes };
      const collected = await collect(deps, { graceMs: 0, isForced: true });
      assert.deepEqual([collected?.deleted, most], [1, 1]);
      assert.equal((await here.read.blob(named))?.state, 'present');
    });

    it('refuses a database that a newer release has migrated', async () => {
      const newer = await server.createDatabase();
      await (await openPostgresStore(statements, { url: newer.url })).close();
      const client = new pg.Client(newer.url);
      await client.connect();
      await client.query("insert into schema_versions values (99, 'from the future', 2)");
      await client.end();
      await assert.rejects(openPostgresStore(statements, { url: newer.url }), NewerSchemaError);
    });

    it('reveals neither conflicting values nor a password in its errors', async () => {
      const user = await createRecords(here).user();
      const failing = here.write((tx) => tx.insertUser(user));
      await assert.rejects(failing, (error) => error instanceof ConflictError && !error.message.includes(user.id));
      const wrong = openPostgresStore(statements, { url: 'postgresql://tenon:s3cret@127.0.0.1:1/tenon', waitMs: 500 });
      await assert.rejects(wrong, (error) => error instanceof UnavailableError && !error.message.includes('s3cret'));
    });

    it('rolls back the transaction of a killed connection, and continues with other connections', async () => {
      const app = await createRecords(here).app({ name: 'before' });
      const failing = here.write(async (tx) => {
        await tx.updateApp(app.id, { name: 'lost', updatedAtMs: someTimeMs });
        await ask(
          "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()",
        );
        await tx.app(app.id);
      });
      await assert.rejects(failing, UnavailableError);
      assert.equal((await here.read.app(app.id))?.name, 'before');
      await createRecords(here).user();
    });

    it('does not trust the revision while notifications are interrupted, and receives commits again afterwards', async () => {
      await until(() => {
        const first = here.revision();
        return here.revision() === first;
      });
      await ask(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tenon revisions' and datname = current_database()",
      );
      await until(() => {
        const first = here.revision();
        return here.revision() !== first; // each call has another number: nothing may be kept
      });
      await until(() => {
        const first = here.revision();
        return here.revision() === first;
      });
      const before = here.revision();
      await createRecords(there).user();
      await until(() => here.revision() !== before);
    });

    it('fails as unavailable while the server is down, and continues when it is back', async () => {
      const user = await createRecords(there).user();
      await server.kill();
      await assert.rejects(there.read.user(user.id), UnavailableError);
      await assert.rejects(there.ping(), UnavailableError);
      await assert.rejects(createRecords(there).user(), UnavailableError);
      await server.start();
      await until(async () => {
        try {
          return (await there.read.user(user.id)) !== undefined;
        } catch (error) {
          assert.ok(error instanceof UnavailableError);
          return false;
        }
      });
      await until(() => {
        const first = there.revision();
        return there.revision() === first;
      });
      await createRecords(there).user();
    });
  });
}
