import type { BindingList } from './bindings.ts';
import type { Clock } from './clock.ts';
import { demandDigest } from './digest.ts';
import { aborted, ClientError } from './errors.ts';
import type { Emitter, ListKey, Source } from './events.ts';
import { createFlights, type Flight } from './flights.ts';
import type { Health } from './health.ts';
import { decode, entityTag, type KeptList, keyOf, nameOf, opaque, readText } from './kept-list.ts';
import type { KeptStore, StoredList } from './kept-store.ts';
import { createLru } from './lru.ts';
import type { Settings } from './options.ts';
import type { Requester } from './requester.ts';
import type { Answer } from './transport.ts';
import { createWorkQueue } from './work-queue.ts';

/** A list, and how sure one can be of it. */
export interface ListAnswer {
  readonly list: BindingList;
  /** The list's entity tag. */
  readonly etag: string | undefined;
  readonly source: Source;
  /** How long ago the server last said that it holds, in milliseconds. `Infinity` when that can't be told. */
  readonly ageMs: number;
  /** Whether it is served although it should have been asked for, and could not be. */
  readonly isStale: boolean;
  /** Why not. */
  readonly problem: ClientError | undefined;
}

export interface ListOptions {
  /** Ends this call. The others that wait for the same answer get it. */
  readonly signal?: AbortSignal | undefined;
  /** In place of `staleMs`, for this call. */
  readonly maxAgeMs?: number | undefined;
}

/**
 * What tells that lists have changed, so that they need not be asked for again and again. Turns count what happens, one by one: a list that was
 * asked for at a turn at or after which all changes are told, and that was not told of since, is as the server has it.
 */
export interface News {
  /** The lists of an extension point are in use: begins to listen to what happens there. Called each time; must be cheap. */
  follow(extensionPointId: string): void;
  /** The turn from which on every change to lists of the extension point has been told of; `undefined` when that isn't so. */
  toldSince(extensionPointId: string): number | undefined;
}

/** What `News` tells. */
export interface NewsReceiver {
  /** Counts one further turn, and gives it. */
  nextTurn(): number;
  /** A list has changed: it is asked for anew, at once if it is held in memory. */
  changed(key: ListKey): void;
}

export interface Lists extends NewsReceiver {
  lookUp(key: ListKey, options: ListOptions): Promise<ListAnswer>;
  /** The list in memory, if it can be used as it is: what {@link lookUp} would say without asking anybody. Tells nobody. */
  fresh(key: ListKey, maxAgeMs: number | undefined): KeptList | undefined;
  useNews(news: News): void;
  endAll(reason: ClientError): void;
}

export interface ListParts {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly requester: Requester;
  readonly health: Health;
  readonly kept: KeptStore | undefined;
}

/** How many lists of which there was news are asked for at once: one publish may change a thousand. */
const maxRenewals = 8;

/** How often the store is told that a list still holds, at most. */
const storeAgainMs = 60_000;

export function createLists({ settings, events, requester, health, kept }: ListParts): Lists {
  const { clock, staleMs, maxStaleMs, patienceMs, retry, limits } = settings;
  const memory = createLru<KeptList>(settings.memory.maxLists);
  const flights = createFlights();
  /** Lists that `stale` was told of, and not yet `recovered`. */
  const staleNames = new Set<string>();
  /** The turn at which news came of a list that has not been asked for since. */
  const changedAt = new Map<string, number>();
  let news: News | undefined;
  let turn = 0;

  const ageOf = ({ checkedMs }: KeptList) => clock.monotonicMs() - checkedMs;
  /** By the clock that says more: the monotonic one may stand still while the machine is suspended. */
  const longestAgeOf = (held: KeptList) => Math.max(ageOf(held), clock.wallMs() - held.checkedAtMs);
  const isServable = (held: KeptList) => ageOf(held) <= maxStaleMs;
  const isTold = (held: KeptList) => held.turn > (changedAt.get(nameOf(held)) ?? 0);

  function isFresh(held: KeptList, maxAgeMs: number): boolean {
    if (!held.isConfirmed || maxAgeMs === 0) return false;
    if (!isTold(held)) return false;
    if (longestAgeOf(held) < maxAgeMs) return true;
    const told = news?.toldSince(held.extensionPointId);
    return told !== undefined && held.turn >= told;
  }

  function answer(held: KeptList, source: Source, problem?: ClientError): ListAnswer {
    const isStale = problem !== undefined;
    if (events.has('lookup')) events.emit('lookup', { kind: 'list', source, isStale });
    return { list: held.list, etag: held.etag, source, ageMs: ageOf(held), isStale, problem };
  }

  function serveStale(held: KeptList, problem: ClientError): ListAnswer {
    const name = nameOf(held);
    if (!settings.isOffline && !staleNames.has(name)) {
      staleNames.add(name);
      events.emit('stale', { ...keyOf(held), ageMs: ageOf(held), problem });
    }
    return answer(held, held.isConfirmed ? 'memory' : 'store', problem);
  }

  /** The list as the store has it, if it has. */
  function restore(key: ListKey, signal: AbortSignal | undefined): Promise<KeptList | undefined> {
    if (kept === undefined) return Promise.resolve(undefined);
    const work = async () => {
      const stored = await kept.readList(key);
      const present = memory.get(nameOf(key));
      if (stored === undefined || present !== undefined) return present;
      const held = heldFrom(stored);
      memory.set(nameOf(key), held, 1);
      return held;
    };
    return flights.join(`restore ${nameOf(key)}`, work).wait(signal);
  }

  function heldFrom({ text, etag, checkedAtMs, ...key }: StoredList): KeptList {
    const nowMs = clock.monotonicMs();
    const ageMs = clock.wallMs() - checkedAtMs;
    // A time to come means that some clock was set: then nothing is known about the age.
    const checkedMs = ageMs >= 0 ? nowMs - ageMs : Number.NEGATIVE_INFINITY;
    const known = { ...keyOf(key), ...readText(text), etag, checkedMs, checkedAtMs };
    return { ...known, turn: 0, storedMs: nowMs, isConfirmed: false };
  }

  function ask(key: ListKey, held: KeptList | undefined, attempts: number): Flight<ListAnswer> {
    return flights.join(nameOf(key), async (signal) => {
      const asked = { turn: ++turn, checkedMs: clock.monotonicMs(), checkedAtMs: clock.wallMs() };
      const headers = { accept: 'application/json', ...(held?.etag ? { 'if-none-match': held.etag } : {}) };
      const path = `/api/v1/extension-points/${key.extensionPointId}/bindings/${encodeURIComponent(key.guestKey)}`;
      const request = {
        operation: 'bindings',
        path,
        headers,
        maxBytes: limits.maxListBytes,
        cache: 'no-store',
      } as const;
      try {
        return await requester.ask(request, attempts, signal, async (got) => {
          if (got.status === 200) await demandDigest(got.headers, got.bytes);
          return take(key, held, got, asked);
        });
      } catch (error) {
        if (isGone(error)) forget(key);
        throw error;
      }
    });
  }

  function take(
    key: ListKey,
    before: KeptList | undefined,
    { status, headers, bytes }: Answer,
    asked: Pick<KeptList, 'turn' | 'checkedMs' | 'checkedAtMs'>,
  ): ListAnswer {
    const name = nameOf(key);
    const etag = entityTag(headers);
    if (status === 304 && (before === undefined || (etag !== undefined && opaque(etag) !== opaque(before.etag)))) {
      if (before !== undefined) memory.set(name, { ...before, etag: undefined }, 1); // the next request has no condition
      throw new ClientError('unexpected_answer', 'The server confirmed another list than the one that was asked about');
    }
    const content =
      status === 304 && before !== undefined
        ? { list: before.list, newest: before.newest, text: before.text, etag: before.etag }
        : { ...readText(decode(bytes)), etag };
    const isSame = before !== undefined && before.text === content.text && before.etag === content.etag;
    const isStoredLately = isSame && asked.checkedMs - before.storedMs < storeAgainMs;
    const storedMs = isStoredLately ? before.storedMs : asked.checkedMs;
    const held: KeptList = { ...keyOf(key), ...content, ...asked, storedMs, isConfirmed: true };
    memory.set(name, held, 1);
    if (isTold(held)) changedAt.delete(name);
    if (!isStoredLately) {
      kept?.writeList({ ...keyOf(key), text: held.text, etag: held.etag, checkedAtMs: held.checkedAtMs });
    }
    if (staleNames.delete(name)) events.emit('recovered', keyOf(key));
    if (before !== undefined && before.text !== held.text) {
      events.emit('changed', { ...keyOf(key), list: held.list, previous: before.list });
    }
    return answer(held, status === 304 ? 'not_modified' : 'network');
  }

  /** What the server says there is no more, is served no more. */
  function forget(key: ListKey): void {
    const name = nameOf(key);
    memory.delete(name);
    staleNames.delete(name);
    changedAt.delete(name);
    kept?.deleteList(key);
  }

  /** Asks, and falls back on what is held if no answer comes in time. */
  async function askPatiently(held: KeptList, signal: AbortSignal | undefined): Promise<ListAnswer> {
    if (!health.mayAsk()) return serveStale(held, health.trouble() ?? unwell());
    const flight = ask(held, held, 1);
    const patience = waitFor(clock, patienceMs);
    try {
      const answered = flight.wait(signal);
      const got = await Promise.race([answered, patience.over]);
      if (got !== undefined) return got;
      if (!isServable(held)) return await answered; // it has become too old meanwhile
      flight.goOn();
      const text = `The server took longer than ${patienceMs} ms; its answer is still waited for`;
      return serveStale(held, new ClientError('timeout', text));
    } catch (cause) {
      const error = cause as ClientError;
      if (signal?.aborted || mustFail(error) || !isServable(held)) throw error;
      return serveStale(held, error);
    } finally {
      patience.cancel();
    }
  }

  /** Errors after which nothing that is kept is served. */
  function mustFail(error: ClientError): boolean {
    const isRefused = error.status === 401 || error.status === 403;
    return isGone(error) || error.code === 'closed' || (isRefused && settings.onRefusal === 'fail');
  }

  /** Asks for a list again of which there was news, for nobody in particular. */
  async function renew(key: ListKey): Promise<void> {
    // The first answer may be one that was under way when the news came.
    for (let time = 0; time < 2; time++) {
      const held = memory.get(nameOf(key));
      if (held === undefined || isTold(held)) return;
      const flight = ask(key, held, retry.attempts);
      flight.goOn();
      try {
        await flight.wait(undefined);
      } catch {
        return; // the next call asks again
      }
    }
  }

  async function find(key: ListKey, { signal, maxAgeMs = staleMs }: ListOptions): Promise<ListAnswer> {
    if (signal?.aborted) throw aborted(signal);
    news?.follow(key.extensionPointId);
    const held = memory.get(nameOf(key)) ?? (await restore(key, signal));
    if (held !== undefined && isFresh(held, maxAgeMs)) return answer(held, 'memory');
    const servable = held !== undefined && isServable(held) ? held : undefined;
    if (settings.isOffline) {
      if (servable === undefined)
        throw new ClientError('offline', 'The list is not kept, and the client works offline');
      return serveStale(servable, new ClientError('offline', 'The client works offline'));
    }
    if (servable !== undefined) return askPatiently(servable, signal);
    return ask(key, held, retry.attempts).wait(signal);
  }

  const renewals = createWorkQueue(maxRenewals, nameOf, renew);

  return {
    async lookUp(key, options) {
      try {
        return await find(key, options);
      } catch (error) {
        if (events.has('lookup')) events.emit('lookup', { kind: 'list', source: 'failed', isStale: false });
        throw error;
      }
    },
    fresh(key, maxAgeMs = staleMs) {
      const held = memory.get(nameOf(key));
      if (held === undefined || !isFresh(held, maxAgeMs)) return undefined;
      news?.follow(key.extensionPointId);
      return held;
    },
    useNews(source) {
      news = source;
    },
    nextTurn: () => ++turn,
    changed(key) {
      const name = nameOf(key);
      const isHeld = memory.get(name) !== undefined;
      if (!isHeld && !flights.has(name)) return;
      changedAt.set(name, ++turn);
      if (isHeld && !settings.isOffline) renewals.add(key);
    },
    endAll(reason) {
      renewals.clear();
      flights.endAll(reason);
    },
  };
}

/** The server knows of no such extension point, or of none that is this token's to see; no proxy on the way that lost it. */
function isGone(error: unknown): boolean {
  return error instanceof ClientError && error.status === 404 && error.code === 'not_found';
}

function unwell(): ClientError {
  return new ClientError('unavailable', 'The server did not answer lately');
}

function waitFor(clock: Clock, delayMs: number): { readonly over: Promise<undefined>; cancel(): void } {
  let cancel = () => {};
  const over = new Promise<undefined>((resolve) => {
    cancel = clock.setTimer(() => resolve(undefined), delayMs);
  });
  return { over, cancel: () => cancel() };
}
