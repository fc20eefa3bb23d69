import { setTimeout as sleep } from 'node:timers/promises';
import type { AppId, MirrorState } from '@tenon/protocol';
import type { Logger } from 'pino';
import { type Lease, takeLease } from '../blobs/leases.ts';
import { type MirrorSettings, mirrorFile } from '../config/mirror-file.ts';
import type { MirrorRecord } from '../db/mirror-records.ts';
import type { Transaction } from '../db/store.ts';
import { type AppProgress, type FollowOptions, followApp } from './follow-app.ts';
import { openSource, type Source, SourceError } from './source.ts';
import { hostsUser } from './structure.ts';
import { waitAtMost } from './wait.ts';

/*
 * Follows the source of a mirror. One process of all nodes does so at a time: it holds a lease. Each application has its own change stream, and
 * its own retries. The state is stored, so that all nodes show it.
 */

/** The pause after a failure, and the longest one, in milliseconds. Each has a jitter. */
const retryMs = 500;
const maxRetryMs = 60_000;

/** How often the state is stored while only the time of the last equality changes, and read by processes that don't follow. */
const stateIntervalMs = 5000;

/** The most applications that a mirror follows. The source allows an account 64 streams. */
const maxApps = 60;

export interface MirrorOptions {
  readonly deps: FollowOptions['deps'] & {
    readonly settings: FollowOptions['deps']['settings'] & { readonly mirrorLeaseMs: number };
  };
  readonly settings: MirrorSettings;
  readonly log: Logger;
}

/** The store holds data of its own, or mirrors another source. */
export class ForeignStoreError extends Error {
  override readonly name = 'ForeignStoreError';
}

/**
 * Checks that the store of a mirror mirrors this source and nothing else, and that the store of another server is no mirror.
 *
 * @throws ForeignStoreError
 */
export async function assertMirrorStore(
  { store }: Pick<MirrorOptions['deps'], 'store'>,
  settings: MirrorSettings | undefined,
): Promise<void> {
  const known = await store.read.mirror();
  if (settings === undefined) {
    if (known === undefined) return;
    throw new ForeignStoreError(`The data is a mirror of ${known.source}. Set TENON_MIRROR_FILE, or use other data.`);
  }
  if (known === undefined ? await store.read.hasOwnApp() : known.source !== settings.source) {
    const what = known === undefined ? 'has applications of its own' : `is a mirror of ${known.source}`;
    throw new ForeignStoreError(
      `The data ${what}, so it cannot become a mirror of ${settings.source}. Use an empty data folder.`,
    );
  }
}

/** What the mirror has lost: another process follows the source. */
class LostLeaseError extends Error {
  override readonly name = 'LostLeaseError';
}

export type Mirror = ReturnType<typeof startMirror>;

export function startMirror({ deps, settings, log }: MirrorOptions) {
  const { store, clock } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const state = { record: undefined as MirrorRecord | undefined, isFollowing: false };

  const followWithLease = async (lease: Lease): Promise<void> => {
    const ended = new AbortController();
    const following = AbortSignal.any([signal, ended.signal]);
    const assertFollowing = async (tx: Transaction): Promise<void> => {
      const holders = await tx.leaseHolders('mirror', clock());
      if (holders.length !== 1 || holders[0] !== lease.holder)
        throw new LostLeaseError('Another process follows the source');
    };
    const renewing = (async () => {
      for (;;) {
        await sleep(deps.settings.mirrorLeaseMs / 3, undefined, { ref: false, signal: following });
        await lease.renew();
      }
    })();
    const source = openSource(settings.source, createTokenReader(settings));
    const work = follow({ deps, source, log, signal: following, assertFollowing, settings, state });
    try {
      await Promise.race([renewing, work]);
    } finally {
      ended.abort();
      await Promise.allSettled([renewing, work]);
      source.close();
      state.isFollowing = false;
    }
  };
  const run = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      let lease: Lease | undefined;
      try {
        lease = await takeLease(deps, 'mirror', { lengthMs: deps.settings.mirrorLeaseMs, isExclusive: true });
        state.record = (await store.read.mirror()) ?? state.record;
        if (lease !== undefined) await followWithLease(lease);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (++failures === 1) log.warn({ err: error }, 'mirror: cannot follow');
      } finally {
        await lease?.release().catch(() => {}); // it expires
      }
      const pauseMs = failures === 0 ? deps.settings.mirrorLeaseMs / 3 : pauseAfter(failures);
      await sleep(pauseMs, undefined, { ref: false, signal });
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'mirror: stopped');
  });
  return {
    /** The state as last stored, and whether this process follows the source. */
    state: state as Readonly<typeof state>,
    /** Stops, and lets another process follow. */
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}

interface FollowState {
  record: MirrorRecord | undefined;
  isFollowing: boolean;
}

interface Follow extends Pick<FollowOptions, 'deps' | 'source' | 'log' | 'signal' | 'assertFollowing'> {
  readonly settings: MirrorSettings;
  readonly state: FollowState;
}

/** An application that is followed. */
interface FollowedApp {
  progress: AppProgress | undefined;
  failure: unknown;
}

/** Follows all applications that the token may read. Ends with an error, such as a lost lease. */
async function follow(options: Follow): Promise<never> {
  const { deps, source, log, signal, assertFollowing, settings, state } = options;
  const { store, clock } = deps;
  const apps = new Map<AppId, FollowedApp>();
  const fatal = Promise.withResolvers<never>();
  fatal.promise.catch(() => {});
  const works: Promise<void>[] = [];
  const before = await store.read.mirror();
  let [completedAtMs, equalAtMs, lists] = [
    before?.completedAtMs ?? null,
    before?.equalAtMs ?? null,
    before?.lists ?? 0,
  ];
  let discovery: unknown = 'pending';
  let [storedAtMs, isCounted, wake] = [0, false, () => {}];

  const countLists = async (): Promise<number> => {
    let sum = 0;
    for (const appId of apps.keys()) sum += await store.read.countMirroredLists(appId);
    return sum;
  };
  const storeState = async (): Promise<void> => {
    const current = summarize([...apps.values()], discovery);
    const equal = current.state === 'following' ? current.equalAtMs : undefined;
    if (equal !== undefined) {
      equalAtMs = Math.max(equalAtMs ?? 0, equal);
      completedAtMs ??= equal;
    }
    const { missingLists, missingContents } = current;
    const detail = current.detail?.slice(0, 500) ?? null;
    const record = {
      source: settings.source,
      state: current.state,
      detail,
      equalAtMs,
      completedAtMs,
      lists,
      missingLists,
      missingContents,
    };
    const isChanged = (['state', 'detail', 'completedAtMs', 'missingLists', 'missingContents'] as const).some(
      (name) => record[name] !== state.record?.[name],
    );
    if (state.record !== undefined && record.state !== state.record.state)
      log.info({ state: record.state, detail }, 'mirror: state changed');
    const isDue = clock() - storedAtMs >= stateIntervalMs;
    state.record = record;
    if (!isChanged && !isDue) return;
    if (isDue || !isCounted) [lists, isCounted] = [await countLists(), true];
    state.record = { ...record, lists };
    storedAtMs = clock();
    await store.write(async (tx) => {
      await assertFollowing(tx);
      await tx.putMirror({ ...record, lists });
    });
  };
  const followAlways = async (appId: AppId, app: FollowedApp): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      const startMs = performance.now();
      try {
        await followApp(appId, {
          ...options,
          chosen: settings.extensionPoints && new Set(settings.extensionPoints),
          onProgress(progress) {
            [app.progress, app.failure] = [progress, undefined];
            wake();
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LostLeaseError) return fatal.reject(error);
        app.failure = error;
        wake();
        failures = performance.now() - startMs > maxRetryMs ? 1 : failures + 1;
        if (failures === 1) log.warn({ err: error, appId }, 'mirror: interrupted');
        await sleep(pauseAfter(failures), undefined, { ref: false, signal }).catch(() => {});
      }
    }
  };
  const discover = async (): Promise<void> => {
    const found = await findApps(source, settings, signal);
    const keys = await source.signingKeys(signal);
    await store.write(async (tx) => {
      await assertFollowing(tx);
      const fields = keys.map(({ keyId, publicKey, validFrom, validUntil }) => ({
        id: keyId,
        publicKeyPem: publicKey,
        validFromMs: Date.parse(validFrom),
        validUntilMs: validUntil === null ? null : Date.parse(validUntil),
      }));
      const ids = new Set(fields.map(({ id }) => id));
      const revoked = (await tx.signingKeys()).filter(({ id, revokedAtMs }) => !ids.has(id) && revokedAtMs === null);
      await tx.putMirroredKeys(
        fields,
        revoked.map(({ id }) => id),
        clock(),
      );
      for (const app of found)
        if ((await tx.app(app.id)) === undefined) await tx.putMirroredApp(app, hostsUser(clock()));
    });
    const known = (await store.read.mirroredApps()).map(({ appId }) => appId);
    // An application that the token does not see any more may be deleted, or the token may have lost it. The mirror serves it.
    for (const appId of new Set([...found.map(({ id }) => id), ...known])) {
      if (apps.has(appId)) continue;
      const app: FollowedApp = { progress: undefined, failure: undefined };
      apps.set(appId, app);
      works.push(followAlways(appId, app));
    }
  };
  const discoverAlways = async (): Promise<never> => {
    for (let failures = 0; ; ) {
      try {
        await discover();
        [discovery, failures] = [undefined, 0];
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof LostLeaseError) throw error;
        discovery = error;
        if (++failures === 1) log.warn({ err: error }, 'mirror: the source cannot be read');
      }
      wake();
      const pauseMs = failures === 0 ? deps.settings.mirrorRefreshMs : pauseAfter(failures);
      await sleep(pauseMs, undefined, { ref: false, signal });
    }
  };
  const storeAlways = async (): Promise<never> => {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (discovery !== 'pending') await storeState();
      await waitAtMost(promise, stateIntervalMs, signal);
      signal.throwIfAborted();
    }
  };
  state.isFollowing = true;
  works.push(discoverAlways().catch(fatal.reject), storeAlways().catch(fatal.reject));
  try {
    return await fatal.promise;
  } finally {
    await Promise.allSettled(works);
  }
}

/** The applications that the mirror is to follow. */
async function findApps(source: Source, { extensionPoints }: MirrorSettings, signal: AbortSignal) {
  const found = [];
  for await (const page of source.apps(signal)) {
    for (const { id, name, role, createdAt, updatedAt } of page) {
      if (role === 'guest') continue;
      const times = { createdAtMs: Date.parse(createdAt), updatedAtMs: Date.parse(updatedAt) };
      found.push({ id: id as AppId, name, requiresPasskey: false, ...times });
    }
  }
  if (extensionPoints === undefined) return requireFew(found);
  const chosen = new Set<string>(extensionPoints);
  const used = [];
  for (const app of found) {
    if ((await source.extensionPoints(app.id, signal)).some(({ id }) => chosen.delete(id))) used.push(app);
  }
  return requireFew(used);
}

/** @throws SourceError for none, or too many */
function requireFew<T>(apps: readonly T[]): readonly T[] {
  if (apps.length === 0) throw new SourceError('refused', 'The token may read no application as a member of its team');
  if (apps.length <= maxApps) return apps;
  throw new SourceError(
    'invalid',
    `The token may read ${apps.length} applications, and a mirror follows at most ${maxApps}`,
  );
}

interface Summary extends Pick<AppProgress, 'equalAtMs' | 'missingLists' | 'missingContents' | 'detail'> {
  readonly state: MirrorState;
}

/** @param discovery the error of the last look for applications; `pending` before the first one */
function summarize(apps: readonly FollowedApp[], discovery: unknown): Summary {
  const sumOf = (name: 'missingLists' | 'missingContents') =>
    apps.reduce((sum, { progress }) => sum + (progress?.[name] ?? 0), 0);
  const counts = {
    missingLists: sumOf('missingLists'),
    missingContents: sumOf('missingContents'),
    equalAtMs: undefined,
  };
  const errors = [discovery === 'pending' ? undefined : discovery, ...apps.map(({ failure }) => failure)];
  const found = errors.filter((error) => error !== undefined);
  const refusal = found.find(
    (error) => error instanceof SourceError && (error.kind === 'refused' || error.kind === 'missing'),
  );
  if (refusal instanceof Error) return { ...counts, state: 'refused', detail: refusal.message };
  const [error] = found;
  if (error !== undefined) {
    const isOutage = error instanceof SourceError && error.kind === 'unreachable';
    const detail = error instanceof Error ? error.message : String(error);
    return { ...counts, state: isOutage ? 'unreachable' : 'incomplete', detail };
  }
  if (counts.missingLists > 0) {
    const detail = apps.find(({ progress }) => progress?.detail !== undefined)?.progress?.detail;
    return { ...counts, state: 'incomplete', detail };
  }
  const isSynchronized = discovery === undefined && apps.every(({ progress }) => progress?.isSynchronized);
  if (!isSynchronized) return { ...counts, state: 'synchronizing', detail: undefined };
  const times = apps.flatMap(({ progress }) => progress?.equalAtMs ?? []);
  const equalAtMs = times.length === apps.length ? Math.min(...times) : undefined;
  return { ...counts, state: 'following', detail: undefined, equalAtMs };
}

/** Returns a function that reads the token of the file, if the file is still valid. */
function createTokenReader(settings: MirrorSettings): () => string {
  let [token, readAtMs] = [settings.token, performance.now()];
  return () => {
    if (performance.now() - readAtMs < retryMs) return token;
    readAtMs = performance.now();
    try {
      const found = mirrorFile(settings.path);
      if (found.source === settings.source) token = found.token;
    } catch {
      // The last token stays in use while the file is being replaced.
    }
    return token;
  };
}

/** Exponential backoff with jitter. */
function pauseAfter(failures: number): number {
  return Math.min(maxRetryMs, retryMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
