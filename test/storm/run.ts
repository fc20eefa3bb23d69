import { setTimeout as sleep } from 'node:timers/promises';
import { type BrokenFront, openBrokenFront } from '../../packages/server/test/helpers/broken-front.ts';
import { type PostgresServer, startPostgres } from '../../packages/server/test/helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from '../../packages/server/test/helpers/s3.ts';
import { createBalancer } from './balancer.ts';
import { rage } from './disasters.ts';
import { beHost } from './hosts.ts';
import { type Node, superviseNode } from './nodes.ts';
import { createNotes, type Notes } from './notes.ts';
import { type Chance, createChance } from './random.ts';
import { reckon, untilReady } from './reckoning.ts';
import { setStage } from './stage.ts';
import { createWorld, type Host, type World } from './world.ts';
import { beDoorkeeper, beKeeper, bePublisher } from './writers.ts';

export interface StormOptions {
  /** What decides on disasters and on who does what; when it happens is decided by the machine too. */
  readonly seed: number;
  /** How long it lasts, without what is before and after it. */
  readonly seconds: number;
}

const [nodeCount, publisherCount, hostCount] = [3, 3, 3];

/**
 * For how long after a change was acknowledged a node may tell what was before it. A node that can't know of it asks the database,
 * however slow the machine is, so nothing is to be added for that.
 */
const staleMs = 1000;

/**
 * Has nodes, PostgreSQL and the object store fail at random while hosts ask, publishers publish, tokens are revoked and members
 * removed, and holds every answer, and what is there at the end, against what was acknowledged.
 */
export async function runStorm({ seed, seconds }: StormOptions): Promise<Notes> {
  const beganAt = performance.now();
  const now = (): number => performance.now() - beganAt;
  const notes = createNotes(now);
  const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
  const front = await openBrokenFront(objects.port);
  try {
    await storm({ postgres, objects, front, notes, now, chance: createChance(seed), seconds });
  } catch (error) {
    notes.wrong(String(error));
  } finally {
    await front.close();
    postgres.stop();
    await objects.stop();
  }
  return notes;
}

interface Scenery extends Pick<StormOptions, 'seconds'> {
  readonly postgres: PostgresServer;
  readonly objects: ObjectStore;
  readonly front: BrokenFront;
  readonly notes: Notes;
  readonly chance: Chance;
  now(): number;
}

async function storm({ postgres, objects, front, notes, now, chance, seconds }: Scenery): Promise<void> {
  const { url: databaseUrl } = await postgres.createDatabase();
  const { bucket: s3Bucket, credentials } = objects.options('plugins');
  const [s3AccessKeyId, s3SecretAccessKey] = [credentials?.accessKeyId ?? '', credentials?.secretAccessKey ?? ''];
  const where = { databaseUrl, s3Bucket, s3Endpoint: front.url, s3AccessKeyId, s3SecretAccessKey };
  const stage = await setStage(where, publisherCount);
  const environment = {
    TENON_DATABASE_URL: databaseUrl,
    TENON_S3_BUCKET: s3Bucket,
    TENON_S3_ENDPOINT: front.url,
    TENON_S3_ACCESS_KEY_ID: s3AccessKeyId,
    TENON_S3_SECRET_ACCESS_KEY: s3SecretAccessKey,
    TENON_DATABASE_CONNECTIONS: '4',
    TENON_CONTENT_CACHE_BYTES: '65536', // so that the larger ones come from the object store each time
    TENON_COLLECT_GRACE_SECONDS: '1',
    TENON_WORKERS: '1',
    TENON_PASSWORD_WORKERS: '1',
  };
  // What failed publishes leave goes while others publish the same; one sees to it, since it changes something each time.
  const collecting = { ...environment, TENON_COLLECT_INTERVAL_SECONDS: '1' };
  const nodes = Array.from({ length: nodeCount }, (_, at) =>
    superviseNode(at, at === 0 ? collecting : environment, notes, now),
  );
  const balancer = createBalancer(nodes, chance.fork(), notes, now);
  let isOver = false;
  const world = createWorld(
    { stage, nodes, balancer, notes, chance: chance.fork(), isOver: () => isOver },
    now,
    staleMs,
  );
  try {
    await untilListening(nodes);
    const acting = act(world);
    const scene = { nodes, postgres, databaseUrl, front, notes, chance: chance.fork() };
    const endsAt = now() + seconds * 1000;
    await Promise.race([rage(scene, () => now() > endsAt), acting]);
    isOver = true;
    const visitor = await acting;
    await untilReady(world);
    await sleep(staleMs);
    await reckon(world, visitor, environment);
  } finally {
    isOver = true;
    balancer.close();
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

async function untilListening(nodes: readonly Node[]): Promise<void> {
  for (let tries = 0; nodes.some(({ port }) => port === undefined); tries++) {
    if (tries > 600) throw new Error('The nodes did not start');
    await sleep(100);
  }
}

/** Has everybody act until it is over. @returns who was let in and out */
async function act(world: World): Promise<Host> {
  const { stage, register } = world;
  const steady = (): Host => ({ token: stage.viewer.token, isRevoked: register(false), isMember: register(true) });
  const [visitor] = await Promise.all([
    beDoorkeeper(world),
    beKeeper(world),
    ...stage.publishers.map((publisher) => bePublisher(world, publisher)),
    ...Array.from({ length: hostCount }, () => beHost(world, steady())),
  ]);
  return visitor;
}
