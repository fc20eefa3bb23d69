import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from './nodes.ts';
import type { Notes } from './notes.ts';
import type { Chance } from './random.ts';

export interface Scene {
  readonly nodes: readonly Node[];
  readonly notes: Notes;
  readonly chance: Chance;
}

/** Something that happens to a part of the whole, and is over when it resolves. */
export interface Disaster {
  readonly name: string;
  /** What it happens to: one at a time. */
  readonly to: 'database' | 'objects' | 'nodes';
  strike(scene: Scene, ms: number): Promise<void>;
}

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
  for (let waits = 0; waits < 600; waits++) {
    const up = nodes.filter(({ port }) => port !== undefined);
    if (up.length > 1) return up;
    await sleep(50);
  }
  throw new Error('There is no node to spare');
}

/** What happens to nodes. */
export const nodeDisasters: readonly Disaster[] = [
  killNode('SIGKILL'),
  killNode('SIGTERM'),
  {
    name: 'node: stands still',
    to: 'nodes',
    strike: async ({ nodes, chance }, ms) => chance.pick(await untilSpare(nodes)).pause(ms),
  },
];

/** What happens to nodes that have several processes. */
export const killOneWorker: Disaster = {
  name: 'node: one of its processes is killed',
  to: 'nodes',
  strike: async ({ nodes, chance }) => chance.pick(await untilSpare(nodes)).killWorker(chance),
};

/** How long it is calm before all kinds strike once more. */
const lullMs = 2500;

/** How often a disaster is tried that comes to nothing, because another one is faster. */
const tries = 4;

/**
 * Has disaster after disaster strike, some at once, all kinds before any comes again, until it is over.
 *
 * @param isOver is told how many rounds of all kinds are done
 */
export async function rage(
  scene: Scene,
  disasters: readonly Disaster[],
  isOver: (rounds: number) => boolean,
): Promise<void> {
  const { chance, notes } = scene;
  const striking = new Map<string, Promise<void>>();
  let deck: { readonly disaster: Disaster; readonly triesLeft: number }[] = [];
  for (let rounds = -1; !isOver(Math.max(rounds, 0)); ) {
    if (deck.length === 0) await Promise.all(striking.values());
    if (deck.length === 0) {
      if (isOver(++rounds)) break;
      await sleep(lullMs); // what nodes keep is at its oldest when nothing has made them look anew
      deck = chance.shuffled(disasters).map((disaster) => ({ disaster, triesLeft: tries }));
    }
    const at = deck.findIndex(({ disaster }) => !striking.has(disaster.to));
    if (at !== -1) {
      const [{ disaster, triesLeft }] = deck.splice(at, 1) as [(typeof deck)[0]];
      const { name, to } = disaster;
      const struck = disaster
        .strike(scene, chance.between(100, 1500))
        .then(() => notes.count(name))
        .catch(() => {
          notes.count(`${name}, which came to nothing`);
          if (triesLeft > 1) deck.push({ disaster, triesLeft: triesLeft - 1 });
        })
        .finally(() => striking.delete(to));
      striking.set(to, struck);
    }
    await sleep(chance.between(100, 500));
  }
  await Promise.all(striking.values());
}
