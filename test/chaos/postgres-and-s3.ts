import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import {
  closeConnection,
  corrupt,
  type Fault,
  type FaultProxy,
  forward,
  openFaultProxy,
  truncate,
} from '../helpers/fault-proxy.ts';
import type { Disruption } from './disruptions.ts';
import type { Environment } from './environment.ts';
import type { StoreFault } from './seeded-faults.ts';

/** Nodes on PostgreSQL and an object store, which they reach through a fault-injecting proxy. */
export async function openPostgresAndS3(storeFault?: StoreFault): Promise<Environment> {
  const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
  const proxy = await openFaultProxy(objects.port);
  if (storeFault === 'lost object') proxy.inject(loseSomeObjects());
  const { url: databaseUrl } = await postgres.createDatabase();
  if (storeFault === 'not durable') await acknowledgeBeforeDurable(databaseUrl);
  const { bucket: s3Bucket, credentials } = objects.options('plugins');
  const [s3AccessKeyId, s3SecretAccessKey] = [credentials?.accessKeyId ?? '', credentials?.secretAccessKey ?? ''];
  return {
    nodeCount: 3,
    config: { databaseUrl, s3Bucket, s3Endpoint: proxy.url, s3AccessKeyId, s3SecretAccessKey },
    settings: {
      TENON_DATABASE_URL: databaseUrl,
      TENON_DATABASE_CONNECTIONS: '4',
      TENON_S3_BUCKET: s3Bucket,
      TENON_S3_ENDPOINT: proxy.url,
      TENON_S3_ACCESS_KEY_ID: s3AccessKeyId,
      TENON_S3_SECRET_ACCESS_KEY: s3SecretAccessKey,
    },
    disruptions: [
      ...databaseDisruptions(postgres, databaseUrl),
      ...(storeFault === 'lost object' ? [] : objectStoreDisruptions(proxy)),
    ],
    async close() {
      await proxy.close();
      postgres.stop();
      await objects.stop();
    },
  };
}

const refuse =
  (status: number, code: string): Fault =>
  ({ request, response }) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(request.method === 'HEAD' ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
  };
const missing: Fault = (exchange) =>
  exchange.request.method === 'PUT' ? forward(exchange) : refuse(404, 'NoSuchKey')(exchange);
const slow: Fault = async (exchange) => {
  await sleep(300);
  await forward(exchange);
};

/** Acknowledges every tenth upload without storing the object. */
function loseSomeObjects(): Fault {
  let uploads = 0;
  return (exchange) => {
    const { request, response } = exchange;
    if (request.method !== 'PUT' || ++uploads % 10 !== 0) return forward(exchange);
    request.resume();
    request.on('end', () => response.writeHead(200, { etag: '"seeded-fault"' }).end());
  };
}

/** PostgreSQL loses the commits of up to ten seconds when it is killed. */
async function acknowledgeBeforeDurable(url: string): Promise<void> {
  await query(url, 'alter system set synchronous_commit = off');
  await query(url, "alter system set wal_writer_delay = '10s'");
  await query(url, 'select pg_reload_conf()');
}

function objectStoreDisruptions(proxy: FaultProxy): readonly Disruption[] {
  const forAWhile = (name: string, fault: Fault): Disruption => ({
    name: `objects: ${name}`,
    target: 'objects',
    async run(_, ms) {
      proxy.inject(fault);
      await sleep(ms);
      proxy.inject(undefined);
    },
  });
  return [
    forAWhile('connections closed', closeConnection),
    forAWhile('overloaded', refuse(503, 'SlowDown')),
    forAWhile('slow', slow),
    forAWhile('responses truncated', truncate),
    forAWhile('wrong bytes', corrupt),
    {
      name: 'objects: missing for a moment',
      target: 'objects',
      async run({ random }) {
        proxy.injectNext(...Array.from({ length: random.between(1, 3) }, () => missing));
      },
    },
  ];
}

const selectListeners = "select pid from pg_stat_activity where application_name = 'tenon revisions'";
const terminateConnections =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user';

function databaseDisruptions(postgres: PostgresServer, url: string): readonly Disruption[] {
  return [
    {
      name: 'database: killed',
      target: 'database',
      async run(_, ms) {
        await postgres.kill();
        await sleep(ms);
        await postgres.start();
      },
    },
    {
      name: 'database: connections terminated',
      target: 'database',
      run: () => query(url, terminateConnections),
    },
    {
      name: 'database: table locked',
      target: 'database',
      run: ({ random }, ms) =>
        withClient(url, async (client) => {
          await client.query(`begin; lock table ${random.pick(['tokens', 'bindings', 'blobs', 'members'])}`);
          await sleep(ms);
          await client.query('rollback');
        }),
    },
    {
      name: 'database: notifications paused',
      target: 'database',
      run: (_, ms) =>
        withClient(url, async (client) => {
          const { rows } = await client.query<{ pid: number }>(selectListeners);
          for (const { pid } of rows) sendSignal(pid, 'SIGSTOP');
          await sleep(1500 + ms); // longer than a response may be stale
          for (const { pid } of rows) sendSignal(pid, 'SIGCONT');
        }),
    },
  ];
}

const query = (url: string, sql: string): Promise<void> => withClient(url, (client) => client.query(sql));

/** Fails if another disruption terminates the connection. */
async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The node may have given up a paused connection, so its PostgreSQL process may be gone. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
