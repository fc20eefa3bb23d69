import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type BrokenFront, type Fault, openBrokenFront } from '../../packages/server/test/helpers/broken-front.ts';
import { type PostgresServer, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import type { Disaster } from './disasters.ts';
import type { House } from './house.ts';

/** PostgreSQL, and an object store behind a front that breaks. */
export async function openSeveral(): Promise<House> {
  const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
  const front = await openBrokenFront(objects.port);
  const { url: databaseUrl } = await postgres.createDatabase();
  const { bucket: s3Bucket, credentials } = objects.options('plugins');
  const [s3AccessKeyId, s3SecretAccessKey] = [credentials?.accessKeyId ?? '', credentials?.secretAccessKey ?? ''];
  return {
    nodes: 3,
    config: { databaseUrl, s3Bucket, s3Endpoint: front.url, s3AccessKeyId, s3SecretAccessKey },
    environment: {
      TENON_DATABASE_URL: databaseUrl,
      TENON_DATABASE_CONNECTIONS: '4',
      TENON_S3_BUCKET: s3Bucket,
      TENON_S3_ENDPOINT: front.url,
      TENON_S3_ACCESS_KEY_ID: s3AccessKeyId,
      TENON_S3_SECRET_ACCESS_KEY: s3SecretAccessKey,
    },
    disasters: [...ofDatabase(postgres, databaseUrl), ...ofObjects(front)],
    async close() {
      await front.close();
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
const missing: Fault = async ({ request, response, pass }) => {
  if (request.method !== 'PUT') return refuse(404, 'NoSuchKey')({ request, response, pass });
  const { status, headers, body } = await pass();
  response.writeHead(status, headers).end(body);
};
const hangUp: Fault = ({ response }) => void response.destroy();
const slow: Fault = async ({ response, pass }) => {
  await sleep(300);
  const { status, headers, body } = await pass();
  response.writeHead(status, headers).end(body);
};
const cut: Fault = async ({ request, response, pass }) => {
  const { status, headers, body } = await pass();
  response.writeHead(status, headers);
  if (request.method === 'HEAD') return void response.end();
  response.write(body.subarray(0, body.length / 2));
  setTimeout(() => response.destroy(), 5);
};
const spoil: Fault = async ({ request, response, pass }) => {
  const { status, headers, body } = await pass();
  if (request.method === 'GET' && status === 200) body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
  response.writeHead(status, headers).end(body);
};

function ofObjects(front: BrokenFront): readonly Disaster[] {
  const always = (name: string, fault: Fault): Disaster => ({
    name: `objects: ${name}`,
    to: 'objects',
    async strike(_, ms) {
      front.always(fault);
      await sleep(ms);
      front.always(undefined);
    },
  });
  return [
    always('gone', hangUp),
    always('too much to do', refuse(503, 'SlowDown')),
    always('slow', slow),
    always('answers are cut', cut),
    always('wrong bytes', spoil),
    {
      name: 'objects: not there for a moment',
      to: 'objects',
      async strike({ chance }) {
        front.next(...Array.from({ length: chance.between(1, 3) }, () => missing));
      },
    },
  ];
}

const listeners = "select pid from pg_stat_activity where application_name = 'tenon revisions'";
const killConnections =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user';

function ofDatabase(postgres: PostgresServer, url: string): readonly Disaster[] {
  /** Runs SQL beside the nodes; it fails when another disaster is faster. */
  const inDatabase = async (work: (client: pg.Client) => Promise<unknown>): Promise<void> => {
    const client = new pg.Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  };
  return [
    {
      name: 'database: killed',
      to: 'database',
      async strike(_, ms) {
        await postgres.kill();
        await sleep(ms);
        await postgres.start();
      },
    },
    {
      name: 'database: all connections cut',
      to: 'database',
      strike: () => inDatabase((client) => client.query(killConnections)),
    },
    {
      name: 'database: a table is locked',
      to: 'database',
      strike: ({ chance }, ms) =>
        inDatabase(async (client) => {
          await client.query(`begin; lock table ${chance.pick(['tokens', 'bindings', 'blobs', 'app_members'])}`);
          await sleep(ms);
          await client.query('rollback');
        }),
    },
    {
      name: 'database: what tells of commits stands still',
      to: 'database',
      strike: (_, ms) =>
        inDatabase(async (client) => {
          const { rows } = await client.query<{ pid: number }>(listeners);
          for (const { pid } of rows) send(pid, 'SIGSTOP');
          await sleep(1500 + ms); // longer than anything may be told that is no longer so
          for (const { pid } of rows) send(pid, 'SIGCONT');
        }),
    },
  ];
}

/** To a process that may have ended: what stood still is given up by its node after a while. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
