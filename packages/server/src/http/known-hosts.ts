import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback, isWildcard } from '../config/listen-address.ts';
import type { Addresses } from '../services.ts';
import { DomainError } from './domain-errors.ts';
import { hasRepeatedField } from './request.ts';

/** Returns the field that restricts clients to https for a year (RFC 6797), if the public URL is https. */
export function transportSecurityOf({ base }: Addresses): readonly [name: string, value: string] | readonly [] {
  return base().startsWith('https:') ? ['strict-transport-security', 'max-age=31536000'] : [];
}

interface KnownHostOptions {
  readonly addresses: Addresses;
  readonly listenHost: string;
}

/**
 * Rejects browser requests with another host name than the server's. This prevents DNS rebinding: a site whose name resolves to this
 * machine has the same origin as the server for a browser, but its name is in `host`.
 *
 * @throws DomainError `invalid_request` for several `host` fields (RFC 9112 §3.2), `cross_site_request` for an unknown name
 */
export function requireKnownHost(
  { addresses, listenHost }: KnownHostOptions,
  message: IncomingMessage,
  isBrowser: boolean,
): void {
  if (hasRepeatedField(message, 'host')) throw new DomainError('invalid_request', 'Send one host field, not several.');
  if (!isBrowser) return;
  const name = hostnameOf(message.headers.host ?? '');
  const ownNames = [addresses.base(), addresses.instrument()].map((url) => hostnameOf(new URL(url).host));
  // DNS rebinding needs a name, so a server that listens on all addresses accepts every address.
  const isListenedOn = isWildcard(listenHost) ? isIP(name) !== 0 : name === hostnameOf(listenHost);
  if (ownNames.includes(name) || isLoopback(name) || name.endsWith('.localhost') || isListenedOn) return;
  throw new DomainError(
    'cross_site_request',
    `This server is not known as ${JSON.stringify(name)}. If it should be, its operator sets TENON_PUBLIC_URL.`,
  );
}

/** Whether a request has fields that only browsers send, and that scripts can't remove. */
export function isFromBrowser({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** Returns the name or address of a `host` field, without brackets, port, and trailing dot. */
function hostnameOf(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*)(?=:\d*$|$)|.*$)/s.exec(host) ?? [];
  return (bracketed ?? (isIP(host) === 6 ? host : plain)).toLowerCase().replace(/\.$/, '');
}
