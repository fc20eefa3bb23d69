import type { Logger } from 'pino';
import type { Context } from '../domain/context.ts';
import type { OwnProcessWatch } from './own-process.ts';

/** How often it is noted what came of late, in milliseconds. */
const tickMs = 5_000;

/** How often this process tells the others of itself: with every so many ticks. */
const ticksPerBeat = 3;

/** By how much the clocks of this process and of the database may differ before it is logged, in milliseconds. */
const clocksDifferMs = 5_000;

/** Tells the other processes of this one now and then, by the store that they share. */
export interface Beats {
  /** Tells them now. Never rejects. */
  beat(): Promise<void>;
  /** Ends it, and takes back what was told. */
  stop(): Promise<void>;
}

/** Begins to note what comes; the first beat is the caller's to ask for. What can't be written is logged once, until something can. */
export function startBeats(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  own: OwnProcessWatch,
  log: Logger,
): Beats {
  let isFailing = false;
  let clocksDiffer = false;
  let last: Promise<void> = Promise.resolve();
  const compareClocks = (beganAtMs: number, databaseMs: number | undefined, endedAtMs: number): void => {
    if (databaseMs === undefined) return;
    const aheadMs = Math.max(0, beganAtMs - databaseMs) || Math.min(0, endedAtMs - databaseMs);
    const differ = Math.abs(aheadMs) > clocksDifferMs;
    if (differ && !clocksDiffer) {
      log.warn({ aheadMs }, "this machine's clock and the database's differ: tokens and invitations end by the former");
    }
    clocksDiffer = differ;
    const [seconds, side] = [Math.round(Math.abs(aheadMs) / 1000), aheadMs > 0 ? 'ahead of' : 'behind'];
    own.noteClock('database', differ ? `its clock is ${seconds} seconds ${side} the database's` : undefined);
  };
  const write = async (): Promise<void> => {
    try {
      const { id, node, pid, version, startedAtMs } = own;
      const reportJson = JSON.stringify(await own.report());
      const beganAtMs = clock();
      await store.write((tx) => tx.putProcess({ id, node, pid, version, startedAtMs, reportJson }));
      compareClocks(beganAtMs, (await store.read.processes()).find((seen) => seen.id === id)?.lastSeenAtMs, clock());
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'how this process is could not be told to the others');
      isFailing = true;
    }
  };
  const beat = (): Promise<void> => {
    last = last.then(write);
    return last;
  };
  own.tick();
  let ticks = 0;
  let waiting = 0;
  const timer = setInterval(() => {
    own.tick();
    if (++ticks % ticksPerBeat !== 0 || waiting > 0) return; // while the database is slow, nothing piles up
    waiting++;
    void beat().finally(() => waiting--);
  }, tickMs);
  timer.unref();
  return {
    beat,
    async stop() {
      clearInterval(timer);
      await last;
      own.close();
      await store
        .write((tx) => tx.deleteProcess(own.id))
        .catch((error: unknown) => log.warn({ err: error }, 'that this process stops could not be told to the others'));
    },
  };
}
