import type { AppId } from '@tenon/protocol';
import type { ChangeEventRecord, ChangePosition } from '../db/change-records.ts';
import type { Store } from '../db/store.ts';

/** How often it is looked whether another process has changed anything, while somebody watches. */
const tickMs = 50;

/** How often, at the most, all who watch look whether they still may, while the store changes. */
const lookMs = 500;

/** How many news are read at once. */
const batch = 500;

/** How many are woken in one turn of the event loop. */
const wokenAtOnce = 32;

/** How many readings are shared at the most: more come about only where many catch up at once. */
const maxShared = 256;

/** Wakes the watchers of news, and reads for them. One serves a process. */
export type ChangeFeed = ReturnType<typeof createChangeFeed>;

interface ChangeReading {
  readonly head: ChangePosition;
  readonly records: readonly ChangeEventRecord[];
}

/** A watcher of an application's news. */
export type ChangeWatch = ReturnType<typeof createWatch>;

/**
 * Learns of news from the table alone: this process tells of its own at once, and for what others write it is enough that the
 * store's revision changes. A node that misses a call therefore misses no news.
 */
export function createChangeFeed(store: Pick<Store, 'read' | 'revision'>) {
  const watches = new Map<AppId, Set<ChangeWatch>>();
  const heads = new Map<AppId, string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let seenRevision = Number.NaN;
  let lookedRevision = Number.NaN;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let shared = new Map<string, Promise<ChangeReading>>();
  let sharedRevision = Number.NaN;

  const wakeAll = (appIds: Iterable<AppId>): void => {
    wakeInTurns(Array.from(appIds).flatMap((appId) => [...(watches.get(appId) ?? [])]));
  };
  const wakeChanged = async (): Promise<void> => {
    for (const [appId, { serial, mark }] of await store.read.changeHeads([...watches.keys()])) {
      const head = `${serial}-${mark}`;
      if (heads.get(appId) === head) continue;
      heads.set(appId, head);
      wakeAll([appId]);
    }
  };
  const tick = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    try {
      const revision = store.revision();
      if (revision !== seenRevision) {
        await wakeChanged();
        seenRevision = revision;
      }
      const nowMs = performance.now();
      if (revision !== lookedRevision && nowMs - lookedAtMs >= lookMs) {
        lookedRevision = revision;
        lookedAtMs = nowMs;
        wakeAll(watches.keys());
      }
    } catch {
      wakeAll(watches.keys()); // who reads for themselves will see what is wrong
    } finally {
      isAsking = false;
    }
  };
  const readNow = async (appId: AppId, afterSerial: number): Promise<ChangeReading> => {
    const head = (await store.read.changeHeads([appId])).get(appId) as ChangePosition;
    return { head, records: await store.read.changes(appId, afterSerial, batch) };
  };

  return {
    /** Wakes the watchers of these applications: their news can be read. */
    notify: wakeAll,
    watch(appId: AppId): ChangeWatch {
      const watch: ChangeWatch = createWatch(() => {
        const others = watches.get(appId);
        others?.delete(watch);
        if (others?.size === 0) {
          watches.delete(appId);
          heads.delete(appId);
        }
        if (watches.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      });
      const others = watches.get(appId) ?? new Set();
      watches.set(appId, others.add(watch));
      if (isClosed) watch.wake();
      else timer ??= setInterval(() => void tick(), tickMs).unref();
      return watch;
    },
    /**
     * Reads a batch of the news after a serial number, and where the application's news stood before that. Callers that ask for the
     * same share one reading.
     */
    read(appId: AppId, afterSerial: number): Promise<ChangeReading> {
      const revision = store.revision();
      if (revision !== sharedRevision || shared.size >= maxShared) {
        sharedRevision = revision;
        shared = new Map();
      }
      const key = `${appId} ${afterSerial}`;
      const begun = shared.get(key);
      if (begun !== undefined) return begun;
      const of = shared;
      const reading = readNow(appId, afterSerial);
      of.set(key, reading);
      reading.catch(() => of.delete(key));
      return reading;
    },
    /** Wakes all watchers for good. */
    close(): void {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      wakeAll(watches.keys());
    },
    get isClosed(): boolean {
      return isClosed;
    },
  };
}

/** Wakes a few, and more in the next turn of the event loop: what else there is to do need not wait for thousands. */
function wakeInTurns(due: readonly ChangeWatch[], from = 0): void {
  const to = from + wokenAtOnce;
  for (const watch of due.slice(from, to)) watch.wake();
  if (to < due.length) setImmediate(() => wakeInTurns(due, to));
}

function createWatch(onEnd: () => void) {
  let isDue = false;
  let resume: (() => void) | undefined;
  return {
    /**
     * Resolves when there may be something new since the last call; when anything at all has changed, a little later; and at the
     * latest after a time.
     *
     * @returns whether the time is over
     */
    async next(timeoutMs: number): Promise<boolean> {
      let isOver = false;
      if (!isDue) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(() => {
          isOver = true;
          resolve();
        }, timeoutMs);
        resume = resolve;
        await promise;
        resume = undefined;
        clearTimeout(timer);
      }
      isDue = false;
      return isOver;
    },
    wake(): void {
      isDue = true;
      resume?.();
    },
    /** Call when it is no longer needed. */
    end: onEnd,
  };
}
