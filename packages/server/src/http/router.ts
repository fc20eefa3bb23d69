import { oauthPaths } from '@tenon/protocol';
import findMyWay from 'find-my-way';
import { DomainError } from './domain-errors.ts';
import type { Endpoint } from './endpoint.ts';
import type { ErrorFormat } from './http-error.ts';

interface Match {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly rawWildcard: string | undefined;
}

/** Describes a path, for all methods. */
interface PathInfo {
  /** Sorted, for `allow`. */
  readonly methods: readonly string[];
  /** Whether scripts of any origin may call all its routes. */
  readonly isForAnyOrigin: boolean;
  /** Whether it is a page for browsers. */
  readonly isPage: boolean;
  readonly errorFormat: ErrorFormat | undefined;
}

export type Router = ReturnType<typeof createRouter>;

const routedMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * @param publicUrls their paths are prefixes that the router removes
 * @param maxParamLength longer parameters don't match
 */
export function createRouter(
  endpoints: readonly Endpoint[],
  publicUrls: () => readonly string[],
  maxParamLength: number,
) {
  const handler = (): void => {};
  const tree = findMyWay({ maxParamLength, onBadUrl: handler });
  for (const endpoint of endpoints) {
    const { method, path } = endpoint.route;
    tree.on(method === 'GET' ? ['GET', 'HEAD'] : method, path, handler, endpoint);
  }
  const raw = endpoints.filter(({ route }) => route.rawWildcard).map(({ route }) => rawWildcardPattern(route.path));
  const readTarget = createTargetReader(publicUrls, raw);

  const find = (method: string, target: string): Match | undefined => {
    const { path, rawWildcard } = readTarget(target);
    const found = tree.find(method as 'GET', path);
    if (found === null) return undefined;
    if (found.store === null) {
      throw new DomainError('invalid_request', 'The path has an invalid percent-encoding.');
    }
    const params = found.params as Record<string, string>;
    return { endpoint: found.store as Endpoint, params, query: found.searchParams, rawWildcard };
  };
  return {
    endpoints,
    /** Removes the prefix of the public URLs from a target. The result includes the query. */
    pathOf: (target: string): string => readTarget(target).path,
    /** @throws DomainError `invalid_request` for a path with an invalid escape */
    find,
    /** Returns `undefined` for an unknown path. Ignores the query. */
    pathInfo(target: string): PathInfo | undefined {
      const found = routedMethods.flatMap((method) => find(method, target)?.endpoint ?? []);
      const [first] = found;
      if (first === undefined) return undefined;
      const methods = new Set<string>(['OPTIONS', ...found.map(({ route }) => route.method)]);
      if (methods.has('GET')) methods.add('HEAD');
      return {
        methods: [...methods].sort(),
        isForAnyOrigin: found.every(({ matched }) => matched.isForAnyOrigin),
        isPage: found.some(({ route }) => route.page === true),
        errorFormat: first.route.errorFormat,
      };
    },
  };
}

export interface Target {
  /** Includes the query. */
  readonly path: string;
  readonly rawWildcard: string | undefined;
}

const wellKnown = oauthPaths.metadata;

/**
 * Returns a function that normalizes request targets. It removes the path of the public URLs, which a proxy may leave in place. In the
 * metadata URL of an OAuth issuer with a path, it is at the end (RFC 8414 §3.1). The function also separates raw wildcards: the router
 * must not decode them, because an invalid escape in them is reported only after the caller was authorized.
 *
 * @param rawWildcards results of {@link rawWildcardPattern}
 */
export function createTargetReader(
  publicUrls: () => readonly string[],
  rawWildcards: readonly RegExp[],
): (target: string) => Target {
  let prefixes: readonly string[] | undefined;
  return (target) => {
    prefixes ??= [...new Set(publicUrls().map((each) => new URL(each).pathname.replace(/\/+$/, '')))].filter(
      (prefix) => prefix !== '',
    );
    // RFC 9112 §3.2.2: a server must accept the absolute form too.
    let path = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*\/?/i, '/');
    for (const prefix of prefixes) {
      if (path.startsWith(prefix) && (path[prefix.length] === '/' || path.length === prefix.length)) {
        path = path.slice(prefix.length) || '/';
        break;
      }
    }
    if (path.startsWith(`${wellKnown}/`)) path = withoutIssuerPath(path, prefixes);
    for (const pattern of rawWildcards) {
      const [before, rawWildcard] = pattern.exec(path) ?? [];
      if (before !== undefined)
        return { path: before.slice(0, before.length - (rawWildcard?.length ?? 0)), rawWildcard };
    }
    return { path, rawWildcard: undefined };
  };
}

/** Returns a pattern for a template that ends in `*`. It captures the value of the wildcard, without the query. */
export function rawWildcardPattern(template: string): RegExp {
  const before = template.slice(0, -1).split('/');
  const segments = before.map((segment) => (segment.startsWith(':') ? '[^/?#]*' : RegExp.escape(segment)));
  return new RegExp(`^${segments.join('/')}([^?]*)`);
}

/** Removes the issuer's path from the end of a well-known path. */
function withoutIssuerPath(path: string, prefixes: readonly string[]): string {
  const [target = '', query] = path.split('?', 2);
  const isOurs = prefixes.some((prefix) => target === wellKnown + prefix);
  return isOurs ? wellKnown + (query === undefined ? '' : `?${query}`) : path;
}
