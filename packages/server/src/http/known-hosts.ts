import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopback, isWildcard } from '../config/listen-address.ts';
import type { Addresses } from '../services.ts';
import { DomainError } from './domain-errors.ts';
import { hasRepeatedField } from './request.ts';

/** The field by which clients reach this host by https alone, for a year (RFC 6797); nothing where the public URL is not https. */
export function transportSecurityOf({ base }: Addresses): readonly [name: string, value: string] | readonly [] {
  return base().startsWith('https:') ? ['strict-transport-security', 'max-age=31536000'] : [];
}

interface KnownHostOptions {
  readonly addresses: Addresses;
  readonly listenHost: string;
}

/**
 * Refuses what a browser sends to a name that is not this server's. A page of a site whose name was pointed to this machine
 * (DNS rebinding) is of the same origin for its browser; its name in `host` tells it apart.
 *
 * @param isBrowser whether the request shows that a browser sent it
 * @throws DomainError `invalid_request` for several `host` fields (RFC 9112 §3.2), `cross_site_request` for an unknown name
 */
export function requireKnownHost(
  { addresses, listenHost }: KnownHostOptions,
  message: IncomingMessage,
  isBrowser: boolean,
): void {
  if (hasRepeatedField(message, 'host')) throw new DomainError('invalid_request', 'Send one host field, not several.');
  if (!isBrowser) return;
  const name = nameOf(message.headers.host ?? '');
  const own = [addresses.base(), addresses.instrument()].map((url) => nameOf(new URL(url).host));
  // No name server can point an address elsewhere, so every address of a server that listens on all of them is its own.
  const isListenedOn = isWildcard(listenHost) ? isIP(name) !== 0 : name === nameOf(listenHost);
  if (own.includes(name) || isLoopback(name) || name.endsWith('.localhost') || isListenedOn) return;
  throw new DomainError(
    'cross_site_request',
    `This server is not known as ${JSON.stringify(name)}. If it should be, its operator sets TENON_PUBLIC_URL.`,
  );
}

/** Whether a browser shows itself, by what scripts can't leave out. */
export function isFromBrowser({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
}

/** The name or address of a `host` field, without brackets, port, and the dot at its end. */
function nameOf(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*)(?=:\d*$|$)|.*$)/s.exec(host) ?? [];
  return (bracketed ?? (isIP(host) === 6 ? host : plain)).toLowerCase().replace(/\.$/, '');
}
