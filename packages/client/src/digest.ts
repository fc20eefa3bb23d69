import { sha256 } from './content-address.ts';
import { ClientError } from './errors.ts';

/**
 * Holds an answer to the digest that it came with (https://www.rfc-editor.org/rfc/rfc9530#section-3), where it has one. A list that
 * something on the way has damaged would otherwise be confirmed by its entity tag from then on.
 *
 * @throws ClientError `content_mismatch`
 */
export async function demandDigest(headers: Headers, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const [, wanted] = /(?:^|[ \t,])sha-256=:([A-Za-z0-9+/=]*):/.exec(headers.get('repr-digest') ?? '') ?? [];
  // The digest of a coded answer is that of the code, which is not to be seen any more.
  if (wanted === undefined || headers.has('content-encoding')) return;
  if (btoa(String.fromCharCode(...(await sha256(bytes)))) === wanted) return;
  throw new ClientError('content_mismatch', 'The answer has other bytes than its digest says');
}
