import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Settings } from '../../config/settings.ts';
import type { Clock } from '../../db/store.ts';
import { fetchIssuerJson, IssuerFetchError, type IssuerFetchOptions } from './issuer-fetch.ts';

/** The public keys of issuers. */
export type IssuerKeys = ReturnType<typeof createIssuerKeys>;

interface IssuerKeyOptions {
  readonly settings: Pick<Settings, 'trustedIssuers'>;
  readonly clock: Clock;
  readonly lookup?: IssuerFetchOptions['lookup'];
  /** How long a request may take, in milliseconds. */
  readonly timeoutMs?: number;
}

/** How long keys are used without asking again. An issuer that withdraws a key is trusted no longer than this. */
const maxAgeMs = 10 * 60_000;

/** How long the server waits before it fetches the keys of an issuer again: because of an unknown key, or after a failure. */
const coolDownMs = 30_000;

const maxDocumentBytes = 256 * 1024;
const maxKeys = 100;

/** The length of the modulus of an RSA key of 8,192 bits, in base64url. Verifying with larger keys is slow. */
const maxModulusLength = 1366;

/** The number of issuers whose keys are cached, and of requests at the same time. */
const maxIssuers = 1000;
const maxRequests = 32;

interface Entry {
  keys: JWTVerifyGetKey | undefined;
  fetchedAtMs: number;
  triedAtMs: number;
  loading: Promise<void> | undefined;
}

/**
 * Creates the cache of issuers' keys. Requests for one issuer share a fetch. An issuer is asked at most once in {@link coolDownMs}, however
 * many tokens with unknown keys come.
 */
export function createIssuerKeys({ settings, clock, lookup, timeoutMs = 5000 }: IssuerKeyOptions) {
  const entries = new Map<string, Entry>();
  let requests = 0;

  const entryOf = (issuer: string): Entry => {
    const known = entries.get(issuer);
    const entry = known ?? { keys: undefined, fetchedAtMs: 0, triedAtMs: Number.NEGATIVE_INFINITY, loading: undefined };
    entries.delete(issuer);
    entries.set(issuer, entry); // the most recently used is last
    for (const oldest of entries.keys()) {
      if (entries.size <= maxIssuers) break;
      entries.delete(oldest);
    }
    return entry;
  };
  const load = async (issuer: string, entry: Entry): Promise<void> => {
    if (requests >= maxRequests) throw new IssuerFetchError('Too many requests to issuers');
    requests++;
    entry.triedAtMs = clock();
    try {
      const mayBePrivate = settings.trustedIssuers.includes(issuer);
      const options = { maxBytes: maxDocumentBytes, timeoutMs, mayBePrivate, ...(lookup && { lookup }) };
      entry.keys = createLocalJWKSet(await fetchKeys(issuer, options));
      entry.fetchedAtMs = clock();
    } finally {
      requests--;
    }
  };
  /** Fetches the keys, unless that was tried recently. Returns whether the keys were fetched. */
  const refresh = async (issuer: string, entry: Entry): Promise<boolean> => {
    if (entry.loading === undefined) {
      if (entry.triedAtMs + coolDownMs > clock()) return false;
      entry.loading = load(issuer, entry).finally(() => {
        entry.loading = undefined;
      });
    }
    await entry.loading;
    return true;
  };
  return {
    /**
     * Returns a function that finds the key of a token, for `jwtVerify()`. If no key matches, it fetches the keys again, because the issuer
     * may have rotated them.
     *
     * @throws IssuerFetchError; the errors of `createLocalJWKSet()`
     */
    of(issuer: string): JWTVerifyGetKey {
      return async (header, token) => {
        const entry = entryOf(issuer);
        if (entry.keys === undefined || entry.fetchedAtMs + maxAgeMs <= clock()) {
          entry.keys = undefined;
          await refresh(issuer, entry);
        }
        if (entry.keys === undefined) throw new IssuerFetchError('The last request failed');
        try {
          return await entry.keys(header, token);
        } catch (error) {
          if (!(error instanceof errors.JWKSNoMatchingKey) || !(await refresh(issuer, entry))) throw error;
          return entry.keys(header, token);
        }
      };
    },
  };
}

/** Reads the discovery document (OpenID Connect Discovery 1.0 §4), and the keys that it refers to. */
async function fetchKeys(issuer: string, options: IssuerFetchOptions): Promise<JSONWebKeySet> {
  const discovery = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const metadata = (await fetchIssuerJson(discovery, options)) as { issuer?: unknown; jwks_uri?: unknown } | null;
  // §4.3: the issuer must be the one that was asked.
  if (metadata?.issuer !== issuer) throw new IssuerFetchError('The discovery document is of another issuer');
  if (typeof metadata.jwks_uri !== 'string' || !URL.canParse(metadata.jwks_uri)) {
    throw new IssuerFetchError('The discovery document has no "jwks_uri"');
  }
  const url = new URL(metadata.jwks_uri);
  if (url.protocol !== 'https:' && !(options.mayBePrivate && url.protocol === 'http:')) {
    throw new IssuerFetchError('"jwks_uri" is not an https URL');
  }
  const found = (await fetchIssuerJson(url, options)) as { keys?: unknown } | null;
  if (!Array.isArray(found?.keys) || found.keys.length > maxKeys)
    throw new IssuerFetchError('"keys" is not a list of keys');
  return { keys: found.keys.filter(isUsable) };
}

function isUsable(key: unknown): key is JSONWebKeySet['keys'][number] {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, n } = key as { kty?: unknown; n?: unknown };
  if (kty === 'RSA') return typeof n === 'string' && n.length <= maxModulusLength;
  return kty === 'EC' || kty === 'OKP';
}
