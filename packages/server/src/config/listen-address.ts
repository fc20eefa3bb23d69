import { isIP, isIPv6 } from 'node:net';

/** Whether a server that listens on this host is reachable from this machine only. Names other than `localhost` count as reachable. */
export function isLoopback(host: string): boolean {
  const address = bare(host);
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === 'localhost' || address === '::1';
}

/** Whether this host means all addresses of the machine. */
export function isWildcard(host: string): boolean {
  return ['0.0.0.0', '::'].includes(bare(host));
}

/** The default base URL of a server: `localhost` for loopback and wildcard addresses, otherwise the address itself. */
export function defaultBaseUrl(host: string, port: number): string {
  const address = bare(host);
  if (['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'].includes(address)) return `http://localhost:${port}`;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}
