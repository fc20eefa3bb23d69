import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Returns the client address of a request. */
export type ClientAddresses = ReturnType<typeof createClientAddresses>;

interface ForwardingOptions {
  readonly trustedProxies: readonly string[];
  /** The trusted header field, in lower case: `forwarded` (RFC 7239), or one with a list of addresses. */
  readonly forwardedHeader: string;
}

/**
 * Returns the peer's address. If the peer is a trusted proxy, returns the nearest address in the forwarding header that is not a trusted
 * proxy's. Ignores other forwarding headers, because proxies forward them as the client sent them.
 */
export function createClientAddresses({ trustedProxies, forwardedHeader }: ForwardingOptions) {
  const proxies = new BlockList();
  for (const entry of trustedProxies) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(prefix), family);
  }
  const isTrusted = (address: string): boolean => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

  return {
    /** The trusted forwarding header as it was sent, if any proxy is trusted. With the peer, it determines the address. */
    forwardedBy: ({ headers }: IncomingMessage): string =>
      trustedProxies.length === 0 ? '' : String(headers[forwardedHeader] ?? ''),

    of(message: IncomingMessage): string {
      let address = normalize(message.socket.remoteAddress ?? '');
      if (trustedProxies.length === 0 || isIP(address) === 0) return address;
      const hops = forwardedFor(message, forwardedHeader);
      while (isTrusted(address)) {
        const next = hops.pop();
        if (next === undefined || isIP(next) === 0) break; // an obfuscated or unknown hop: use the proxy's address
        address = next;
      }
      return address;
    },
  };
}

/**
 * Returns the key of an address for rate limits: the /64 network of an IPv6 address, since one customer has all of it, or the IPv4
 * address itself.
 */
export function networkOf(address: string): string {
  return isIPv6(address) ? ipv6Network(address, 4) : address;
}

/**
 * Returns the network of an address that a site or a provider's region usually has: /24 of IPv4, /48 of IPv6. `undefined` if it is no
 * address.
 */
export function wideNetworkOf(address: string): string | undefined {
  if (isIPv6(address)) return ipv6Network(address, 3);
  return isIPv4(address) ? `${address.slice(0, address.lastIndexOf('.'))}.0/24` : undefined;
}

/** @param length the number of groups of 16 bits in the prefix */
function ipv6Network(address: string, length: number): string {
  const [before = '', after] = (address.split('%', 1)[0] ?? '').split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const ipv4 = tail.at(-1)?.includes('.') === true ? 1 : 0; // a dotted IPv4 suffix replaces two groups
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - ipv4 - head.length - tail.length)).fill('0');
  const groups = [...head, ...zeros, ...tail].slice(0, length).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/${16 * length}`;
}

/** Returns the addresses in the order in which the proxies added them: the nearest is last. */
function forwardedFor({ headers }: IncomingMessage, name: string): string[] {
  const field = headers[name];
  const text = Array.isArray(field) ? field.join(',') : field;
  if (text === undefined) return [];
  return text.split(',').map((element) => normalize(name === 'forwarded' ? nodeOf(element) : element.trim()));
}

/** Returns the `for` parameter of an element of `forwarded` (RFC 7239 §4), or an empty string. */
function nodeOf(element: string): string {
  const node = /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;]*))/i.exec(element);
  return node?.[1] ?? node?.[2] ?? '';
}

/** Removes brackets and the port, and converts an IPv4-mapped IPv6 address to IPv4. */
function normalize(node: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(node)?.[1];
  const bare = bracketed ?? (/^[\d.]+:\d+$/.test(node) ? node.slice(0, node.indexOf(':')) : node);
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
