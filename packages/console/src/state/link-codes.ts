import { basePath, currentPath } from '../base-path.ts';

/*
 * Codes that come with a link: an invitation's in the query (the interface says so), those of the operator's links in the
 * fragment, which no server sees. Each is taken off the address bar before anything is drawn, so that it stands neither in the
 * history nor in a screenshot, and kept in this tab until it is used: people reload, and sign in or up in between.
 */

export type LinkCodeKind = 'accept-invite' | 'set-up' | 'reset-password';

const keyOf = (kind: LinkCodeKind): string => `tenon.code:${basePath}${kind}`;

/** Takes the code of the page that is opened, if it has one, off the address bar. To be called before the router reads it. */
export function keepLinkCode(): void {
  const url = new URL(location.href);
  const page = currentPath().split('?', 1)[0];
  if (page === '/accept-invite') {
    const code = url.searchParams.get('code');
    url.searchParams.delete('code');
    keep('accept-invite', code, url);
  } else if (page === '/set-up' || page === '/reset-password') {
    const code = new URLSearchParams(url.hash.slice(1)).get('code');
    url.hash = '';
    keep(page === '/set-up' ? 'set-up' : 'reset-password', code, url);
  }
}

function keep(kind: LinkCodeKind, code: string | null, url: URL): void {
  if (code === null) return;
  sessionStorage.setItem(keyOf(kind), code);
  history.replaceState(null, '', url);
}

/** The code that a link of the kind has brought into this tab. */
export function linkCode(kind: LinkCodeKind): string | undefined {
  return sessionStorage.getItem(keyOf(kind)) ?? undefined;
}

/** Once it is used, or turns out to be of no use. */
export function forgetLinkCode(kind: LinkCodeKind): void {
  sessionStorage.removeItem(keyOf(kind));
}
