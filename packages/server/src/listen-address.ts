import { isIP, isIPv6 } from 'node:net';

/** Whether only this machine can reach what listens there. A name other than `localhost` may lead anywhere. */
export function isLoopback(host: string): boolean {
  const address = bare(host);
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === 'localhost' || address === '::1';
}

/** Whether a server that listens there does so on all addresses of the machine. */
export function isWildcard(host: string): boolean {
  return ['0.0.0.0', '::'].includes(bare(host));
}

/**
 * Where what listens there is reached when nobody says otherwise: at `localhost` where that leads to it, which is so for this
 * machine's own address and for all addresses, else at the address itself.
 */
export function defaultBaseUrl(host: string, port: number): string {
  const address = bare(host);
  if (['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'].includes(address)) return `http://localhost:${port}`;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}
