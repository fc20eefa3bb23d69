/*
 * The path of the console: the server sets `<base href>` to the path of its public URL, which may have a prefix. Paths in the
 * console's code don't include it.
 */

/** The path of the console's root, with a slash at both ends: `/`, or `/tenon/`. */
export const basePath = new URL(document.baseURI).pathname;

/** The URL path for a path of the console or of the server. */
export function href(path: string): string {
  return basePath + path.replace(/^\/+/, '');
}

/** The current path of the console, with its query: `/apps/app_…`. */
export function currentPath(): string {
  return `/${(location.pathname + location.search).slice(basePath.length)}`;
}

/** The server's public URL, without a trailing slash. */
export function serverUrl(): string {
  return location.origin + basePath.replace(/\/$/, '');
}
