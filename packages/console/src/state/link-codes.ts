import { basePath, currentPath } from '../base-path.ts';

/*
 * Codes of links: an invitation's is in the query, those of operator links are in the fragment, which isn't sent to the server.
 * Each is removed from the URL before anything renders, so that it appears in no history or screenshot, and stored in this tab
 * until it is used, because users reload or sign in before.
 */

export type LinkCodeKind = 'accept-invite' | 'set-up' | 'reset-password';

const keyOf = (kind: LinkCodeKind): string => `tenon.code:${basePath}${kind}`;

/**
 * Moves the code of the opened page from the URL to the tab's storage. Call before the router reads the URL.
 *
 * @returns whether there was a code
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
