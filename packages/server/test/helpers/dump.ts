import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { StoreSettings } from '../../src/open-stores.ts';

/** Tables that are a store's own: they say how it came to be, and who is at work on it. */
const own = new Set([
  'schema_versions',
  'leases',
  'nodes',
  'maintenance_runs',
  'commits',
  'blob_deletions',
  'usage_writers',
]);

const references = `
  select "contentAddress" from versions
  union select "testModule" from simulations union select "mockHost" from simulations
`;

type DumpedStore = Partial<Pick<StoreSettings, 'databaseUrl'>> & Pick<StoreSettings, 'dataDir'>;

/**
 * Every row of every table that there is, as texts in an order of their own. Of bytes only those that versions and simulations name, and what is the
 * same wherever they are kept.
 */
export async function dump({ databaseUrl, dataDir }: DumpedStore): Promise<Map<string, string[]>> {
  const ask = databaseUrl === undefined ? askFile(join(dataDir, 'tenon.db')) : await askPostgres(databaseUrl);
  const tables = new Map<string, string[]>();
  for (const name of (await ask.tables()).filter((table) => !own.has(table)).sort()) {
    const columns = name === 'blobs' ? 'address, size' : '*';
    const where = name === 'blobs' ? `where address in (${references})` : '';
    const rows = await ask.rows(`select ${columns} from ${name} ${where}`);
    tables.set(name, rows.map((row) => JSON.stringify(Object.entries(row as object).sort())).sort());
  }
  await ask.end();
  return tables;
}

interface Ask {
  tables(): Promise<string[]>;
  rows(sql: string): Promise<unknown[]>;
  end(): Promise<void>;
}

function askFile(file: string): Ask {
  const database = new DatabaseSync(file, { readOnly: true });
  const names = "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'";
  return {
    tables: async () =>
      database
        .prepare(names)
        .all()
        .map(({ name }) => String(name)),
    rows: async (sql) => {
      const statement = database.prepare(sql);
      const types = new Map(statement.columns().map(({ name, type }) => [name, type]));
      const decode = (name: string, value: unknown): unknown => {
        if (value === null) return null;
        return types.get(name) === 'json'
          ? JSON.parse(String(value))
          : types.get(name) === 'boolean'
            ? value !== 0
            : value;
      };
      return statement
        .all()
        .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decode(name, value)])));
    },
    end: async () => database.close(),
  };
}

async function askPostgres(url: string): Promise<Ask> {
  const client = new pg.Client(url);
  await client.connect();
  const rows = async (sql: string): Promise<Record<string, unknown>[]> => {
    const { rows, fields } = await client.query(sql);
    const big = fields.filter(({ dataTypeID }) => dataTypeID === 20).map(({ name }) => name);
    return rows.map((row) => ({
      ...row,
      ...Object.fromEntries(big.map((name) => [name, row[name] === null ? null : Number(row[name])])),
    }));
  };
  return {
    tables: async () =>
      (await rows("select tablename from pg_tables where schemaname = 'public'")).map(({ tablename }) =>
        String(tablename),
      ),
    rows,
    end: () => client.end(),
  };
}
