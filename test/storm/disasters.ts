import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BrokenFront, Fault } from '../../packages/server/test/helpers/broken-front.ts';
import type { PostgresServer } from '../../packages/server/test/helpers/postgres.ts';
import type { Node } from './nodes.ts';
import type { Notes } from './notes.ts';
import type { Chance } from './random.ts';

export interface Scene {
  readonly nodes: readonly Node[];
  readonly postgres: PostgresServer;
  readonly databaseUrl: string;
  /** In front of the object store. */
  readonly front: BrokenFront;
  readonly notes: Notes;
  readonly chance: Chance;
}

/** Something that happens to a part of the whole, and is over when it resolves. */
interface Disaster {
  readonly name: string;
  /** What it happens to: one at a time. */
  readonly to: 'database' | 'objects' | 'nodes';
  strike(scene: Scene, ms: number): Promise<void>;
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

function objects(name: string, fault: Fault): Disaster {
  return {
    name: `objects: ${name}`,
    to: 'objects',
    async strike({ front }, ms) {
      front.always(fault);
      await sleep(ms);
      front.always(undefined);
    },
  };
}

/** Runs SQL beside the nodes; what fails because another disaster is faster is no matter. */
async function inDatabase({ databaseUrl }: Scene, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(databaseUrl);
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

const listeners = "select pid from pg_stat_activity where application_name = 'tenon revisions'";
const killConnections =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user';

function killNode(signal: 'SIGKILL' | 'SIGTERM'): Disaster {
  return {
    name: `node: ${signal}`,
    to: 'nodes',
    async strike({ nodes, chance }, ms) {
      // One stays, and one that goes already would take a second signal for more haste.
      const up = await untilSpare(nodes);
      chance.pick(up).kill(signal);
      await sleep(ms);
    },
  };
}

async function untilSpare(nodes: readonly Node[]): Promise<readonly Node[]> {
  for (let tries = 0; tries < 200; tries++) {
    const up = nodes.filter(({ port }) => port !== undefined);
    if (up.length > 1) return up;
    await sleep(50);
  }
  throw new Error('There is no node to spare');
}

/** All that happens. */
export const disasters: readonly Disaster[] = [
  killNode('SIGKILL'),
  killNode('SIGTERM'),
  {
    name: 'node: stands still',
    to: 'nodes',
    strike: ({ nodes, chance }, ms) => chance.pick(nodes).pause(ms),
  },
  {
    name: 'database: killed',
    to: 'database',
    async strike({ postgres }, ms) {
      await postgres.kill();
      await sleep(ms);
      await postgres.start();
    },
  },
  {
    name: 'database: all connections cut',
    to: 'database',
    strike: (scene) => inDatabase(scene, (client) => client.query(killConnections)),
  },
  {
    name: 'database: a table is locked',
    to: 'database',
    strike: (scene, ms) =>
      inDatabase(scene, async (client) => {
        await client.query(`begin; lock table ${scene.chance.pick(['tokens', 'bindings', 'blobs', 'app_members'])}`);
        await sleep(ms);
        await client.query('rollback');
      }),
  },
  {
    name: 'database: what tells of commits stands still',
    to: 'database',
    strike: (scene, ms) =>
      inDatabase(scene, async (client) => {
        const { rows } = await client.query<{ pid: number }>(listeners);
        for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
        await sleep(1000 + ms);
        for (const { pid } of rows) process.kill(pid, 'SIGCONT');
      }),
  },
  objects('gone', hangUp),
  objects('too much to do', refuse(503, 'SlowDown')),
  objects('slow', slow),
  objects('answers are cut', cut),
  objects('wrong bytes', spoil),
  {
    name: 'objects: not there for a moment',
    to: 'objects',
    async strike({ front, chance }) {
      front.next(...Array.from({ length: chance.between(1, 3) }, () => missing));
    },
  },
];

/** How long it is calm before all kinds strike once more. */
const lullMs = 2500;

/** Has disaster after disaster strike, some at once, all kinds before any comes again, until it is over. */
export async function rage(scene: Scene, isOver: () => boolean): Promise<void> {
  const { chance, notes } = scene;
  const striking = new Map<string, Promise<void>>();
  let deck: Disaster[] = [];
  while (!isOver()) {
    if (deck.length === 0) {
      await Promise.all(striking.values());
      await sleep(lullMs); // what nodes keep is at its oldest when nothing has made them look anew
      deck = chance.shuffled(disasters);
    }
    const at = deck.findIndex(({ to }) => !striking.has(to));
    if (at !== -1) {
      const [{ name, to, strike }] = deck.splice(at, 1) as [Disaster];
      const struck = strike(scene, chance.between(100, 1500))
        .then(() => notes.count(name))
        .catch(() => notes.count(`${name}, which came to nothing`))
        .finally(() => striking.delete(to));
      striking.set(to, struck);
    }
    await sleep(chance.between(100, 500));
  }
  await Promise.all(striking.values());
}
