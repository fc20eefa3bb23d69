import { oauthPaths } from '@tenon/protocol';

/** What stands before the guest key in A2's path. */
const bindings = /^\/api\/v1\/extension-points\/[^/?#]*\/bindings\//;

const wellKnown = oauthPaths.metadata;

/**
 * Makes of a request's target what the router gets: without the path prefix of the public URLs, under which a proxy may pass
 * requests on as they are (or at the end, in the address that RFC 8414 §3.1 makes of an issuer with a path), and without A2's
 * guest key, which must come as it was sent (see `guest-key-path.ts`) and may be refused only after the caller was let in, while
 * the router would refuse a bad escape at once.
 */
export function createUrlRewriter(publicUrls: () => readonly string[]): (url: string) => string {
  let prefixes: readonly string[] | undefined;
  return (url) => {
    prefixes ??= [...new Set(publicUrls().map((each) => new URL(each).pathname.replace(/\/+$/, '')))].filter(
      (prefix) => prefix !== '',
    );
    // RFC 9112 §3.2.2: a server takes the absolute form too.
    let path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/');
    for (const prefix of prefixes) {
      if (path.startsWith(prefix) && (path[prefix.length] === '/' || path.length === prefix.length)) {
        path = path.slice(prefix.length) || '/';
        break;
      }
    }
    if (path.startsWith(`${wellKnown}/`)) path = withoutIssuerPath(path, prefixes);
    return bindings.exec(path)?.[0] ?? path;
  };
}

/** The well-known path without the issuer's own, which follows it. */
function withoutIssuerPath(path: string, prefixes: readonly string[]): string {
  const [target = '', query] = path.split('?', 2);
  const isOurs = prefixes.some((prefix) => target === wellKnown + prefix);
  return isOurs ? wellKnown + (query === undefined ? '' : `?${query}`) : path;
}
