/*
 * Where the console lies: the server sets `<base href>` to the path of its public URL, which may have a prefix. Every path in the
 * console's code is written without it.
 */

/** The path of the console's root, with a slash at both ends: `/`, or `/tenon/`. */
export const basePath = new URL(document.baseURI).pathname;

/** What the browser is to be given for one of the console's paths, or for one of the server's routes. */
export function href(path: string): string {
  return basePath + path.replace(/^\/+/, '');
}

/** The console's own path of where the browser is, with its query: `/apps/app_…`. */
export function currentPath(): string {
  return `/${(location.pathname + location.search).slice(basePath.length)}`;
}

/** The server's public URL, as programs are told it: without a slash at its end. */
export function serverUrl(): string {
  return location.origin + basePath.replace(/\/$/, '');
}
