import { basePath } from '../base-path.ts';

/*
 * The path to open after sign-in. The router stores it in this tab. It is never read from a URL, so no link can redirect a user
 * who has entered a password.
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
