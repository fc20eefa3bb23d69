import { BlockList, isIP } from 'node:net';

/** A set of networks. */
export interface NetworkSet {
  readonly cidrs: readonly string[];
  /** Whether an address belongs to one of them. An IPv4-mapped IPv6 address counts as IPv4. */
  has(address: string): boolean;
}

interface Network {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly prefix: number;
}

/** Parses an IP address or a CIDR block. Returns `undefined` for other texts, and for IPv4-mapped IPv6 addresses. */
function parse(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%')) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const bits = version === 4 ? 32 : 128;
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || Number(length) > bits)) return undefined;
  if (version === 6 && mapped.check(address, 'ipv6')) return undefined;
  return { address: address.toLowerCase(), family, prefix: length === undefined ? bits : Number(length) };
}

/** The IPv4-mapped addresses (RFC 4291 §2.5.5.2): a rule for all of IPv4 matches them. */
const mapped = new BlockList();
mapped.addSubnet('0.0.0.0', 0, 'ipv4');

/** Returns a network in CIDR notation. Returns `undefined` for a text that is no IP address and no CIDR block. */
export function toCidr(text: string): string | undefined {
  const network = parse(text);
  return network && `${network.address}/${network.prefix}`;
}

/** @param cidrs valid addresses and CIDR blocks */
export function createNetworkSet(cidrs: readonly string[]): NetworkSet {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const network = parse(cidr);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return {
    cidrs,
    has(address) {
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

/** Whether a network is inside one of the others. */
export function isWithin(cidr: string, others: readonly string[]): boolean {
  const inner = parse(cidr);
  return others.some((other) => {
    const outer = parse(other);
    if (inner === undefined || outer?.family !== inner.family || outer.prefix > inner.prefix) return false;
    return createNetworkSet([other]).has(inner.address);
  });
}
