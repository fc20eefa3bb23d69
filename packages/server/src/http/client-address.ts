import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** Tells from which address a request comes. */
export type ClientAddresses = ReturnType<typeof createClientAddresses>;

interface ForwardingOptions {
  readonly trustedProxies: readonly string[];
  /** The one header field that counts, in lower case: `forwarded` (RFC 7239), or one with a list of addresses. */
  readonly forwardedHeader: string;
}

/**
 * The peer's address; or, when the peer is a trusted proxy, the nearest address in the forwarding header that is not itself a
 * trusted proxy's. Every other forwarding header is ignored: proxies append to one, and pass on the others as the client sent them.
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
    of(message: IncomingMessage): string {
      let address = normalize(message.socket.remoteAddress ?? '');
      if (trustedProxies.length === 0 || isIP(address) === 0) return address;
      const hops = forwardedFor(message, forwardedHeader);
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

/** Addresses in the order in which the proxies added them: the nearest comes last. */
function forwardedFor({ headers }: IncomingMessage, name: string): string[] {
  const field = headers[name];
  const text = Array.isArray(field) ? field.join(',') : field;
  if (text === undefined) return [];
  return text.split(',').map((element) => normalize(name === 'forwarded' ? nodeOf(element) : element.trim()));
}

/** The node that an element of `forwarded` is for (RFC 7239 §4); empty when it names none. */
function nodeOf(element: string): string {
  const node = /(?:^|;)\s*for=(?:"([^"]*)"|([^\s;]*))/i.exec(element);
  return node?.[1] ?? node?.[2] ?? '';
}

/** Without brackets and port; an IPv4 address in IPv6's clothes as what it is. */
function normalize(node: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(node)?.[1];
  const bare = bracketed ?? (/^[\d.]+:\d+$/.test(node) ? node.slice(0, node.indexOf(':')) : node);
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
