import type { SessionToken } from '@tenon/protocol';
import { hasCode, toApiError, unreachable } from './api-error.ts';
import { createTokenCache } from './token-cache.ts';

export interface RequestOptions {
  /** Query parameters; those that are `undefined` are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the request when the user leaves the page. */
  readonly signal?: AbortSignal | undefined;
}

export interface ChangeOptions extends RequestOptions {
  /**
   * The resource that the change is based on: the object that `get` or `put` returned. The server rejects the change with
   * `precondition_failed` if the resource has changed since.
   */
  readonly basedOn?: object;
}

/** The dependencies of the client. */
export interface ClientDeps {
  /** The path of the console's root, with a slash at both ends. */
  readonly basePath: string;
  readonly fetch: typeof fetch;
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /**
   * Asks the user to sign in again, after the session has ended.
   *
   * @throws DOMException `AbortError` when the user cancels, or another user signs in
   */
  readonly signInAgain: () => Promise<void>;
  /**
   * Asks the user for the passkey or the password and confirms the session with it (`POST /session/confirm`).
   *
   * @throws DOMException `AbortError` when the user cancels
   */
  readonly confirm: () => Promise<void>;
}

/**
 * The public API, with a short-lived access token that only this object knows. Paths are the server's (`/api/v1/apps`). Errors are
 * `ApiError`s.
 */
export interface ApiClient {
  get<T>(path: string, options?: RequestOptions): Promise<T>;
  post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  put<T>(path: string, body?: unknown, options?: ChangeOptions): Promise<T>;
  delete(path: string, options?: RequestOptions): Promise<void>;
  /** Sends any request, for bodies that aren't JSON. Throws error responses. */
  send(
    method: string,
    path: string,
    options?: RequestOptions & { readonly body?: BodyInit | undefined },
  ): Promise<Response>;
  /** Returns the bearer token, for requests without `fetch`, such as an upload with progress. */
  accessToken(): Promise<string>;
  /** Requests resources before a page's code is loaded. The page's own `get` for the same path and query uses the response. */
  prefetch(paths: readonly string[], accessToken: string): void;
  /** Forgets the token and what was prefetched: another user may have signed in. */
  forget(): void;
}

/** The session routes, which use the browser's cookie. */
export interface SessionCalls {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  delete(path: string): Promise<void>;
}

/** How long a prefetched response can be used, in milliseconds. */
const prefetchedMs = 10_000;

export function createApiClient(parts: ClientDeps): ApiClient {
  const { clock, confirm } = parts;
  const session = createSessionCalls(parts);
  /** The entity tags of resources that were returned. */
  const etags = new WeakMap<object, string>();
  /** The responses of prefetched URLs; `undefined` for requests to repeat with the session's token. */
  const prefetched = new Map<string, Promise<Response | undefined>>();
  let prefetchedUntilMs = 0;
  const keeper = createTokenCache(async () => {
    try {
      return await session.post<SessionToken>('/session/token', {});
    } catch (error) {
      if (!hasCode(error, 'not_signed_in')) throw error;
    }
    await parts.signInAgain();
    return session.post<SessionToken>('/session/token', {});
  }, clock);

  function request(method: string, url: string, token: string, options: RequestInit): Promise<Response> {
    return reach(parts.fetch, url, {
      ...options,
      method,
      headers: { accept: 'application/json', ...options.headers, authorization: `Bearer ${token}` },
      credentials: 'omit', // the API ignores cookies
      cache: 'no-store',
    });
  }

  async function attempt(method: string, path: string, options: RequestOptions & { body?: BodyInit | undefined }) {
    const { query = {}, headers = {}, signal = null, body = null } = options;
    const url = urlOf(parts.basePath, path, query);
    const early = method === 'GET' && clock() < prefetchedUntilMs ? prefetched.get(url) : undefined;
    prefetched.delete(url);
    const found = await early;
    if (found?.ok) return found;
    if (found !== undefined) throw await toApiError(found);
    const token = await keeper.token();
    const response = await request(method, url, token, { headers, body, signal });
    if (response.ok) return response;
    const error = await toApiError(response);
    if (error.status === 401) keeper.forget(token);
    throw error;
  }

  const send: ApiClient['send'] = async (method, path, options = {}) => {
    for (const tried = new Set<string>(); ; ) {
      try {
        return await attempt(method, path, options);
      } catch (error) {
        // Each remedy once. A token may end before its time while the session goes on: `attempt` then asks for a new one.
        const code = hasCode(error, 'invalid_token', 'missing_credentials', 'step_up_required')
          ? error.code
          : undefined;
        if (code === undefined || tried.has(code)) throw error;
        tried.add(code);
        if (code === 'step_up_required') await confirm();
      }
    }
  };

  async function sendJson<T>(method: string, path: string, body: unknown, options: RequestOptions = {}): Promise<T> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { ...options.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const response = await send(method, path, { ...options, ...json, headers });
    const etag = response.headers.get('etag');
    const resource = await readJson<T>(response);
    if (etag !== null && typeof resource === 'object' && resource !== null) etags.set(resource, etag);
    return resource;
  }

  function conditions(basedOn: object | undefined): Readonly<Record<string, string>> {
    if (basedOn === undefined) return {};
    const etag = etags.get(basedOn);
    if (etag === undefined) throw new Error('The change is based on an object that has no entity tag');
    return { 'if-match': etag };
  }

  return {
    get: (path, options) => sendJson('GET', path, undefined, options),
    post: (path, body, options) => sendJson('POST', path, body, options),
    put: async (path, body, { basedOn, ...options } = {}) =>
      sendJson('PUT', path, body, { ...options, headers: { ...options.headers, ...conditions(basedOn) } }),
    async delete(path, options) {
      await send('DELETE', path, options);
    },
    send,
    accessToken: () => keeper.token(),
    prefetch(paths, accessToken) {
      for (const path of paths) {
        const url = urlOf(parts.basePath, path);
        prefetched.set(
          url,
          request('GET', url, accessToken, {}).then(unlessUnauthorized, () => undefined),
        );
      }
      prefetchedUntilMs = clock() + prefetchedMs;
    },
    forget() {
      keeper.forget();
      prefetched.clear();
    },
  };
}

export function createSessionCalls(parts: Pick<ClientDeps, 'basePath' | 'fetch'>): SessionCalls {
  const { basePath, fetch } = parts;
  async function send(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await reach(fetch, urlOf(basePath, path), {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw await toApiError(response);
  }
  return {
    get: async (path) => readJson(await send('GET', path)),
    post: async (path, body) => readJson(await send('POST', path, body)),
    put: async (path, body) => readJson(await send('PUT', path, body)),
    async delete(path) {
      await send('DELETE', path);
    },
  };
}

async function readJson<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Discards a response that a token with more rights may avoid. Without a reader, the browser would keep the request open. */
async function unlessUnauthorized(response: Response): Promise<Response | undefined> {
  if (response.status !== 401 && response.status !== 403) return response;
  await response.body?.cancel();
  return undefined;
}

async function reach(fetch: ClientDeps['fetch'], url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw unreachable(error);
  }
}

function urlOf(basePath: string, path: string, query: NonNullable<RequestOptions['query']> = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return basePath + path.replace(/^\/+/, '') + (search === '' ? '' : `?${search}`);
}
