import { usageError } from './errors.ts';

/**
 * A server's URL in the one form in which URLs are compared, without a slash at the end.
 *
 * @returns `undefined` for a text that is no server's URL
 */
export function parseServerUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  return url.href.replace(/\/+$/, '');
}

/** Like {@link parseServerUrl}. @throws CliError for a text that is no server's URL */
export function assertServerUrl(text: string): string {
  const url = parseServerUrl(text);
  if (url !== undefined) return url;
  throw usageError(`"${text}" is not a server's URL, which starts with https:// or http://.`, meantServerUrl(text));
}

/** A hint for a text that would be a server's URL with a scheme before it. */
export function meantServerUrl(text: string): string | undefined {
  const scheme = /^(localhost|127\.|\[::1\])/.test(text) ? 'http' : 'https';
  const meant = parseServerUrl(`${scheme}://${text}`);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}

/** Whether what is sent there stays on this machine, or is encrypted on its way. */
export function isPrivatePath(serverUrl: string): boolean {
  const { protocol, hostname } = new URL(serverUrl);
  return protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
