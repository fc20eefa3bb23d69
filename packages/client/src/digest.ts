import { sha256 } from './content-address.ts';
import { ClientError } from './errors.ts';

/**
 * Checks a response against its digest field, if it has one (https://www.rfc-editor.org/rfc/rfc9530#section-3). Otherwise a damaged
 * list would be confirmed by its entity tag from then on.
 *
 * @throws ClientError `content_mismatch`
 */
export async function assertDigest(headers: Headers, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const [, expected] = /(?:^|[ \t,])sha-256=:([A-Za-z0-9+/=]*):/.exec(headers.get('repr-digest') ?? '') ?? [];
  // The digest of a compressed response is that of the compressed bytes, which `fetch` hides.
  if (expected === undefined || headers.has('content-encoding')) return;
  if (btoa(String.fromCharCode(...(await sha256(bytes)))) === expected) return;
  throw new ClientError('content_mismatch', 'The received bytes do not match the digest of the response');
}
