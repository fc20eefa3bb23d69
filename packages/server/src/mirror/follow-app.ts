import type { AppId, ExtensionPointId } from '@tenon/protocol';
import type { Logger } from 'pino';
import { type ChangeStream, createChangeStream, type MirroredItem } from './change-stream.ts';
import { compareAll, createPass, type Failure } from './compare-lists.ts';
import { SourceError } from './source.ts';
import { type StructureOptions, syncStructure } from './structure.ts';
import { createListSync, type SyncDeps } from './sync-list.ts';

/*
 * Follows one application of the source. The change stream says which lists have changed; the lists themselves are requested. The position in
 * the stream is stored only when all lists up to it are equal, so that after a crash the rest comes again.
 */

/** The pause before the first retry of a list that could not be made equal, and the longest one, in milliseconds. */
const retryMs = 1000;
const maxRetryMs = 60_000;

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
  /** Why a list, or the attestations of a plugin, are missing. */
  readonly detail: string | undefined;
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
  const stream = createChangeStream(stored);
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

/** Makes lists equal, as the stream says. Ends with an error. */
async function applyChanges(
  appId: AppId,
  stream: ChangeStream,
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
  const changes = { next: nextChanged, watch: stream.watch };

  for (;;) {
    signal.throwIfAborted();
    if (state.isStructureStale || clock() - structureAtMs >= settings.mirrorRefreshMs) {
      state.isStructureStale = false;
      const found = await syncStructure(appId, options);
      if (found.isNew) [state.isFull, isSynchronized] = [true, false];
      [points, structureAtMs] = [found.points, clock()];
      for (const [id, { item }] of failures) if (!points.has(item.extensionPointId)) failures.delete(id);
    }
    if (clock() - comparedAtMs >= settings.mirrorResyncMs) state.isFull = true;
    if (clock() >= retryAtMs) {
      stream.add([...failures.values()].map(({ item }) => item));
      retryAtMs = Number.POSITIVE_INFINITY;
    }
    const isFull = state.isFull && state.isReady;
    if (isFull || (state.dirty.size > 0 && !state.isFull)) {
      const pass = createPass({ appId, sync: createListSync(options), failures, changes });
      if (isFull) {
        state.isFull = false;
        failures.clear();
        onProgress(progress(false));
        await compareAll(appId, points, pass, options);
        [isSynchronized, comparedAtMs] = [true, clock()];
      } else await pass.run([]);
      if (failures.size === 0) [retries, retryAtMs] = [0, Number.POSITIVE_INFINITY];
      else if (retryAtMs === Number.POSITIVE_INFINITY)
        retryAtMs = clock() + Math.min(maxRetryMs, retryMs * 2 ** retries++);
    }
    const until = state.position;
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

  /** The next changed item of an extension point that is mirrored. */
  function nextChanged(): MirroredItem | undefined {
    for (;;) {
      const item = stream.shift();
      if (item === undefined || points.has(item.extensionPointId)) return item;
      if (chosen?.has(item.extensionPointId) ?? true) state.isStructureStale = true; // there may be another extension point
    }
  }

  function progress(isEqual: boolean): AppProgress {
    const contents = new Set([...failures.values()].flatMap((each) => each.contents));
    return {
      isSynchronized,
      equalAtMs: isEqual ? state.receivedAtMs : undefined,
      missingLists: [...failures.values()].filter(({ item }) => 'guestKey' in item).length,
      missingContents: contents.size,
      detail: failures.values().next().value?.detail,
    };
  }
}
