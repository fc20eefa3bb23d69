import process from 'node:process';
import type { Logger } from 'pino';
import { version } from '../../config/version.ts';
import type { Deps } from '../../deps.ts';
import type { Status } from './status.ts';

/** How often a node writes a heartbeat, in milliseconds. */
const heartbeatMs = 15_000;

/** A node without a heartbeat for this long is forgotten, in milliseconds. */
const forgottenAfterMs = 24 * 60 * 60_000;

/** How far the clocks of this node and of the database may differ before it is logged, in milliseconds. */
const maxClockDifferenceMs = 5_000;

/**
 * Keeps this node in the list of nodes that share a database, and compares the clocks of both. The first heartbeat is up to the caller. A
 * failure is logged once, until a heartbeat succeeds.
 */
export function startHeartbeat({ store, clock }: Pick<Deps, 'store' | 'clock'>, status: Status, log: Logger) {
  const { id, node, startedAtMs } = status;
  let isFailing = false;
  let clocksDiffer = false;
  let last: Promise<void> = Promise.resolve();
  const compareClocks = (beganAtMs: number, databaseMs: number | undefined, endedAtMs: number): void => {
    if (databaseMs === undefined) return;
    const aheadMs = Math.max(0, beganAtMs - databaseMs) || Math.min(0, endedAtMs - databaseMs);
    const differ = Math.abs(aheadMs) > maxClockDifferenceMs;
    if (differ && !clocksDiffer) {
      log.warn({ aheadMs }, "this machine's clock and the database's differ: tokens and invitations end by the former");
    }
    clocksDiffer = differ;
    const [seconds, side] = [Math.round(Math.abs(aheadMs) / 1000), aheadMs > 0 ? 'ahead of' : 'behind'];
    const warning = `its clock is ${seconds} seconds ${side} the database's`;
    status.setClockWarning('database', differ ? warning : undefined);
  };
  const write = async (): Promise<void> => {
    try {
      const beganAtMs = clock();
      await store.write(async (tx) => {
        await tx.putNode({ id, node, pid: process.pid, version, startedAtMs });
        await tx.deleteSilentNodes(forgottenAfterMs);
      });
      compareClocks(beganAtMs, (await store.read.nodes()).find((seen) => seen.id === id)?.lastSeenAtMs, clock());
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'heartbeat failed');
      isFailing = true;
    }
  };
  let waiting = 0;
  const beat = (): Promise<void> => {
    waiting++;
    last = last.then(write).finally(() => waiting--);
    return last;
  };
  const timer = setInterval(() => {
    if (waiting === 0) void beat(); // while the database is slow, heartbeats don't pile up
  }, heartbeatMs);
  timer.unref();
  return {
    /** Writes one now. Never rejects. */
    beat,
    /** Stops, and removes the node from the list. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await last;
      await store
        .write((tx) => tx.deleteNode(id))
        .catch((error: unknown) => log.warn({ err: error }, 'heartbeat: could not remove this node from the list'));
    },
  };
}
