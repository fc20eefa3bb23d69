import { type LookupAddress, type LookupOptions, lookup as lookUp } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/*
 * Fetches documents of issuers. Users choose the issuers, so a request must not reach what only the server can reach: it connects only to
 * public addresses, which it has checked itself, follows no redirects, and reads a bounded response in a bounded time.
 */

export interface IssuerFetchOptions {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Allows private addresses and `http:`, for issuers that the operator trusts. */
  readonly mayBePrivate: boolean;
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: typeof lookUp;
}

/** A document can't be fetched. Users must not learn why, because that would describe the server's network. */
export class IssuerFetchError extends Error {
  override readonly name = 'IssuerFetchError';
}

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

/**
 * Fetches a JSON document.
 *
 * @throws IssuerFetchError for an address that is not public, a status other than 200, a redirect, too many bytes, a time-out, no JSON
 */
export async function fetchIssuerJson(url: URL, options: IssuerFetchOptions): Promise<unknown> {
  const { mayBePrivate, timeoutMs } = options;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:' && !mayBePrivate) throw new IssuerFetchError('The URL is not an https URL');
  // No name is resolved for an address, so that the check of the resolver would not run.
  if (!mayBePrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw new IssuerFetchError('Not a public address');
  const text = await get(url, options, AbortSignal.timeout(timeoutMs));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new IssuerFetchError('The response is not JSON', { cause: error });
  }
}

function get(url: URL, { maxBytes, mayBePrivate, lookup = lookUp }: IssuerFetchOptions, signal: AbortSignal) {
  return new Promise<string>((resolve, reject) => {
    const fail = (message: string, cause?: unknown): void => reject(new IssuerFetchError(message, { cause }));
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    const request = send(url, {
      agent: false,
      signal,
      headers: { accept: 'application/json', 'user-agent': 'tenon' },
      lookup: mayBePrivate ? (lookup as LookupFunction) : publicOnly(lookup),
    });
    request.on('error', (error) => fail('The request failed', error));
    request.on('response', (response) => {
      if (response.statusCode !== 200) {
        response.destroy();
        fail(`The status is ${response.statusCode}`);
        return;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) chunks.push(chunk);
        else {
          response.destroy();
          fail(`The response has more than ${maxBytes} bytes`);
        }
      });
      response.on('error', (error) => fail('The response ended early', error));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    request.end();
  });
}

/** Resolves a name, and fails if any of its addresses is not public. The request connects to these addresses. */
function publicOnly(lookup: typeof lookUp): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...(options as LookupOptions), all: true }, (error, found) => {
      const addresses = found as LookupAddress[] | undefined;
      if (error !== null) callback(error, '');
      else if (
        addresses === undefined ||
        addresses.length === 0 ||
        !addresses.every(({ address }) => isPublicAddress(address))
      )
        callback(new IssuerFetchError('Not a public address'), '');
      else if (options.all === true) (callback as (error: null, addresses: LookupAddress[]) => void)(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}
