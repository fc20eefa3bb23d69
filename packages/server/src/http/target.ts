import { oauthPaths } from '@tenon/protocol';

/** A request's target, made ready for the router. */
export interface Target {
  /** With the query. */
  readonly path: string;
  readonly rawWildcard: string | undefined;
}

const wellKnown = oauthPaths.metadata;

/**
 * Reads request targets: takes away the path prefix of the public URLs, under which a proxy may pass requests on as they are (or at the
 * end, in the address that RFC 8414 §3.1 makes of an issuer with a path), and the raw wildcards, which the router must not decode:
 * a bad escape there may be refused only after the caller was authorized.
 *
 * @param rawWildcards as {@link rawWildcardPattern} makes them
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
    // RFC 9112 §3.2.2: a server takes the absolute form too.
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

/** Matches a path with what stands for the `*` at the end of a template, up to the query. */
export function rawWildcardPattern(template: string): RegExp {
  const before = template.slice(0, -1).split('/');
  const segments = before.map((segment) => (segment.startsWith(':') ? '[^/?#]*' : RegExp.escape(segment)));
  return new RegExp(`^${segments.join('/')}([^?]*)`);
}

/** The well-known path without the issuer's own, which follows it. */
function withoutIssuerPath(path: string, prefixes: readonly string[]): string {
  const [target = '', query] = path.split('?', 2);
  const isOurs = prefixes.some((prefix) => target === wellKnown + prefix);
  return isOurs ? wellKnown + (query === undefined ? '' : `?${query}`) : path;
}
