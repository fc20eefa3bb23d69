import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Debian has it where only root's PATH leads. */
const program = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((file) => existsSync(file));

/** The reason to skip tests with PgBouncer; `false` where they run. */
export const noPgBouncer: string | false = program === undefined ? 'there is no pgbouncer on the PATH' : false;

export interface PgBouncer {
  /** Of the database, by way of the pooler. */
  readonly url: string;
  /** Ends the process, and removes what it kept. */
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer in front of a database on a socket.
 *
 * @param databaseUrl as `startPostgres()` makes them
 * @param settings lines for the end of its configuration, whose last section is `[pgbouncer]`
 */
export async function startPgBouncer(databaseUrl: string, configuration: string, settings = ''): Promise<PgBouncer> {
  const { hostname, pathname, username } = new URL(databaseUrl.replace(/@[^/]*/, '@socket'));
  const host = decodeURIComponent(/@([^/]*)/.exec(databaseUrl)?.[1] ?? hostname);
  const database = pathname.slice(1);
  const folder = mkdtempSync(join(tmpdir(), 'tenon-pgbouncer-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  const own = [
    `[databases]\n${database} = host=${host} dbname=${database} user=${username}`,
    `[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}`,
    `auth_type = any\nauth_file = ${users}\nunix_socket_dir =\n${settings}\n`,
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `${configuration}\n${own.join('\n')}`);
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []; // it refuses to be root
  const child = spawn(program ?? 'pgbouncer', [...asNobody, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const gone = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `postgresql://${username}@127.0.0.1:${port}/${database}`;
  for (let tries = 0; ; tries++) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      await client.end();
      return { url, stop };
    } catch (error) {
      if (child.exitCode !== null || tries > 600) {
        await stop();
        throw new Error(`PgBouncer did not start: ${said}`, { cause: error });
      }
      await sleep(50);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
