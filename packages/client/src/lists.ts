import type { BindingList } from './bindings.ts';
import { bindingsKeyOf, type CachedList, cacheKeyOf, decode, entityTag, opaqueTag, readText } from './cached-list.ts';
import type { ChangeSource } from './change-source.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { startTimer } from './clock.ts';
import { assertDigest } from './digest.ts';
import { aborted, ClientError, isUnauthorized } from './errors.ts';
import type { BindingsKey, Emitter, Source } from './events.ts';
import type { LastLoaded } from './last-loaded.ts';
import { createLru } from './lru.ts';
import type { Settings } from './options.ts';
import type { Requester } from './requester.ts';
import { createSingleflight, type Flight } from './singleflight.ts';
import type { TransportResponse } from './transport.ts';
import type { StoredList, VerifiedStore } from './verified-store.ts';
import { createWorkQueue } from './work-queue.ts';

/** A binding list with its age and origin. */
export interface BindingsResult {
  /** By plugin name. */
  readonly bindings: BindingList;
  readonly etag: string | undefined;
  readonly source: Source;
  /** Milliseconds since the server last confirmed the list. `Infinity` if unknown. */
  readonly ageMs: number;
  /** Whether the list is older than requested because the server can't be asked. */
  readonly isStale: boolean;
  /** Why it is stale. */
  readonly error: ClientError | undefined;
}

export interface CallOptions {
  /** Aborts this call. Other calls that wait for the same response still get it. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the client's `maxAgeMs` for this call. With 0 the server is asked. */
  readonly maxAgeMs?: number | undefined;
}

export type Lists = ReturnType<typeof createLists>;

export interface ListsDeps {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly requester: Requester;
  readonly breaker: CircuitBreaker;
  readonly store: VerifiedStore | undefined;
  readonly lastLoaded: LastLoaded;
}

/** How many changed lists are refetched at once. One publish can change a thousand. */
const maxConcurrentRefetches = 8;

/** How long a confirmation of an unchanged list isn't written to the store again. */
const storeAgainMs = 60_000;

export function createLists({ settings, events, requester, breaker, store, lastLoaded }: ListsDeps) {
  const { clock, staleIfErrorMs, revalidateTimeoutMs, retry, limits } = settings;
  const memory = createLru<CachedList>(settings.memory.maxLists);
  const singleflight = createSingleflight();
  /** Lists with a `stale` event and no `recover` event since. */
  const staleKeys = new Set<string>();
  /** The sequence number of the last change event of a list that was not refetched since. */
  const changedAt = new Map<string, number>();
  let changes: ChangeSource | undefined;
  let sequence = 0;

  const ageOf = (cached: CachedList) => clock.monotonicMs() - confirmedMsOf(cached);
  /** Since the last response, by the clock that says more: the monotonic one may stop while the machine is suspended. */
  const longestAgeOf = (cached: CachedList) =>
    Math.max(clock.monotonicMs() - cached.checkedMs, clock.wallMs() - cached.checkedAtMs);
  const isServable = (cached: CachedList, maxAgeMs: number) => ageOf(cached) <= maxAgeMs + staleIfErrorMs;
  const isCurrent = (cached: CachedList) => cached.sequence > (changedAt.get(cacheKeyOf(cached)) ?? 0);

  /** When a response or the change stream last confirmed the list, by the monotonic clock. */
  function confirmedMsOf(cached: CachedList): number {
    const { checkedMs, extensionPointId, sequence } = cached;
    if (changes === undefined || !cached.isConfirmed || !isCurrent(cached)) return checkedMs;
    return Math.max(checkedMs, changes.confirmedMs(extensionPointId, sequence));
  }

  function isFresh(cached: CachedList, maxAgeMs: number): boolean {
    if (!cached.isConfirmed || maxAgeMs === 0) return false;
    if (!isCurrent(cached)) return false;
    if (longestAgeOf(cached) < maxAgeMs) return true;
    const liveSince = changes?.liveSince(cached.extensionPointId);
    return liveSince !== undefined && cached.sequence >= liveSince;
  }

  function resultOf(cached: CachedList, source: Source, error?: ClientError): BindingsResult {
    const isStale = error !== undefined;
    if (events.has('lookup')) events.emit('lookup', { kind: 'list', source, isStale });
    return { bindings: cached.bindings, etag: cached.etag, source, ageMs: ageOf(cached), isStale, error };
  }

  function serveStale(cached: CachedList, error: ClientError): BindingsResult {
    const cacheKey = cacheKeyOf(cached);
    if (!settings.isOffline && !staleKeys.has(cacheKey)) {
      staleKeys.add(cacheKey);
      events.emit('stale', { ...bindingsKeyOf(cached), ageMs: ageOf(cached), error });
    }
    return resultOf(cached, cached.isConfirmed ? 'memory' : 'store', error);
  }

  /** Reads the list from the store into memory. */
  function restore(key: BindingsKey, signal: AbortSignal | undefined): Promise<CachedList | undefined> {
    if (store === undefined) return Promise.resolve(undefined);
    const work = async () => {
      const stored = await store.readList(key);
      const present = memory.get(cacheKeyOf(key));
      if (stored === undefined || present !== undefined) return present;
      const cached = fromStored(stored);
      memory.set(cacheKeyOf(key), cached, 1);
      return cached;
    };
    return singleflight.join(`restore ${cacheKeyOf(key)}`, work).wait(signal);
  }

  function fromStored({ text, etag, checkedAtMs, ...key }: StoredList): CachedList {
    const nowMs = clock.monotonicMs();
    const ageMs = clock.wallMs() - checkedAtMs;
    // A time in the future means that a clock was set, so the age is unknown.
    const checkedMs = ageMs >= 0 ? nowMs - ageMs : Number.NEGATIVE_INFINITY;
    const known = { ...bindingsKeyOf(key), ...readText(text), etag, checkedMs, checkedAtMs };
    return { ...known, sequence: 0, storedMs: nowMs, isConfirmed: false };
  }

  function revalidate(key: BindingsKey, cached: CachedList | undefined, maxRetries: number): Flight<BindingsResult> {
    return singleflight.join(cacheKeyOf(key), async (signal) => {
      const began = { sequence: ++sequence, checkedMs: clock.monotonicMs(), checkedAtMs: clock.wallMs() };
      const request = {
        operation: 'bindings',
        path: `/api/v1/extension-points/${key.extensionPointId}/bindings/${encodeURIComponent(key.guestKey)}`,
        headers: { accept: 'application/json', ...lastLoaded.conditionsFor(key, cached?.etag) },
        maxBytes: limits.maxListBytes,
        cache: 'no-store',
      } as const;
      try {
        return await requester.send(request, maxRetries, signal, async (response) => {
          if (response.status === 200) await assertDigest(response.headers, response.bytes);
          return accept(key, cached, response, began);
        });
      } catch (error) {
        if (isGone(error)) remove(key);
        throw error;
      }
    });
  }

  function accept(
    key: BindingsKey,
    before: CachedList | undefined,
    { status, headers, bytes }: TransportResponse,
    began: Pick<CachedList, 'sequence' | 'checkedMs' | 'checkedAtMs'>,
  ): BindingsResult {
    const cacheKey = cacheKeyOf(key);
    const etag = entityTag(headers);
    if (
      status === 304 &&
      (before === undefined || (etag !== undefined && opaqueTag(etag) !== opaqueTag(before.etag)))
    ) {
      if (before !== undefined) memory.set(cacheKey, { ...before, etag: undefined }, 1); // the next request is unconditional
      throw new ClientError('unexpected_response', 'The server confirmed another list than the requested one');
    }
    const content = status === 304 && before !== undefined ? before : { ...readText(decode(bytes)), etag };
    const isSame = before !== undefined && before.text === content.text && before.etag === content.etag;
    const isStoredLately = isSame && began.checkedMs - before.storedMs < storeAgainMs;
    const storedMs = isStoredLately ? before.storedMs : began.checkedMs;
    const cached: CachedList = { ...content, ...bindingsKeyOf(key), ...began, storedMs, isConfirmed: true };
    memory.set(cacheKey, cached, 1);
    if (isCurrent(cached)) changedAt.delete(cacheKey);
    if (!isStoredLately) {
      const { text, etag, checkedAtMs } = cached;
      store?.writeList({ ...bindingsKeyOf(key), text, etag, checkedAtMs });
    }
    if (staleKeys.delete(cacheKey)) events.emit('recover', bindingsKeyOf(key));
    if (before !== undefined && before.text !== cached.text) {
      events.emit('change', { ...bindingsKeyOf(key), bindings: cached.bindings, previous: before.bindings });
    }
    return resultOf(cached, status === 304 ? 'not_modified' : 'network');
  }

  /** A list that the server doesn't have is never served again. */
  function remove(key: BindingsKey): void {
    const cacheKey = cacheKeyOf(key);
    memory.delete(cacheKey);
    staleKeys.delete(cacheKey);
    changedAt.delete(cacheKey);
    store?.deleteList(key);
  }

  /** Asks the server, and serves the cached list if it doesn't respond in time. */
  async function revalidateOrServeStale(
    cached: CachedList,
    maxAgeMs: number,
    signal: AbortSignal | undefined,
  ): Promise<BindingsResult> {
    if (!breaker.tryRequest())
      return serveStale(
        cached,
        breaker.lastError() ?? new ClientError('unavailable', 'The server did not respond recently'),
      );
    const flight = revalidate(cached, cached, 0);
    const timeout = startTimer(clock, revalidateTimeoutMs);
    try {
      const response = flight.wait(signal);
      const result = await Promise.race([response, timeout.elapsed]);
      if (result !== undefined) return result;
      if (!isServable(cached, maxAgeMs)) return await response; // it expired during the wait
      flight.detach();
      const text = `The server took longer than ${revalidateTimeoutMs} ms; its response will update the cache`;
      return serveStale(cached, new ClientError('timeout', text));
    } catch (cause) {
      const error = cause as ClientError;
      if (signal?.aborted || mustFail(error) || !isServable(cached, maxAgeMs)) throw error;
      return serveStale(cached, error);
    } finally {
      timeout.cancel();
    }
  }

  /** Errors after which no cached list is served. */
  function mustFail(error: ClientError): boolean {
    return isGone(error) || error.code === 'closed' || (isUnauthorized(error) && !settings.staleOnUnauthorized);
  }

  /** Refetches a list after a change event. */
  async function refetch(key: BindingsKey): Promise<void> {
    // The first response may belong to a request that began before the event.
    for (let time = 0; time < 2; time++) {
      const cached = memory.get(cacheKeyOf(key));
      if (cached === undefined || isCurrent(cached)) return;
      const flight = revalidate(key, cached, retry.maxRetries);
      flight.detach();
      try {
        await flight.wait(undefined);
      } catch {
        return; // the next call asks again
      }
    }
  }

  async function find(
    key: BindingsKey,
    { signal, maxAgeMs = settings.maxAgeMs }: CallOptions,
  ): Promise<BindingsResult> {
    if (signal?.aborted) throw aborted(signal);
    changes?.follow(key.extensionPointId);
    const cached = memory.get(cacheKeyOf(key)) ?? (await restore(key, signal));
    if (cached !== undefined && isFresh(cached, maxAgeMs)) return resultOf(cached, 'memory');
    const servable = cached !== undefined && isServable(cached, maxAgeMs) ? cached : undefined;
    if (settings.isOffline) {
      if (servable === undefined) throw new ClientError('offline', 'The list is not cached and the client is offline');
      return serveStale(servable, new ClientError('offline', 'The client is offline'));
    }
    if (servable !== undefined) return revalidateOrServeStale(servable, maxAgeMs, signal);
    return revalidate(key, cached, retry.maxRetries).wait(signal);
  }

  const refetches = createWorkQueue(maxConcurrentRefetches, cacheKeyOf, refetch);

  return {
    async get(key: BindingsKey, options: CallOptions): Promise<BindingsResult> {
      try {
        return await find(key, options);
      } catch (error) {
        if (events.has('lookup')) events.emit('lookup', { kind: 'list', source: 'failed', isStale: false });
        throw error;
      }
    },
    /** The list that `get()` would return without a request, if it is in memory and fresh. Emits nothing. */
    getFresh(key: BindingsKey, maxAgeMs: number = settings.maxAgeMs): CachedList | undefined {
      const cached = memory.get(cacheKeyOf(key));
      if (cached === undefined || !isFresh(cached, maxAgeMs)) return undefined;
      changes?.follow(key.extensionPointId);
      return cached;
    },
    useChanges(source: ChangeSource): void {
      changes = source;
    },
    nextSequence: (): number => ++sequence,
    invalidate(key: BindingsKey): void {
      const cacheKey = cacheKeyOf(key);
      const cached = memory.get(cacheKey);
      if (cached === undefined && !singleflight.has(cacheKey)) return;
      if (cached !== undefined) memory.set(cacheKey, { ...cached, checkedMs: confirmedMsOf(cached) }, 1);
      changedAt.set(cacheKey, ++sequence);
      if (cached !== undefined && !settings.isOffline) refetches.add(key);
    },
    abortAll(reason: ClientError): void {
      refetches.clear();
      singleflight.abortAll(reason);
    },
  };
}

/** The server doesn't know the extension point, or the token may not see it. A proxy's 404 has no such code. */
function isGone(error: unknown): boolean {
  return error instanceof ClientError && error.status === 404 && error.code === 'not_found';
}
