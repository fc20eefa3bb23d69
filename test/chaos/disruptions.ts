import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../helpers/random.ts';
import { until } from '../helpers/until.ts';
import type { Node } from './nodes.ts';
import type { Report } from './report.ts';

export interface DisruptionContext {
  readonly nodes: readonly Node[];
  readonly report: Report;
  readonly random: Random;
}

/** A fault injected into a node or a store. It ends when `run()` resolves. */
export interface Disruption {
  readonly name: string;
  /** At most one disruption per target runs at a time. */
  readonly target: 'database' | 'objects' | 'nodes';
  run(context: DisruptionContext, ms: number): Promise<void>;
}

function killNode(signal: 'SIGKILL' | 'SIGTERM'): Disruption {
  return {
    name: `node: ${signal}`,
    target: 'nodes',
    async run({ nodes, random }, ms) {
      random.pick(await untilSpareNode(nodes)).kill(signal);
      await sleep(ms);
    },
  };
}

/** At least one node stays up. */
function untilSpareNode(nodes: readonly Node[]): Promise<readonly Node[]> {
  return until(() => {
    const up = nodes.filter(({ port }) => port !== undefined);
    return up.length > 1 && up;
  });
}

export const nodeDisruptions: readonly Disruption[] = [
  killNode('SIGKILL'),
  killNode('SIGTERM'),
  {
    name: 'node: paused',
    target: 'nodes',
    run: async ({ nodes, random }, ms) => random.pick(await untilSpareNode(nodes)).pause(ms),
  },
];

/** For nodes with several worker processes. */
export const killWorker: Disruption = {
  name: 'node: worker process killed',
  target: 'nodes',
  run: async ({ nodes, random }) => random.pick(await untilSpareNode(nodes)).killWorker(random),
};

/** The pause between rounds. Cached values reach their maximum age in it, since no disruption makes nodes reload. */
const quietMs = 2500;

const maxAttempts = 4;

/**
 * Runs all disruptions once per round in random order, some at the same time, with a quiet period between rounds.
 *
 * @param isOver receives the number of completed rounds
 */
export async function runDisruptions(
  context: DisruptionContext,
  disruptions: readonly Disruption[],
  isOver: (rounds: number) => boolean,
): Promise<void> {
  const { random, report } = context;
  const running = new Map<string, Promise<void>>();
  let pending: { readonly disruption: Disruption; readonly attemptsLeft: number }[] = [];
  for (let rounds = -1; !isOver(Math.max(rounds, 0)); ) {
    if (pending.length === 0) await Promise.all(running.values());
    if (pending.length === 0) {
      if (isOver(++rounds)) break;
      await sleep(quietMs);
      pending = random.shuffle(disruptions).map((disruption) => ({ disruption, attemptsLeft: maxAttempts }));
    }
    const at = pending.findIndex(({ disruption }) => !running.has(disruption.target));
    if (at !== -1) {
      const [{ disruption, attemptsLeft }] = pending.splice(at, 1) as [(typeof pending)[0]];
      const { name, target } = disruption;
      const run = disruption
        .run(context, random.between(100, 1500))
        .then(() => report.count(name))
        .catch(() => {
          // Another disruption interfered, for example by killing the database.
          report.count(`${name} (failed)`);
          if (attemptsLeft > 1) pending.push({ disruption, attemptsLeft: attemptsLeft - 1 });
        })
        .finally(() => running.delete(target));
      running.set(target, run);
    }
    await sleep(random.between(100, 500));
  }
  await Promise.all(running.values());
}
