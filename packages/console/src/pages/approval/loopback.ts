import { loopbackRedirectPath } from '@tenon/protocol/login';

/**
 * Whether an address is one to which a login's answer may be taken: a program on this machine. The server lets no other through
 * (RFC 8252 §7.3); this page does not take its word for it.
 */
export function isLoopbackAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, pathname, username, password } = new URL(address);
  const isHere = hostname === '127.0.0.1' || hostname === '[::1]';
  return protocol === 'http:' && isHere && pathname === loopbackRedirectPath && username === '' && password === '';
}
