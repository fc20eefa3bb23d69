import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { until } from '../../../../../test/helpers/until.ts';
import { type CutFront, openCutFront } from '../../../test/helpers/cut-front.ts';
import { noPostgres, type SharedPostgres, sharedPostgres } from '../../../test/helpers/postgres.ts';
import { createRecords } from '../../../test/helpers/records.ts';
import { statements } from '../../queries.ts';
import { type Store, UnavailableError } from '../store.ts';
import { openPostgresStore } from './store.ts';

/** Far longer than any of these may take, which is what they are about. */
const longMs = 600_000;

/** Within which something has to happen that takes a few seconds. */
const limitMs = 60_000;

describe('openPostgresStore() over a connection that is cut silently', {
  skip: noPostgres,
  timeout: 4 * limitMs,
}, () => {
  let server: SharedPostgres;
  let front: CutFront;
  let [direct, cuttable] = ['', ''];
  const opened: Store[] = [];
  before(async () => {
    server = await sharedPostgres();
  });
  beforeEach(async () => {
    direct = (await server.createDatabase()).url;
    const { host, name } = placeOf(direct);
    front = await openCutFront(join(host, '.s.PGSQL.5432'));
    cuttable = `postgresql://tenon@127.0.0.1:${front.port}/${name}`;
  });
  afterEach(async () => {
    await front.close();
    await Promise.allSettled(opened.splice(0).map((store) => store.close()));
  });

  async function open(url: string, waitMs: number): Promise<Store> {
    const store = await openPostgresStore(statements, { url, waitMs });
    opened.push(store);
    return store;
  }

  it('stops trusting the revision, reconnects soon, and receives commits again', async () => {
    const [here, there] = [await open(cuttable, longMs), await open(direct, longMs)];
    await until(() => here.isRevisionTrusted(), { timeoutMs: limitMs });
    front.cut();
    await until(() => !here.isRevisionTrusted(), { timeoutMs: limitMs });
    await until(() => here.isRevisionTrusted(), { timeoutMs: limitMs });
    const before = here.revision();
    await createRecords(there).user();
    await until(() => here.revision() !== before, { timeoutMs: limitMs });
  });

  it('rejects soon when it cannot be opened, and does not retry', async () => {
    for (const passing of [0, 1]) {
      front.pass(passing);
      const before = front.connections;
      const failing = assert.rejects(
        openPostgresStore(statements, { url: cuttable, waitMs: longMs }),
        UnavailableError,
      );
      assert.notEqual(await Promise.race([failing, sleep(limitMs, 'late', { ref: false })]), 'late');
      const tried = front.connections;
      assert.equal(tried - before, passing + 1);
      await sleep(500);
      assert.equal(front.connections, tried);
    }
  });

  it('fails as unavailable after its time-out, and continues over other connections', async () => {
    const store = await open(cuttable, 2000);
    const user = await createRecords(store).user();
    await store.read.user(user.id);
    front.cut();
    await assert.rejects(store.read.user(user.id), UnavailableError);
    await assert.rejects(createRecords(store).user(), UnavailableError);
    assert.deepEqual(await store.read.user(user.id), user);
    await createRecords(store).user();
  });

  it('receives its own commit that completed after the connection was lost', async () => {
    const store = await open(cuttable, longMs);
    const app = await createRecords(store).app();
    const reported: (readonly string[] | undefined)[] = [];
    const held = await holdCommits(direct);
    try {
      const writing = store.write((tx) => tx.updateApp(app.id, { name: 'late', updatedAtMs: 1 }));
      await held.untilOneWaits();
      store.onCommitted((invalidated) => reported.push(invalidated));
      front.hangUp();
      await assert.rejects(writing, UnavailableError);
      await until(() => reported.length >= 2 && store.isRevisionTrusted(), { timeoutMs: limitMs }); // of the loss, and of listening again
      assert.notEqual((await store.read.app(app.id))?.name, 'late');
      await held.release();
      await until(() => reported.some((invalidated) => invalidated?.includes(app.id)), { timeoutMs: limitMs });
      assert.equal((await store.read.app(app.id))?.name, 'late');
    } finally {
      await held.end();
    }
  });

  it('can be closed', async () => {
    const store = await openPostgresStore(statements, { url: cuttable, waitMs: longMs });
    const { id } = await createRecords(store).user();
    await store.read.user(id);
    front.cut();
    front.pass(0);
    assert.notEqual(await Promise.race([store.close(), sleep(limitMs, 'late', { ref: false })]), 'late');
  });
});

/** Has commits that change an application wait, at the very end, until they are released. */
async function holdCommits(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`
    create function wait_here() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(1); return null; end $$;
    create constraint trigger wait_here after update on apps deferrable initially deferred
      for each row execute function wait_here();
    select pg_advisory_lock(1)`);
  return {
    async untilOneWaits(): Promise<void> {
      const waiting = "select 1 from pg_locks where locktype = 'advisory' and not granted";
      await until(async () => (await client.query(waiting)).rowCount !== 0, { timeoutMs: limitMs });
    },
    release: () => client.query('select pg_advisory_unlock(1)'),
    end: () => client.end(),
  };
}

function placeOf(url: string): { readonly host: string; readonly name: string } {
  const [, host = '', name = ''] = /^postgresql:\/\/tenon@(.*)\/(.*)$/.exec(url) ?? [];
  return { host: decodeURIComponent(host), name };
}
