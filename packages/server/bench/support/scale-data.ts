import { DatabaseSync } from 'node:sqlite';
import { newId } from '@tenon/protocol';
import pg from 'pg';

/*
 * Many guest keys, each with plugins bound to it, put into the database by a few statements that SQLite and PostgreSQL both read. It
 * would take days to invite and publish all that; what is read of it is the same.
 */

/** How many plugins are bound to each guest key. */
export const pluginsPerKey = 10;

/** How many publishers there are; each one's plugins are bound to every so many-th key. */
const publishers = 1000;

/** How many rows one statement inserts, so that what it takes stays small. */
const batch = 10_000;

/** Where the rows go. */
export interface Target {
  run(sql: string, parameters: readonly (string | number)[]): Promise<void>;
  /** Has the database look at what there is now, as it does by itself in time. */
  analyze(): Promise<void>;
  close(): Promise<void>;
}

export function openSqliteTarget(file: string): Target {
  const database = new DatabaseSync(file);
  // Nothing that is measured: it may be lost when the machine fails meanwhile.
  database.exec('pragma synchronous = off; pragma cache_size = -1000000; pragma foreign_keys = off');
  return {
    async run(sql, parameters) {
      database.prepare(sql).run(...parameters);
    },
    analyze: async () => database.exec('pragma optimize = 0x10002'),
    async close() {
      database.exec('pragma wal_checkpoint(truncate)');
      database.close();
    },
  };
}

export async function openPostgresTarget(url: string): Promise<Target> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set synchronous_commit = off');
  return {
    async run(sql, parameters) {
      let number = 0;
      await client.query(
        sql.replaceAll('?', () => `$${++number}`),
        [...parameters],
      );
    },
    analyze: async () => void (await client.query('analyze')),
    close: () => client.end(),
  };
}

/** What the keys are called: a number after this. */
export const keyPrefix = 'customer-';

export interface Place {
  readonly appId: string;
  readonly extensionPointId: string;
}

/** Makes publishers with their plugins, once. @returns their ids */
export async function addPublishers(target: Target, { appId, extensionPointId }: Place): Promise<string[]> {
  const users = Array.from({ length: publishers }, () => newId('user'));
  const nowMs = Date.now();
  for (const user of users) {
    await target.run(
      'insert into users (id, name, "createdAtMs", "publishChargedUntilMs", "mailsChargedUntilMs") values (?, ?, ?, 0, 0)',
      [user, 'publisher', nowMs],
    );
    for (let at = 0; at < pluginsPerKey; at++) {
      const name = `plugin-${at}`;
      const address = Buffer.from(`${user}${at}`).toString('base64url').slice(0, 43).padEnd(43, 'A');
      await target.run(
        `insert into plugins ("extensionPointId", "userId", name, "sortKey", "appId", "lastNumber", bytes, "publishChargedUntilMs", "createdAtMs")
         values (?, ?, ?, ?, ?, 1, 1000, 0, ?)`,
        [extensionPointId, user, name, name, appId, nowMs],
      );
      await target.run(
        `insert into versions (id, "extensionPointId", "userId", name, number, "appId", "contentAddress", size, "createdAtMs", state, "stateAtMs")
         values (?, ?, ?, ?, 1, ?, ?, 1000, ?, 'published', ?)`,
        [newId('version'), extensionPointId, user, name, appId, address, nowMs, nowMs],
      );
    }
  }
  return users;
}

/** Adds guests, each with a publisher's plugins bound, until there are so many. */
export async function addKeys(
  target: Target,
  { appId, extensionPointId }: Place,
  users: readonly string[],
  from: number,
  to: number,
): Promise<void> {
  const nowMs = Date.now();
  for (let first = from; first < to; first += batch) {
    const guests: string[] = [];
    const claims: string[] = [];
    for (let number = first; number < Math.min(first + batch, to); number++) {
      const [id, user] = [newId('guest'), users[number % users.length]];
      const key = keyPrefix + number;
      guests.push(`('${id}', '${appId}', '${key}', '${key}', ${nowMs})`);
      claims.push(`('${id}', '${user}')`);
    }
    await target.run(
      `insert into guests (id, "appId", "guestKey", "sortKey", "createdAtMs") values ${guests.join(',')}`,
      [],
    );
    await target.run(
      `with claims("guestId", "userId") as (values ${claims.join(',')})
       insert into bindings ("extensionPointId", "guestId", name, "userId", "versionId", "updatedAtMs")
       select versions."extensionPointId", claims."guestId", versions.name, versions."userId", versions.id, ${nowMs}
       from claims join versions on versions."userId" = claims."userId" and versions."extensionPointId" = ?`,
      [extensionPointId],
    );
  }
}
