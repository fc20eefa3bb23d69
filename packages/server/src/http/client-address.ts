import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net';

/** Tells from which address a request comes. */
export interface ClientAddresses {
  of(message: IncomingMessage): string;
}

/**
 * The peer's address; or, when the peer is a trusted proxy, the nearest address in `forwarded` (RFC 7239) or else
 * `x-forwarded-for` that is not itself a trusted proxy's.
 *
 * @param trusted IP addresses and CIDR ranges
 */
export function createClientAddresses(trusted: readonly string[]): ClientAddresses {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(prefix), family);
  }
  const isTrusted = (address: string): boolean => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

  return {
    of(message) {
      let address = normalize(message.socket.remoteAddress ?? '');
      if (trusted.length === 0 || isIP(address) === 0) return address;
      const hops = forwardedFor(message);
      while (isTrusted(address)) {
        const next = hops.pop();
        if (next === undefined || isIP(next) === 0) break; // an obfuscated or unknown hop: the proxy speaks for it
        address = next;
      }
      return address;
    },
  };
}

/**
 * What limits of rates count an address by: an IPv6 address by its network of 64 bits, all of which is one customer's, an IPv4
 * address by itself.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [before = '', after] = (address.split('%', 1)[0] ?? '').split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const ipv4 = tail.at(-1)?.includes('.') === true ? 1 : 0; // the last 32 bits in dots count for two groups
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - ipv4 - head.length - tail.length)).fill('0');
  const groups = [...head, ...zeros, ...tail].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

/** The network of whoever is at the other end of a connection: a client, or a proxy. */
export function networkOfPeer({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string {
  return networkOf(normalize(remoteAddress));
}

/** Addresses in the order in which the proxies added them: the nearest comes last. */
function forwardedFor(message: IncomingMessage): string[] {
  const { forwarded } = message.headers;
  if (forwarded !== undefined) {
    return forwarded.split(',').map((element) => {
      const node = /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;]*))/i.exec(element);
      return normalize(node?.[1] ?? node?.[2] ?? '');
    });
  }
  const header = message.headers['x-forwarded-for'];
  const text = Array.isArray(header) ? header.join(',') : header;
  return text === undefined ? [] : text.split(',').map((address) => normalize(address.trim()));
}

/** Without brackets and port; an IPv4 address in IPv6's clothes as what it is. */
function normalize(node: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(node)?.[1];
  const bare = bracketed ?? (/^[\d.]+:\d+$/.test(node) ? node.slice(0, node.indexOf(':')) : node);
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
