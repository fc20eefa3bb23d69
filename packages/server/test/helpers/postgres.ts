import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { until } from '../../../../test/helpers/until.ts';

const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../../../..');

/** Each PostgreSQL that is supported. */
export const majors = [15, 16, 17, 18] as const;

export type Major = (typeof majors)[number];

/** A PostgreSQL server of the test's own, reached by a socket in a folder of its own. */
export interface PostgresServer {
  /** Of a database of it. */
  url(database: string): string;
  /** Its first process, of which the others are children; `undefined` while it is killed. */
  readonly pid: number | undefined;
  /** Makes an empty database, or a copy of the files of one without connections. @returns its URL */
  createDatabase(copyOf?: string): Promise<{ readonly url: string; drop(): Promise<void> }>;
  /** Kills it without warning, as a power failure would but for the disk. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Has it stand still, with all connections open, as a machine does that swaps or loses its disk. @returns what has it go on */
  pause(): Promise<() => void>;
  /** Ends it, and removes what it kept. */
  stop(): void;
}

/** A server that suites share: each makes databases of its own there, and leaves the server alone. */
export type SharedPostgres = Pick<PostgresServer, 'url' | 'createDatabase'>;

/** Where the registry's PostgreSQL for this machine is; `undefined` where it has none. Those before 18 come with `npm run proof`. */
export function postgresFolder(major: Major): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = require.resolve(`postgres-${major}-${platform}-${process.arch}`, {
      paths: [join(root, 'test', major === 18 ? 'postgres' : 'proof')],
    });
    return join(dirname(entry), '..', 'native');
  } catch {
    return undefined;
  }
}

/** The reason to skip tests on a PostgreSQL of a major version; `false` where they run. */
export function whyNoPostgres(major: Major): string | false {
  const isThere = postgresFolder(major) !== undefined && process.platform !== 'win32';
  return isThere ? false : `there is no PostgreSQL ${major} for this machine`;
}

/** The reason to skip tests on PostgreSQL 18; `false` where they run. */
export const noPostgres: string | false = whyNoPostgres(18);

/** The user that a server runs as when the tests run as root, whom PostgreSQL refuses. */
const nobody = 65534;

/** @param options `isDurable`: whether it waits for the disk, which tests have no use for */
export async function startPostgres(major: Major = 18, options: { isDurable?: boolean } = {}): Promise<PostgresServer> {
  const installed = postgresFolder(major);
  if (installed === undefined) throw new Error(`There is no PostgreSQL ${major} for this machine`);
  const folder = mkdtempSync(join(tmpdir(), `tenon-postgres-${major}-`));
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) chownSync(folder, nobody, nobody);
  const native = usable(installed, folder, as);
  const data = join(folder, 'data');
  execFileSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'tenon', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...as, cwd: folder, stdio: 'pipe' },
  );
  const settings = [
    `unix_socket_directories = '${folder}'`,
    "listen_addresses = ''",
    `fsync = ${options.isDurable === true ? 'on' : 'off'}`,
    'max_connections = 200',
    'shared_buffers = 32MB',
  ];
  writeFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  const url = (database: string) => `postgresql://tenon@${encodeURIComponent(folder)}/${database}`;
  let server: ReturnType<typeof spawn> | undefined;
  const start = async (): Promise<void> => {
    rmSync(join(data, 'postmaster.pid'), { force: true });
    server = spawn(join(native, 'bin', 'postgres'), ['-D', data], { ...as, cwd: folder, stdio: 'ignore' });
    server.unref();
    await untilReady(url('postgres'));
  };
  const stop = (): void => {
    server?.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  process.once('exit', stop);
  await start();
  return {
    url,
    createDatabase: databasesOn(url),
    get pid() {
      return server?.pid;
    },
    async kill() {
      if (server === undefined) return;
      const gone = once(server, 'exit');
      server.ref();
      server.kill('SIGQUIT');
      await gone;
      server = undefined;
    },
    start,
    async pause() {
      const client = new pg.Client(url('postgres'));
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
      await client.end();
      const pids = [server?.pid ?? 0, ...rows.map(({ pid }) => pid)].filter((pid) => isThere(pid));
      const signal = (name: NodeJS.Signals) => () => {
        for (const pid of pids) if (isThere(pid)) process.kill(pid, name);
      };
      signal('SIGSTOP')();
      return signal('SIGCONT');
    },
    stop,
  };
}

let shared: Promise<SharedPostgres> | undefined;

/**
 * The PostgreSQL 18 of the test run, or one of this process when the file runs without `npm test`. A suite that kills or pauses
 * its server starts its own.
 */
export function sharedPostgres(): Promise<SharedPostgres> {
  shared ??= process.env.TEST_SERVICES === undefined ? startPostgres() : postgresOfTheRun(process.env.TEST_SERVICES);
  return shared;
}

/** @param services what `scripts/lib/test-services.mjs` answers at */
async function postgresOfTheRun(services: string): Promise<SharedPostgres> {
  const response = await fetch(`${services}/postgres`);
  const text = await response.text();
  if (!response.ok) throw new Error(`PostgreSQL did not start: ${text}`);
  const url = (database: string) => text.replace(/[^/]*$/, database);
  return { url, createDatabase: databasesOn(url) };
}

function databasesOn(url: (database: string) => string): PostgresServer['createDatabase'] {
  const administer = async (sql: string): Promise<void> => {
    const client = new pg.Client(url('postgres'));
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  return async (copyOf = 'template1') => {
    const name = `d${randomUUID().replaceAll('-', '')}`;
    await administer(`create database ${name} template ${copyOf.split('/').at(-1)}`);
    return { url: url(name), drop: () => administer(`drop database if exists ${name} with (force)`) };
  };
}

/** The backend that was asked which backends there are has ended meanwhile. */
function isThere(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The programs' folder, or a copy of it if the user may not read it, with the links that its libraries need. */
function usable(installed: string, folder: string, as: { uid?: number; gid?: number }): string {
  const isReadable = spawnSync(join(installed, 'bin', 'postgres'), ['--version'], { ...as, cwd: folder }).status === 0;
  if (isReadable) return installed;
  const copy = join(folder, basename(installed));
  cpSync(installed, copy, { recursive: true });
  const links = JSON.parse(readFileSync(join(copy, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  return copy;
}

async function untilReady(url: string): Promise<void> {
  await until(async () => {
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  });
}
