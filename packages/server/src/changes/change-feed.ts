import type { AppId } from '@tenon/protocol';
import type { NewestAction } from '../db/audit-records.ts';
import type { ChangeEventRecord, ChangePosition } from '../db/change-records.ts';
import type { Store } from '../db/store.ts';
import { changeText } from './change-text.ts';

/** How often the feed checks whether another process has changed the store, while it has watches. Not all stores notify it. */
const defaultPollMs = 20;

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

/** A change event with its text, which all streams send. */
export type ChangeEvent = ChangeEventRecord & { readonly text: string };

interface ChangeBatch {
  readonly head: ChangePosition;
  readonly records: readonly ChangeEvent[];
}

/** Waits for change events of an application. */
export type ChangeWatch = ReturnType<typeof createWatch>;

/**
 * Creates a feed. It learns of new events from the database alone: it reads the applications' heads after `notify()`, after a commit of
 * which the store notifies it, and when the store's revision has changed. A missed notification therefore loses no event.
 *
 * @param pollMs default: 20
 */
export function createChangeFeed(store: Pick<Store, 'read' | 'revision' | 'onCommitted'>, pollMs = defaultPollMs) {
  const watches = new Map<AppId, Set<ChangeWatch>>();
  const heads = new Map<AppId, string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isPolling = false;
  let isPollDue = false;
  let polledRevision = Number.NaN;
  let recheckedRevision = Number.NaN;
  let recheckedAtMs = Number.NEGATIVE_INFINITY;
  let sharedReads = new Map<string, Promise<unknown>>();
  let sharedRevision = Number.NaN;

  const wakeAll = (appIds: Iterable<AppId>): void => {
    wakeInBatches(Array.from(appIds).flatMap((appId) => [...(watches.get(appId) ?? [])]));
  };
  /** Returns the applications with new events. */
  const findChanged = async (): Promise<AppId[]> => {
    const changed: AppId[] = [];
    for (const [appId, { serial, mark }] of await store.read.changeHeads([...watches.keys()])) {
      const head = `${serial}-${mark}`;
      if (heads.get(appId) !== head) changed.push(appId);
      heads.set(appId, head);
    }
    return changed;
  };
  const pollOnce = async (): Promise<void> => {
    const revision = store.revision();
    const changed = revision === polledRevision ? [] : await findChanged();
    polledRevision = revision;
    const nowMs = performance.now();
    const isRecheckDue = revision !== recheckedRevision && nowMs - recheckedAtMs >= recheckIntervalMs;
    if (isRecheckDue) {
      recheckedRevision = revision;
      recheckedAtMs = nowMs;
    }
    wakeAll(isRecheckDue ? new Set([...changed, ...watches.keys()]) : changed);
  };
  const poll = async (): Promise<void> => {
    isPollDue = true;
    if (isPolling) return;
    isPolling = true;
    try {
      while (isPollDue && watches.size > 0) {
        isPollDue = false;
        await pollOnce();
      }
    } catch {
      wakeAll(watches.keys()); // each watch then reads, and gets the error
    } finally {
      isPolling = false;
    }
  };
  const readBatch = async (appId: AppId, afterSerial: number): Promise<ChangeBatch> => {
    const head = (await store.read.changeHeads([appId])).get(appId) as ChangePosition;
    const records = await store.read.changes(appId, afterSerial, batchSize);
    return { head, records: records.map((record) => ({ ...record, text: changeText(record) })) };
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

  store.onCommitted((invalidated) => {
    // A commit that invalidates everything may be one that was only assumed: the interval finds it.
    if (invalidated !== undefined) void poll();
  });

  return {
    /** Wakes the watches of applications with new events. Call it when they can be read. */
    notify: (): void => void poll(),
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
      else timer ??= setInterval(() => void poll(), pollMs).unref();
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
