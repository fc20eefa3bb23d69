import { setTimeout as sleep } from 'node:timers/promises';
import { createBalancer } from './balancer.ts';
import { nodeDisasters, rage } from './disasters.ts';
import { openEmbedded, openWorkers } from './embedded.ts';
import { beHost } from './hosts.ts';
import type { House } from './house.ts';
import { type Node, superviseNode } from './nodes.ts';
import { createNotes, type Notes } from './notes.ts';
import { createChance } from './random.ts';
import { reckon, untilReady } from './reckoning.ts';
import { openSeveral } from './several.ts';
import { setStage } from './stage.ts';
import { createWorld, type Host, type World } from './world.ts';
import { beDoorkeeper, beKeeper, bePublisher } from './writers.ts';

/** Where nodes keep their data: PostgreSQL and an object store; a folder that they share; that, with several processes each. */
export const houses = { several: openSeveral, embedded: openEmbedded, workers: openWorkers } as const;

export interface StormOptions {
  readonly house: keyof typeof houses;
  /** What decides on disasters and on who does what; when it happens is decided by the machine too. */
  readonly seed: number;
  /** How long it lasts, without what is before and after it, and how often all kinds of disasters strike: whichever is reached first. */
  readonly seconds?: number;
  readonly rounds?: number;
  /** A text that the names of disasters have that may strike; all may by default. */
  readonly only?: string | undefined;
  /** A fault of {@link plants} that nodes are to have. The storm is over when one is found. */
  readonly plant?: string | undefined;
}

const [publisherCount, hostCount] = [3, 3];

/**
 * For how long after a change was acknowledged a node may tell what was before it. A node that can't know of it asks the database,
 * however slow the machine is, so nothing is to be added for that.
 */
const staleMs = 1000;

/**
 * Has nodes and their stores fail at random while hosts ask, publishers publish, tokens are revoked and members removed, and holds
 * every answer, and what is there at the end, against what was acknowledged.
 */
export async function runStorm(options: StormOptions): Promise<Notes> {
  const beganAt = performance.now();
  const now = (): number => performance.now() - beganAt;
  const notes = createNotes(now);
  const house = await houses[options.house]();
  try {
    await storm(options, house, notes, now);
  } catch (error) {
    notes.wrong(String(error));
  } finally {
    await house.close();
  }
  return notes;
}

async function storm(options: StormOptions, house: House, notes: Notes, now: () => number): Promise<void> {
  const { seed, seconds = Number.POSITIVE_INFINITY, rounds = Number.POSITIVE_INFINITY, only = '', plant } = options;
  const chance = createChance(seed);
  const stage = await setStage(house.config, publisherCount);
  const environment = {
    ...house.environment,
    TENON_MEMORY_MB: '4', // so that large modules come from the store each time
    TENON_LIMITS: 'module-bytes=1MiB,config-bytes=256KiB',
    TENON_TIMES: 'gc-grace=1s',
    TENON_MODULE_WORKERS: '1',
    ...(plant !== undefined && { STORM_PLANT: plant }),
  };
  // What failed publishes leave goes while others publish the same; one sees to it, since it changes something each time.
  const collecting = { ...environment, TENON_TIMES: 'gc-grace=1s,gc-interval=1s' };
  const nodes = Array.from({ length: house.nodes }, (_, at) =>
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
    const endsAt = now() + seconds * 1000;
    const isFound = (): boolean => plant !== undefined && notes.faults.length > 0;
    const disasters = [...nodeDisasters, ...house.disasters].filter(({ name }) => name.includes(only));
    const raging = rage({ nodes, notes, chance: chance.fork() }, disasters, (done) => {
      return done >= rounds || now() > endsAt || isFound();
    });
    await Promise.race([raging, acting]);
    isOver = true;
    const visitor = await acting;
    if (isFound()) return;
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
    if (tries > 2400) throw new Error('The nodes did not start');
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
