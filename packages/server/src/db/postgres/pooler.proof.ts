import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../../../test/helpers/until.ts';
import { noPgBouncer, startPgBouncer } from '../../../test/helpers/pgbouncer.ts';
import { noPostgres, type SharedPostgres, sharedPostgres } from '../../../test/helpers/postgres.ts';
import { createRecords } from '../../../test/helpers/records.ts';
import { statements } from '../../queries.ts';
import { RefusedError, type Store } from '../store.ts';
import { watchRevision } from './revision.ts';
import { pooledMessage } from './sessions.ts';
import { openPostgresStore } from './store.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../../docs/how-to/several-nodes.md'), 'utf8');
const documented = /```ini\n(.*?)```/s.exec(page)?.[1] ?? '';

/** Within which something has to happen that takes a few seconds. */
const timeoutMs = 60_000;

describe('openPostgresStore() by way of PgBouncer', { skip: noPostgres || noPgBouncer, timeout: 4 * timeoutMs }, () => {
  let postgres: SharedPostgres;
  const ends: (() => Promise<void>)[] = [];
  before(async () => {
    postgres = await sharedPostgres();
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  async function poolerTo(databaseUrl: string, settings?: string): Promise<string> {
    const pooler = await startPgBouncer(databaseUrl, documented, settings);
    ends.push(pooler.stop);
    return pooler.url;
  }

  async function open(url: string): Promise<Store> {
    const store = await openPostgresStore(statements, { url });
    ends.push(() => store.close());
    return store;
  }

  it('receives commits with the documented configuration', async () => {
    assert.doesNotMatch(documented, /ignore_startup_parameters/);
    const { url } = await postgres.createDatabase();
    const here = await open(await poolerTo(url));
    await until(() => here.isRevisionTrusted(), { timeoutMs });
    const there = await open(url);
    const before = here.revision();
    assert.equal(here.revision(), before);
    await createRecords(there).user();
    await until(() => here.revision() !== before, { timeoutMs });
    await createRecords(here).user();
  });

  for (const mode of ['transaction', 'statement']) {
    for (const size of [1, 20]) {
      it(`rejects pool_mode = ${mode} with ${size} connections, and names the required setting`, async () => {
        const { url } = await postgres.createDatabase();
        const pooled = await poolerTo(url, `pool_mode = ${mode}\ndefault_pool_size = ${size}`);
        await assert.rejects(openPostgresStore(statements, { url: pooled }), (error) => {
          assert.ok(error instanceof RefusedError, String(error));
          assert.equal(error.message, pooledMessage);
          return true;
        });
      });
    }
  }

  it('detects mixed-up sessions later, and stops trusting the revision', async () => {
    const { url } = await postgres.createDatabase();
    const pooled = await poolerTo(url, 'pool_mode = transaction\ndefault_pool_size = 1');
    const watch = await watchRevision({ url: pooled, waitMs: timeoutMs });
    ends.push(() => watch.close());
    await until(() => watch.fault() !== undefined, { timeoutMs });
    assert.equal(watch.fault()?.message, pooledMessage);
    assert.equal(watch.isTrusted(), false);
    assert.notEqual(watch.current(), watch.current());
  });
});
