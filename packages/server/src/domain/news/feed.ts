import type { AppId } from '@tenon/protocol';
import type { Store } from '../ports.ts';
import type { NewsPosition, NewsRecord } from './ports.ts';

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

/** What wakes those who watch, and reads for them. One serves a process. */
export interface NewsFeed {
  /** Wakes those who watch these applications: their news is there to be read. */
  told(appIds: readonly AppId[]): void;
  watch(appId: AppId): NewsWatch;
  /**
   * What came after a place, a batch at the most, and where the application's news stood before that was read. Those who ask
   * for the same share one reading.
   */
  read(appId: AppId, afterSerial: number): Promise<NewsReading>;
  /** Wakes everybody for good. */
  close(): void;
  readonly isClosed: boolean;
}

export interface NewsReading {
  readonly head: NewsPosition;
  readonly records: readonly NewsRecord[];
}

/** One who watches an application's news. */
export interface NewsWatch {
  /**
   * Resolves when there may be something new since the last call; when anything at all has changed, a little later; and at the
   * latest after a time.
   *
   * @returns whether the time is over
   */
  next(timeoutMs: number): Promise<boolean>;
  wake(): void;
  /** To be called when it is no longer needed. */
  end(): void;
}

/**
 * Learns of news from the table alone: this process tells of its own at once, and for what others write it is enough that the
 * store's revision changes. A node that misses a call therefore misses no news.
 */
export function createNewsFeed(store: Pick<Store, 'read' | 'revision'>): NewsFeed {
  const watches = new Map<AppId, Set<NewsWatch>>();
  const heads = new Map<AppId, string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let seenRevision = Number.NaN;
  let lookedRevision = Number.NaN;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let shared = new Map<string, Promise<NewsReading>>();
  let sharedRevision = Number.NaN;

  const wakeAll = (appIds: Iterable<AppId>): void => {
    wakeInTurns(Array.from(appIds).flatMap((appId) => [...(watches.get(appId) ?? [])]));
  };
  const wakeChanged = async (): Promise<void> => {
    for (const [appId, { serial, mark }] of await store.read.newsHeads([...watches.keys()])) {
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
  const readNow = async (appId: AppId, afterSerial: number): Promise<NewsReading> => {
    const head = (await store.read.newsHeads([appId])).get(appId) as NewsPosition;
    return { head, records: await store.read.news(appId, afterSerial, batch) };
  };

  return {
    told: wakeAll,
    watch(appId) {
      const watch = createWatch(() => {
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
    read(appId, afterSerial) {
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
    close() {
      isClosed = true;
      clearInterval(timer);
      timer = undefined;
      wakeAll(watches.keys());
    },
    get isClosed() {
      return isClosed;
    },
  };
}

/** Wakes a few, and more in the next turn of the event loop: what else there is to do need not wait for thousands. */
function wakeInTurns(due: readonly NewsWatch[], from = 0): void {
  const to = from + wokenAtOnce;
  for (const watch of due.slice(from, to)) watch.wake();
  if (to < due.length) setImmediate(() => wakeInTurns(due, to));
}

function createWatch(onEnd: () => void): NewsWatch {
  let isDue = false;
  let resume: (() => void) | undefined;
  return {
    async next(timeoutMs) {
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
    wake() {
      isDue = true;
      resume?.();
    },
    end: onEnd,
  };
}
