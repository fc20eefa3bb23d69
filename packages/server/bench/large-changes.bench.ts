/**
 * How long others wait while one tenant makes a very large change: on the embedded store one process does all the work. A plugin is published
 * for thousands of guests, taken back where very many bind it, and its extension point deleted; meanwhile another tenant
 * asks for a binding list, and changes something small, without a pause.
 *
 *     npm run bench -- packages/server/bench/large-changes.bench.ts
 *     npm run bench -- packages/server/bench/large-changes.bench.ts --guests 2000 --bindings 20000
 */
import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type App, type ExtensionPoint, newId } from '@tenon/protocol';
import { loadConfig } from '../src/index.ts';
import { type Call, caller } from './support/caller.ts';
import { moduleOfSize } from './support/module-of-size.ts';
import { startNode } from './support/nodes.ts';
import { describeMachine } from './support/report.ts';
import { createProgress, withFolder } from './support/run.ts';
import { openSqliteTarget } from './support/scale-data.ts';
import { makeUser } from './support/stage.ts';

const { values } = parseArgs({
  options: { guests: { type: 'string', default: '5000' }, bindings: { type: 'string', default: '100000' } },
});

/** For how long a calm server is probed, to compare, in milliseconds. */
const calmMs = 5000;

/** How many guests one statement inserts. */
const batch = 5000;

/** The settings' defaults, but for who makes few requests in a long time. */
const environment = { TENON_RATES: 'writes-per-second=1000000,write-burst=1000000' };

/** Repeats a request until stopped. @returns the longest wait, in milliseconds */
async function longestWait(ask: () => Promise<unknown>, until: AbortSignal): Promise<number> {
  let longestMs = 0;
  while (!until.aborted) {
    const beganAt = performance.now();
    await ask();
    longestMs = Math.max(longestMs, performance.now() - beganAt);
  }
  return longestMs;
}

type Sql = (sql: string, ...parameters: (string | number)[]) => Promise<void>;

/** Does to the database what would take hours by requests. */
async function withSql(dataDir: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  const target = openSqliteTarget(join(dataDir, 'tenon.db'));
  await work((sql, ...parameters) => target.run(sql, parameters));
  await target.close();
}

async function addGuests(sql: Sql, appId: string, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += batch) {
    const guests = Array.from(
      { length: Math.min(batch, to - first) },
      (_, at) => `('${newId('guest')}', '${appId}', 'customer-${first + at}', 'customer-${first + at}', ${Date.now()})`,
    );
    await sql(`insert into guests (id, "appId", "guestKey", "sortKey", "createdAtMs") values ${guests.join(',')}`);
  }
}

const progress = createProgress();
await withFolder(async (folder, defer) => {
  const dataDir = join(folder, 'data');
  const config = loadConfig({ dataDir }, {});
  const [large, small] = [await makeUser(config), await makeUser(config)];
  const node = await startNode({ folder: join(folder, 'node'), dataDir, environment });
  defer(() => node.stop());
  const [one, other] = [caller(node.port, large.token), caller(node.port, small.token)];
  const makePoint = async (call: Call): Promise<ExtensionPoint> => {
    const { id } = (await call('POST', '/apps', { name: 'bench' })) as App;
    return (await call('POST', `/apps/${id}/extension-points`, { name: 'bench' })) as ExtensionPoint;
  };
  const [point, probed] = [await makePoint(one), await makePoint(other)];
  const probe = async (title: string, change: () => Promise<unknown>): Promise<void> => {
    progress.tell(title);
    const ends = new AbortController();
    let count = 0;
    const probes = Promise.all([
      longestWait(() => other('GET', `/extension-points/${probed.id}/bindings/someone`), ends.signal),
      longestWait(() => other('PUT', `/apps/${probed.appId}`, { name: `bench ${++count}` }), ends.signal),
    ]);
    const beganAt = performance.now();
    await change();
    const tookMs = performance.now() - beganAt;
    ends.abort();
    const [readMs, writeMs] = await probes;
    progress.clear();
    const cells = [tookMs, readMs, writeMs].map((ms) => `${ms.toFixed(0)} ms`.padStart(12)).join('');
    console.log(title.padEnd(44) + cells);
  };
  const plugin = `/artifacts/${point.id}/plugin/${large.id}/bench`;
  const module = (): Uint8Array<ArrayBuffer> => {
    const bytes = moduleOfSize(1024);
    bytes.set(randomBytes(16), bytes.length - 16);
    return bytes;
  };
  const publish = () => one('PUT', plugin, module());
  const [guests, bindings] = [Number(values.guests), Number(values.bindings)];

  console.log(`${describeMachine()}, load average ${(loadavg()[0] ?? 0).toFixed(1)}`);
  console.log(''.padEnd(44) + ['it took', 'list', 'change'].map((name) => name.padStart(12)).join(''));
  await probe('nothing else to do', () => new Promise((resolve) => setTimeout(resolve, calmMs)));
  await withSql(dataDir, async (sql) => {
    await addGuests(sql, point.appId, 0, guests);
    await sql(
      'insert into guest_users select id, ?, ? from guests where "appId" = ?',
      large.id,
      Date.now(),
      point.appId,
    );
  });
  // The server has cached that the publisher holds no guest, and learns nothing of what came by SQL.
  await one('PUT', `/apps/${point.appId}`, { name: 'bench' });
  await probe(`publish, ${guests} guests, first`, publish);
  await probe(`publish, ${guests} guests, next`, publish);
  await withSql(dataDir, async (sql) => {
    await addGuests(sql, point.appId, guests, bindings);
    const versions = 'versions where "extensionPointId" = ?';
    await sql(
      `insert or ignore into version_guests ("versionId", "guestId")
       select versions.id, guests.id from guests cross join ${versions} and guests."appId" = ?`,
      point.id,
      point.appId,
    );
    await sql(
      `insert or ignore into bindings ("extensionPointId", "guestId", name, "userId", "versionId", "updatedAtMs")
       select ?, guests.id, 'bench', ?, (select id from ${versions} and number = 2), ? from guests where "appId" = ?`,
      point.id,
      large.id,
      point.id,
      Date.now(),
      point.appId,
    );
  });
  await probe(`yank, ${bindings} bindings`, () => one('POST', `${plugin}/versions/2/yank`, { reason: 'bench' }));
  await probe(`delete an extension point, ${bindings} bindings`, () => one('DELETE', `/extension-points/${point.id}`));
  await probe('the minute after', () => new Promise((resolve) => setTimeout(resolve, 65_000)));
  console.log(`load average ${(loadavg()[0] ?? 0).toFixed(1)}`);
});
