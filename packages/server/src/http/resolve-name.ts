import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

export interface ResolveNameOptions {
  /** Addresses of name servers, with ports. Default: the system's. */
  readonly servers?: readonly string[];
  /** How long the first try waits for a name server, in milliseconds. The second one waits longer. Default: 2000. */
  readonly timeoutMs?: number;
}

/**
 * Resolves a name with DNS alone. `dns.lookup()` holds one of the few threads with which the process also reads files and hashes
 * passwords, until the name server responds. The name servers of users' names may never do.
 *
 * @throws NodeJS.ErrnoException if the name has no address, or no name server responds
 */
export async function resolveName(
  hostname: string,
  { servers, timeoutMs = 2000 }: ResolveNameOptions = {},
): Promise<readonly LookupAddress[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
  const addresses = (found: typeof v4, family: 4 | 6): LookupAddress[] =>
    found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
  return [...addresses(v4, 4), ...addresses(v6, 6)];
}
