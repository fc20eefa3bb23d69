import type { CustomFetchOptions } from 'openid-client';
import { isLoopback } from '../../config/listen-address.ts';

/** The maximum size of a provider's response: metadata, keys, or tokens. */
const maxResponseBytes = 512 * 1024;

/** Thrown for a response that the server does not read. */
export class ProviderResponseError extends Error {
  override readonly name = 'ProviderResponseError';
}

export type ProviderFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/**
 * Returns a `fetch` for the requests to one provider. It follows no redirects, reads bounded responses, and sends nothing to plain http,
 * except from a loopback issuer to loopback.
 */
export function createProviderFetch(issuer: string): ProviderFetch {
  const allowsHttp = new URL(issuer).protocol === 'http:';
  return async (target, options) => {
    const url = new URL(target);
    const isAllowed = url.protocol === 'https:' || (allowsHttp && url.protocol === 'http:' && isLoopback(url.hostname));
    if (!isAllowed) throw new ProviderResponseError(`The provider names a URL that is not https: ${url.origin}`);
    const response = await fetch(url, { ...(options as RequestInit), redirect: 'manual' });
    const body = await readBounded(response);
    const { status, headers } = response;
    return new Response(status === 204 || status === 304 ? null : body, { status: Math.max(status, 200), headers });
  };
}

async function readBounded(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxResponseBytes) {
      throw new ProviderResponseError(`The provider's response has more than ${maxResponseBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
