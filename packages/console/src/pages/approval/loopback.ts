import { loopbackRedirectPath } from '@tenon/protocol/login';

/**
 * Whether a URL is a loopback address for a login's response (RFC 8252 §7.3). The server allows no others; this page checks
 * again.
 */
export function isLoopbackAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, pathname, username, password } = new URL(address);
  const isHere = hostname === '127.0.0.1' || hostname === '[::1]';
  return protocol === 'http:' && isHere && pathname === loopbackRedirectPath && username === '' && password === '';
}
