import {
  type AttestedPlugin,
  type Provenance,
  type ProvenanceReason,
  publishPredicateType,
  verifyAttestation,
} from './attestation.ts';
import type { Binding } from './bindings.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { assertDigest } from './digest.ts';
import { aborted, ClientError, isUnauthorized } from './errors.ts';
import type { Emitter } from './events.ts';
import { createLru } from './lru.ts';
import type { Settings } from './options.ts';
import type { Requester } from './requester.ts';
import { createSingleflight } from './singleflight.ts';
import type { VerifiedStore } from './verified-store.ts';

export type Provenances = ReturnType<typeof createProvenances>;

export interface ProvenancesDeps {
  readonly settings: Settings;
  readonly events: Emitter;
  readonly requester: Requester;
  readonly breaker: CircuitBreaker;
  readonly store: VerifiedStore | undefined;
}

/** A plugin as its extension point's list binds it. */
export interface BoundPlugin {
  readonly extensionPointId: string;
  readonly name: string;
  readonly binding: Binding;
}

interface Known {
  readonly provenance: Provenance;
  /** Why the attestations can't be fetched. */
  readonly cause: ClientError | undefined;
  /** Until when it is used, by the monotonic clock. */
  readonly untilMs: number;
}

type Judged = Pick<Known, 'provenance' | 'cause'>;

const maxKnown = 10_000;

/** More attestations of one content are ignored, which bounds the work that a response can cause. */
const maxAttestations = 64;

/** How long a failed or absent provenance is used before the client asks again. */
const retryAfterMs = 60_000;

/** The provenance of plugins, by plugin and content. A verified one never expires, since keys and bytes don't change. */
export function createProvenances({ settings, events, requester, breaker, store }: ProvenancesDeps) {
  const { clock, verify, trustedKeys } = settings;
  const known = createLru<Known>(maxKnown);
  const singleflight = createSingleflight();

  const getFresh = (key: string): Known | undefined => {
    const entry = known.get(key);
    return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry : undefined;
  };

  async function find(plugin: BoundPlugin, signal: AbortSignal): Promise<Known> {
    const judged = await judge(plugin, signal);
    const { state } = judged.provenance;
    const keptMs = state === 'verified' ? Number.POSITIVE_INFINITY : judged.cause === undefined ? retryAfterMs : 0;
    const entry: Known = { ...judged, untilMs: clock.monotonicMs() + keptMs };
    const key = keyOf(plugin);
    const before = known.get(key)?.provenance;
    known.set(key, entry, 1);
    if (!isSame(before, entry.provenance)) emit(plugin, entry.provenance);
    return entry;
  }

  function emit({ name, binding: { id, contentAddress } }: BoundPlugin, provenance: Provenance): void {
    if (provenance.state !== 'verified') events.emit('provenance', { id, name, contentAddress, provenance });
  }

  async function judge(plugin: BoundPlugin, signal: AbortSignal): Promise<Judged> {
    const { binding, extensionPointId, name } = plugin;
    const { id, contentAddress } = binding;
    if (!isPluginId(id, extensionPointId, name)) {
      return withoutCause({ state: 'failed', reason: 'plugin', detail: 'The list binds a plugin of another name' });
    }
    const attested = { id, extensionPointId, contentAddress };
    const stored = await store?.readAttestations(id, contentAddress);
    const before = stored === undefined ? undefined : await verifyAny(stored, attested);
    if (before?.state === 'verified') return withoutCause(before);
    try {
      const bundles = await fetchBundles(attested, signal);
      // An attestation that failed and is gone has still failed.
      if (bundles.length === 0 && before !== undefined) return withoutCause(before);
      if (bundles.length > 0) store?.writeAttestations(id, contentAddress, bundles);
      return withoutCause(await verifyAny(bundles, attested));
    } catch (error) {
      const cause = error as ClientError;
      if (mustThrow(cause, settings)) throw cause;
      const detail = 'The attestations are not cached and cannot be fetched';
      return { provenance: before ?? { state: 'absent', reason: 'not_fetched', detail }, cause };
    }
  }

  async function fetchBundles(plugin: AttestedPlugin, signal: AbortSignal): Promise<readonly unknown[]> {
    if (settings.isOffline) throw new ClientError('offline', 'The client is offline');
    const isNeeded = verify === 'require';
    if (!isNeeded && !breaker.tryRequest()) {
      throw breaker.lastError() ?? new ClientError('unavailable', 'The server did not respond recently');
    }
    const request = {
      operation: 'attestations',
      path: `/api/v1/artifacts/${plugin.id}/attestations?contentAddress=${plugin.contentAddress}&kind=publish`,
      headers: { accept: 'application/json' },
      maxBytes: settings.limits.maxListBytes,
      cache: 'no-store',
    } as const;
    try {
      return await requester.send(request, isNeeded ? settings.retry.maxRetries : 0, signal, async (response) => {
        await assertDigest(response.headers, response.bytes);
        return readBundles(response.bytes);
      });
    } catch (error) {
      const { status, code } = error as ClientError;
      if (status === 404 && code === 'not_found') return []; // a proxy's 404 has no such code
      throw error;
    }
  }

  /** Verified if one of the attestations is, since each version with the same bytes has its own. */
  async function verifyAny(bundles: readonly unknown[], plugin: AttestedPlugin): Promise<Provenance> {
    let last: Provenance = {
      state: 'absent',
      reason: 'no_attestation',
      detail: 'The server has no publish attestation of this plugin and content',
    };
    for (const bundle of bundles) {
      last = await verifyAttestation(bundle, plugin, trustedKeys);
      if (last.state === 'verified') return last;
    }
    return last;
  }

  function accept({ provenance, cause }: Known): Provenance {
    if (provenance.state === 'verified' || verify !== 'require') return provenance;
    const { state, reason, detail } = provenance;
    throw new ClientError(`provenance_${state}`, detail, { reason, cause });
  }

  return {
    /**
     * The provenance of a plugin. `undefined` if the client doesn't verify.
     *
     * @throws ClientError `provenance_failed`, `provenance_absent` if it must be verified and isn't
     */
    async check(plugin: BoundPlugin, signal: AbortSignal | undefined): Promise<Provenance | undefined> {
      if (verify === 'off') return undefined;
      if (signal?.aborted) throw aborted(signal);
      const key = keyOf(plugin);
      const fresh = getFresh(key);
      if (fresh !== undefined) return accept(fresh);
      return accept(await singleflight.join(key, (ended) => find(plugin, ended)).wait(signal));
    },
    /** What `check()` would return without reading or asking, or `'unknown'`. Emits nothing. */
    getKnown(plugin: BoundPlugin): Provenance | undefined | 'unknown' {
      if (verify === 'off') return undefined;
      const provenance = getFresh(keyOf(plugin))?.provenance;
      if (provenance === undefined || (verify === 'require' && provenance.state !== 'verified')) return 'unknown';
      return provenance;
    },
    abortAll: (reason: ClientError): void => singleflight.abortAll(reason),
  };
}

function keyOf({ extensionPointId, name, binding: { id, contentAddress } }: BoundPlugin): string {
  return JSON.stringify([extensionPointId, name, id, contentAddress]);
}

/** The id becomes part of a path. */
function isPluginId(id: string, extensionPointId: string, name: string): boolean {
  const [extensionPoint, kind, user = '', last, ...more] = id.split('/');
  return (
    extensionPoint === extensionPointId &&
    kind === 'plugin' &&
    /^[A-Za-z0-9_-]+$/.test(user) &&
    last === name &&
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) &&
    more.length === 0
  );
}

/** The bundles of the publish attestations. @throws ClientError `unexpected_response` */
function readBundles(bytes: Uint8Array): readonly unknown[] {
  let objects: unknown;
  try {
    ({ objects } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {}
  if (!Array.isArray(objects)) throw new ClientError('unexpected_response', 'The response has no list of attestations');
  return objects
    .filter((each) => each?.kind === 'publish' || each?.predicateType === publishPredicateType)
    .slice(0, maxAttestations)
    .map(({ bundle }: { readonly bundle: unknown }) => bundle ?? null);
}

function mustThrow(error: ClientError, { staleOnUnauthorized }: Settings): boolean {
  const isFinal = ['aborted', 'closed', 'invalid_option'].includes(error.code);
  return isFinal || (isUnauthorized(error) && !staleOnUnauthorized);
}

function withoutCause(provenance: Provenance): Judged {
  return { provenance, cause: undefined };
}

function isSame(one: Provenance | undefined, other: Provenance): boolean {
  const reasonOf = (each: Provenance | undefined): ProvenanceReason | undefined =>
    each === undefined || each.state === 'verified' ? undefined : each.reason;
  return one?.state === other.state && reasonOf(one) === reasonOf(other);
}
