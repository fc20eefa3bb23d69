import { basePath, currentPath } from '../base-path.ts';

/*
 * Codes that come with a link: an invitation's in the query (the interface says so), those of the operator's links in the
 * fragment, which no server sees. Each is taken off the address bar before anything is drawn, so that it stands neither in the
 * history nor in a screenshot, and kept in this tab until it is used: people reload, and sign in or up in between.
 */

export type LinkCodeKind = 'accept-invite' | 'set-up' | 'reset-password';

const keyOf = (kind: LinkCodeKind): string => `tenon.code:${basePath}${kind}`;

/**
 * Takes the code of the page that is opened, if it has one, off the address bar. To be called before the router reads it.
 *
 * @returns whether there was one
 */
export function storeLinkCode(): boolean {
  const url = new URL(location.href);
  const kind = currentPath().split('?', 1)[0]?.slice(1);
  let code: string | null = null;
  if (kind === 'accept-invite') {
    code = url.searchParams.get('code');
    url.searchParams.delete('code');
  } else if (kind === 'set-up' || kind === 'reset-password') {
    code = new URLSearchParams(url.hash.slice(1)).get('code');
    url.hash = '';
  } else return false;
  if (code === null) return false;
  sessionStorage.setItem(keyOf(kind), code);
  history.replaceState(null, '', url);
  return true;
}

/** Reads the code of a link of this kind that was opened in this tab. */
export function readLinkCode(kind: LinkCodeKind): string | undefined {
  return sessionStorage.getItem(keyOf(kind)) ?? undefined;
}

/** Call after the code was used or rejected. */
export function clearLinkCode(kind: LinkCodeKind): void {
  sessionStorage.removeItem(keyOf(kind));
}
