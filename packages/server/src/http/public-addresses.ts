import type { LookupAddress, LookupOptions, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { resolveName } from './resolve-name.ts';

/*
 * Users choose URLs that the server requests: issuers of identity tokens and webhooks. Such a request must not reach what only the server
 * can reach. Therefore it connects only to public addresses, which it has checked itself.
 */

/** Addresses that are not public: https://www.iana.org/assignments/iana-ipv4-special-registry */
const notPublic = new BlockList();
for (const cidr of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])
  addTo(notPublic, cidr, 'ipv4');
// Within 2000::/3: protocol assignments, Teredo, documentation, and 6to4, which may contain a private IPv4 address
for (const cidr of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) addTo(notPublic, cidr, 'ipv6');

/** https://www.iana.org/assignments/ipv6-address-space: the only addresses in use on the Internet */
const globalUnicast = new BlockList();
addTo(globalUnicast, '2000::/3', 'ipv6');

function addTo(list: BlockList, cidr: string, family: 'ipv4' | 'ipv6'): void {
  const [address = '', prefix] = cidr.split('/');
  list.addSubnet(address, Number(prefix), family);
}

/** Whether an address is one of the public Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublic.check(address, 'ipv4');
  return version === 6 && globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}

/** Whether the host of a URL is an address that is not public. No name is resolved for an address, so that {@link publicOnly} does not run. */
export function isPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host);
}

/** A name has an address that is not public, or none. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/**
 * Resolves a name, and fails with a {@link PrivateAddressError} if any of its addresses is not public. A request with this `lookup`
 * connects to the addresses that were checked.
 *
 * @param lookup Default: {@link resolveName}
 */
export function publicOnly(lookup?: typeof systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    const finish = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[] = []): void => {
      if (error !== null) callback(error, '');
      else if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
        callback(new PrivateAddressError('Not a public address'), '');
      else if (options.all === true)
        (callback as (error: null, addresses: readonly LookupAddress[]) => void)(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    };
    if (lookup !== undefined) lookup(hostname, { ...(options as LookupOptions), all: true }, finish as never);
    else resolveName(hostname).then((addresses) => finish(null, addresses), finish);
  };
}
