import type { AppId, ContentAddress, ExtensionPointId } from '@tenon/protocol';
import type { Logger } from 'pino';
import { parseChangeId } from '../db/change-records.ts';
import { readAllPages } from '../db/paging.ts';
import { UnavailableError } from '../db/store.ts';
import type { ReceivedEvent } from './event-reader.ts';
import type { MirroredList } from './mirror-queries.ts';
import { SourceError, type SourceGuest } from './source.ts';
import { type StructureOptions, syncStructure } from './structure.ts';
import { createListSync, isOutage, type ListSync, MissingContentsError, type SyncDeps } from './sync-list.ts';
import { waitAtMost } from './wait.ts';

/*
 * Follows one application of the source. The change stream says which lists have changed; the lists themselves are requested. The position in
 * the stream is stored only when all lists up to it are equal, so that after a crash the rest comes again.
 */

/** How many lists are synchronized at once. */
const listsAtOnce = 4;

/** More changed lists than these are not remembered: then all lists are compared. */
const maxDirtyLists = 10_000;

/** The pause before the first retry of a list that could not be made equal, and the longest one, in milliseconds. */
const retryMs = 1000;
const maxRetryMs = 60_000;

const pageSize = 1000;

/** How many versions one transaction deletes. */
const pruneBatchSize = 100;

export interface FollowOptions extends Omit<StructureOptions, 'deps'> {
  readonly deps: SyncDeps & {
    readonly settings: SyncDeps['settings'] & { readonly mirrorRefreshMs: number; readonly mirrorResyncMs: number };
  };
  readonly log: Logger;
  /** Called when the progress has changed. */
  readonly onProgress: (progress: AppProgress) => void;
}

/** How far an application is mirrored. */
export interface AppProgress {
  /** Whether all lists were compared once since the extension points last changed. */
  readonly isSynchronized: boolean;
  /** When the source last sent something while all lists were equal; `undefined` if they are not, or may not be. */
  readonly equalAtMs: number | undefined;
  readonly missingLists: number;
  readonly missingContents: number;
  /** Why a list is missing. */
  readonly detail: string | undefined;
}

/** A list that could not be made equal. */
interface Failure {
  readonly list: MirroredList;
  readonly contents: readonly ContentAddress[];
  readonly detail: string;
}

/**
 * Follows an application until the connection fails.
 *
 * @throws SourceError, store errors, the reason of the signal
 */
export async function followApp(appId: AppId, options: FollowOptions): Promise<never> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  const own = { ...options, signal };
  const { deps, source } = own;
  const stored = (await deps.store.read.mirroredApps()).find((each) => each.appId === appId)?.position ?? null;
  const stream = createStream(stored);
  const events = await source.changes(appId, stored, signal);
  const reading = (async (): Promise<never> => {
    for await (const received of events) stream.take(received, deps.clock());
    throw new SourceError('unreachable', 'The source ended the change stream');
  })().catch((error: unknown) => {
    throw error instanceof SourceError
      ? error
      : new SourceError('unreachable', 'The change stream was interrupted', { cause: error });
  });
  const working = applyChanges(appId, stream, stored, own);
  try {
    return await Promise.race([reading, working]);
  } finally {
    stopping.abort();
    await Promise.allSettled([reading, working]);
  }
}

type Stream = ReturnType<typeof createStream>;

/** What the change stream has said, and was not handled yet. */
function createStream(stored: string | null) {
  const dirty = new Map<string, MirroredList>();
  let wake = () => {};
  const state = {
    dirty,
    /** Whether all lists have to be compared. */
    isFull: stored === null,
    /** Whether extension points have to be read again. */
    isStructureStale: true,
    /** Whether all earlier events were received. */
    isReady: false,
    position: stored,
    receivedAtMs: 0,
  };
  const takeOne = ({ name, data, id }: ReceivedEvent): void => {
    if (name === 'end') throw new SourceError(endKind(data), 'The source ended the change stream');
    if (name === 'reset') [state.isFull, state.isReady] = [true, false];
    if (name === 'ready') state.isReady = true;
    if (name === 'deleted') state.isStructureStale = true;
    if (name === 'binding') {
      const list = parseList(data);
      dirty.set(JSON.stringify(list), list);
      if (dirty.size > maxDirtyLists) {
        dirty.clear();
        state.isFull = true;
      }
    }
    if (id !== undefined && parseChangeId(id) !== undefined) state.position = id;
  };
  return {
    state,
    take(events: readonly ReceivedEvent[], nowMs: number): void {
      state.receivedAtMs = nowMs;
      for (const event of events) takeOne(event);
      wake();
    },
    add(lists: readonly MirroredList[]): void {
      for (const list of lists) dirty.set(JSON.stringify(list), list);
    },
    /** Waits until something was received, or for a time. */
    async next(waitMs: number, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await waitAtMost(promise, waitMs, signal);
    },
  };
}

/** Makes lists equal, as the stream says. Ends with an error. */
async function applyChanges(
  appId: AppId,
  stream: Stream,
  stored: string | null,
  options: FollowOptions,
): Promise<never> {
  const { deps, signal, chosen, assertFollowing, onProgress } = options;
  const { store, clock, settings } = deps;
  const { state } = stream;
  const failures = new Map<string, Failure>();
  let points: ReadonlySet<ExtensionPointId> = new Set();
  let position = stored;
  let retries = 0;
  let [structureAtMs, comparedAtMs, retryAtMs] = [0, clock(), Number.POSITIVE_INFINITY];
  let isSynchronized = stored !== null;

  for (;;) {
    signal.throwIfAborted();
    if (state.isStructureStale || clock() - structureAtMs >= settings.mirrorRefreshMs) {
      state.isStructureStale = false;
      const found = await syncStructure(appId, options);
      if (found.isNew) [state.isFull, isSynchronized] = [true, false];
      [points, structureAtMs] = [found.points, clock()];
      for (const [id, { list }] of failures) if (!points.has(list.extensionPointId)) failures.delete(id);
    }
    if (clock() - comparedAtMs >= settings.mirrorResyncMs) state.isFull = true;
    if (clock() >= retryAtMs) {
      stream.add([...failures.values()].map(({ list }) => list));
      retryAtMs = Number.POSITIVE_INFINITY;
    }
    const until = state.position;
    const isFull = state.isFull && state.isReady;
    const due = isFull ? undefined : [...state.dirty.values()];
    if (isFull || (due !== undefined && due.length > 0 && !state.isFull)) {
      state.dirty.clear();
      const sync = createListSync(options);
      const isUnknown = ({ extensionPointId: id }: MirroredList) => !points.has(id) && (chosen?.has(id) ?? true);
      if (due?.some(isUnknown)) state.isStructureStale = true; // there may be another extension point
      const pass = createPass(appId, sync, failures);
      if (due === undefined) {
        state.isFull = false;
        failures.clear();
        onProgress(progress(false));
        await compareAll(appId, points, sync, pass, options);
        [isSynchronized, comparedAtMs] = [true, clock()];
      } else await pass.run(due.filter(({ extensionPointId }) => points.has(extensionPointId)));
      if (failures.size === 0) [retries, retryAtMs] = [0, Number.POSITIVE_INFINITY];
      else if (retryAtMs === Number.POSITIVE_INFINITY)
        retryAtMs = clock() + Math.min(maxRetryMs, retryMs * 2 ** retries++);
    }
    const isIdle = !state.isFull && state.dirty.size === 0 && !state.isStructureStale;
    if (failures.size === 0 && isIdle && until !== position && isSynchronized) {
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.putMirrorPosition(appId, until);
      });
      position = until;
    }
    onProgress(progress(state.isReady && isIdle && failures.size === 0));
    if (state.isStructureStale || (state.isFull ? state.isReady : state.dirty.size > 0)) continue;
    await stream.next(Math.max(0, Math.min(settings.mirrorRefreshMs, retryAtMs - clock())), signal);
  }

  function progress(isEqual: boolean): AppProgress {
    const contents = new Set([...failures.values()].flatMap((each) => each.contents));
    return {
      isSynchronized,
      equalAtMs: isEqual ? state.receivedAtMs : undefined,
      missingLists: failures.size,
      missingContents: contents.size,
      detail: failures.values().next().value?.detail,
    };
  }
}

/** Synchronizes lists, several at once, and collects those that can't be made equal. */
function createPass(appId: AppId, sync: ListSync, failures: Map<string, Failure>) {
  return {
    /** @throws SourceError if the source can't be used; store errors */
    async run(lists: Iterable<MirroredList>, guests: ReadonlyMap<string, SourceGuest> = new Map()): Promise<void> {
      const rest = lists[Symbol.iterator]();
      const work = async (): Promise<void> => {
        for (let next = rest.next(); next.done !== true; next = rest.next()) {
          const list = next.value;
          const id = JSON.stringify(list);
          try {
            await sync.sync(appId, list, guests.get(list.guestKey));
            failures.delete(id);
          } catch (error) {
            if (!isOfOneList(error)) throw error;
            const contents = error instanceof MissingContentsError ? error.addresses : [];
            failures.set(id, { list, contents, detail: error.message });
          }
        }
      };
      await Promise.all(Array.from({ length: listsAtOnce }, work));
    },
  };
}

/** Whether an error says nothing about other lists. */
function isOfOneList(error: unknown): error is Error {
  if (error instanceof MissingContentsError) return !(error.cause instanceof UnavailableError);
  return error instanceof SourceError && !isOutage(error);
}

/** Compares all lists of the source, and those that only the mirror has. Deletes versions that hosts have had time to replace. */
async function compareAll(
  appId: AppId,
  points: ReadonlySet<ExtensionPointId>,
  sync: ListSync,
  pass: ReturnType<typeof createPass>,
  { deps, source, signal, assertFollowing }: FollowOptions,
): Promise<void> {
  const { store, clock } = deps;
  const { read } = store;
  for await (const guests of source.guests(appId, signal)) {
    const byKey = new Map(guests.map((guest) => [guest.guestKey, guest]));
    await pass.run(listsOf(points, byKey.keys()), byKey);
  }
  const idOf = ({ id }: { readonly id: string }) => id as never;
  for await (const guests of readAllPages(pageSize, idOf, (page) => read.mirroredGuests(appId, page)))
    await pass.run(
      listsOf(
        points,
        guests.map(({ guestKey }) => guestKey),
      ),
    );
  for (const extensionPointId of points) {
    for (let after = undefined as Awaited<ReturnType<typeof read.mirroredPlugins>>[number] | undefined; ; ) {
      const plugins = await read.mirroredPlugins(extensionPointId, { after, limit: pageSize });
      for (const key of plugins) await sync.refreshPlugin(key);
      after = plugins.at(-1);
      if (after === undefined) break;
    }
  }
  for (const extensionPointId of points) {
    for (;;) {
      const ids = await read.unlistedVersions(extensionPointId, clock(), pruneBatchSize);
      if (ids.length === 0) break;
      await store.write(async (tx) => {
        await assertFollowing(tx);
        await tx.deleteUnlistedVersions(ids, clock());
      });
      signal.throwIfAborted();
    }
  }
}

function* listsOf(points: ReadonlySet<ExtensionPointId>, guestKeys: Iterable<string>): Generator<MirroredList> {
  for (const guestKey of guestKeys) for (const extensionPointId of points) yield { extensionPointId, guestKey };
}

function parseList(data: string): MirroredList {
  const parsed: unknown = JSON.parse(data);
  const { extensionPointId, guestKey } = parsed as Partial<Record<'extensionPointId' | 'guestKey', unknown>>;
  if (typeof extensionPointId !== 'string' || typeof guestKey !== 'string')
    throw new SourceError('invalid', 'The source sent a malformed change event');
  return { extensionPointId: extensionPointId as ExtensionPointId, guestKey };
}

function endKind(data: string): 'unreachable' | 'refused' {
  return /"code":"(invalid_token|not_found|forbidden|account_suspended|insufficient_scope|passkey_required)"/.test(data)
    ? 'refused'
    : 'unreachable';
}
