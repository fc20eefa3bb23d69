import { lookup as lookUp } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPrivateHost, publicOnly } from '../../http/public-addresses.ts';

/*
 * Fetches documents of issuers. Users choose the issuers, so a request must not reach what only the server can reach: it connects only to
 * public addresses, which it has checked itself, follows no redirects, and reads a bounded response in a bounded time.
 */

export interface IssuerFetchOptions {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Allows private addresses and `http:`, for issuers that the operator trusts. */
  readonly mayBePrivate: boolean;
  /** Resolves host names. Default: DNS for public addresses, and the system's resolver for others. */
  readonly lookup?: typeof lookUp;
}

/** A document can't be fetched. Users must not learn why, because that would describe the server's network. */
export class IssuerFetchError extends Error {
  override readonly name = 'IssuerFetchError';
}

/**
 * Fetches a JSON document.
 *
 * @throws IssuerFetchError for an address that is not public, a status other than 200, a redirect, too many bytes, a time-out, no JSON
 */
export async function fetchIssuerJson(url: URL, options: IssuerFetchOptions): Promise<unknown> {
  const { mayBePrivate, timeoutMs } = options;
  if (url.protocol !== 'https:' && !mayBePrivate) throw new IssuerFetchError('The URL is not an https URL');
  if (!mayBePrivate && isPrivateHost(url)) throw new IssuerFetchError('Not a public address');
  const text = await get(url, options, AbortSignal.timeout(timeoutMs));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new IssuerFetchError('The response is not JSON', { cause: error });
  }
}

function get(url: URL, { maxBytes, mayBePrivate, lookup }: IssuerFetchOptions, signal: AbortSignal) {
  return new Promise<string>((resolve, reject) => {
    const fail = (message: string, cause?: unknown): void => reject(new IssuerFetchError(message, { cause }));
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    const request = send(url, {
      agent: false,
      signal,
      headers: { accept: 'application/json', 'user-agent': 'tenon' },
      lookup: mayBePrivate ? ((lookup ?? lookUp) as LookupFunction) : publicOnly(lookup),
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
