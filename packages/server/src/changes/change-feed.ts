import type { AppId } from '@tenon/protocol';
import type { NewestAction } from '../db/audit-records.ts';
import type { ChangeEventRecord, ChangePosition } from '../db/change-records.ts';
import type { Store } from '../db/store.ts';

/** How often the feed checks whether another process has changed the store, while it has watches. */
const pollIntervalMs = 50;

/** How often, at most, the feed wakes all watches while the store changes, so that they check their access again. */
const recheckIntervalMs = 500;

/** How many change events one query reads. */
const batchSize = 500;

/** How many watches are woken in one turn of the event loop. */
const wakeBatchSize = 32;

/** The maximum number of shared reads. There are more only while many watches catch up at the same time. */
const maxSharedReads = 256;

/** How many of an application's newest actions are compared. More new ones between two reads count as visible to every reader. */
export const newestActionCount = 50;

/** Wakes the watches of an application when it has new change events, and reads the events. Each process has one feed. */
export type ChangeFeed = ReturnType<typeof createChangeFeed>;

interface ChangeBatch {
  readonly head: ChangePosition;
  readonly records: readonly ChangeEventRecord[];
}

/** Waits for change events of an application. */
export type ChangeWatch = ReturnType<typeof createWatch>;

/**
 * Creates a feed. It learns of new events from the database alone: `notify()` reports those of this process at once, and a changed
 * store revision those of other processes. A missed notification therefore loses no event.
 */
export function createChangeFeed(store: Pick<Store, 'read' | 'revision'>) {
  const watches = new Map<AppId, Set<ChangeWatch>>();
  const heads = new Map<AppId, string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isPolling = false;
  let polledRevision = Number.NaN;
  let recheckedRevision = Number.NaN;
  let recheckedAtMs = Number.NEGATIVE_INFINITY;
  let sharedReads = new Map<string, Promise<unknown>>();
  let sharedRevision = Number.NaN;

  const wakeAll = (appIds: Iterable<AppId>): void => {
    wakeInBatches(Array.from(appIds).flatMap((appId) => [...(watches.get(appId) ?? [])]));
  };
  const wakeChanged = async (): Promise<void> => {
    for (const [appId, { serial, mark }] of await store.read.changeHeads([...watches.keys()])) {
      const head = `${serial}-${mark}`;
      if (heads.get(appId) === head) continue;
      heads.set(appId, head);
      wakeAll([appId]);
    }
  };
  const poll = async (): Promise<void> => {
    if (isPolling) return;
    isPolling = true;
    try {
      const revision = store.revision();
      if (revision !== polledRevision) {
        await wakeChanged();
        polledRevision = revision;
      }
      const nowMs = performance.now();
      if (revision !== recheckedRevision && nowMs - recheckedAtMs >= recheckIntervalMs) {
        recheckedRevision = revision;
        recheckedAtMs = nowMs;
        wakeAll(watches.keys());
      }
    } catch {
      wakeAll(watches.keys()); // each watch then reads, and gets the error
    } finally {
      isPolling = false;
    }
  };
  const readBatch = async (appId: AppId, afterSerial: number): Promise<ChangeBatch> => {
    const head = (await store.read.changeHeads([appId])).get(appId) as ChangePosition;
    return { head, records: await store.read.changes(appId, afterSerial, batchSize) };
  };
  const shareRead = <T>(key: string, load: () => Promise<T>): Promise<T> => {
    const revision = store.revision();
    if (revision !== sharedRevision || sharedReads.size >= maxSharedReads) {
      sharedRevision = revision;
      sharedReads = new Map();
    }
    const shared = sharedReads.get(key) as Promise<T> | undefined;
    if (shared !== undefined) return shared;
    const reads = sharedReads;
    const found = load();
    reads.set(key, found);
    found.catch(() => reads.delete(key));
    return found;
  };

  return {
    /** Wakes the watches of these applications. Call it when new events can be read. */
    notify: wakeAll,
    watch(appId: AppId): ChangeWatch {
      const watch: ChangeWatch = createWatch(() => {
        const ofApp = watches.get(appId);
        ofApp?.delete(watch);
        if (ofApp?.size === 0) {
          watches.delete(appId);
          heads.delete(appId);
        }
        if (watches.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      });
      const ofApp = watches.get(appId) ?? new Set();
      watches.set(appId, ofApp.add(watch));
      if (isClosed) watch.wake();
      else timer ??= setInterval(() => void poll(), pollIntervalMs).unref();
      return watch;
    },
    /**
     * Reads a batch of the events after a serial number, and the application's head before that. Callers share the read of the
     * same batch until the store's revision changes.
     */
    read: (appId: AppId, afterSerial: number): Promise<ChangeBatch> =>
      shareRead(`${appId} ${afterSerial}`, () => readBatch(appId, afterSerial)),
    /** Reads the newest entries of an application's audit trail, shared in the same way. */
    readNewestActions: (appId: AppId): Promise<readonly NewestAction[]> =>
      shareRead(`${appId} actions`, () => store.read.newestActions(appId, newestActionCount)),
    /** Wakes all watches. From then on, every new watch is woken at once. */
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

/** Wakes watches over several turns of the event loop, so that thousands of them don't delay other work. */
function wakeInBatches(due: readonly ChangeWatch[], from = 0): void {
  const to = from + wakeBatchSize;
  for (const watch of due.slice(from, to)) watch.wake();
  if (to < due.length) setImmediate(() => wakeInBatches(due, to));
}

function createWatch(onEnd: () => void) {
  let isWoken = false;
  let resume: (() => void) | undefined;
  return {
    /**
     * Waits until the watch is woken, or was since the last call.
     *
     * @returns whether the time-out passed first
     */
    async next(timeoutMs: number): Promise<boolean> {
      let isTimedOut = false;
      if (!isWoken) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(() => {
          isTimedOut = true;
          resolve();
        }, timeoutMs);
        resume = resolve;
        await promise;
        resume = undefined;
        clearTimeout(timer);
      }
      isWoken = false;
      return isTimedOut;
    },
    wake(): void {
      isWoken = true;
      resume?.();
    },
    end: onEnd,
  };
}
