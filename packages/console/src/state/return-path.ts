import { basePath } from '../base-path.ts';

/*
 * Where somebody was going who has to sign in first. It is kept by the router itself, in this tab, and never read from a URL: so
 * no link can say where a person ends up after giving a password.
 */

const key = `tenon.next:${basePath}`;

/** @param path a path of the console, with its query: `/device?user_code=…` */
export function saveReturnPath(path: string): void {
  sessionStorage.setItem(key, path);
}

/** Takes what was remembered, `/` when nothing was. */
export function takeReturnPath(): string {
  const path = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  // Scripts of other pages below the same origin could have written it.
  return path !== null && /^\/(?![/\\])/.test(path) ? path : '/';
}
