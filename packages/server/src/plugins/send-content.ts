import type { ContentAddress } from '@tenon/protocol';
import type { ByteRange } from '../blobs/blob-store.ts';
import { evaluateConditions, evaluateRange } from '../http/conditions.ts';
import { notFound } from '../http/domain-errors.ts';
import { HttpError } from '../http/http-error.ts';
import type { Reply } from '../http/reply.ts';
import { disconnectSignal } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { SuccessDoc } from '../http/route.ts';
import type { Services } from '../services.ts';

const vary = 'authorization';

/** How much memory a content that is sent in chunks takes. */
const scratchBytes = 256 * 1024;

/** The request header fields that {@link sendContent} honours. */
export const contentRequestHeaders = {
  'if-none-match': 'the entity tags that you have cached',
  range: 'a single range of bytes',
  'if-range': 'use the range only if the entity tag is unchanged',
} as const;

/** What {@link sendContent} answers when all goes well. */
export function contentResponses(cacheControl: string): Readonly<Record<number, SuccessDoc>> {
  return {
    200: {
      description: 'the module',
      contentType: 'application/wasm',
      headers: {
        etag: 'the content address',
        'cache-control': `\`${cacheControl}\``,
        vary: `\`${vary}\``,
        'repr-digest': "`sha-256=:…:`, the whole content's digest (RFC 9530)",
        'accept-ranges': '`bytes`',
      },
    },
    206: {
      description: 'the requested range',
      contentType: 'application/wasm',
      headers: { 'content-range': 'the byte range and the total size' },
    },
    304: { description: 'not modified' },
  };
}

/** What a response with a content, or a part of it, has. */
export function contentHeaders(address: ContentAddress, cacheControl: string) {
  return {
    'content-type': 'application/wasm',
    etag: `"${address}"`,
    'cache-control': cacheControl,
    vary,
    'accept-ranges': 'bytes',
    'repr-digest': `sha-256=:${Buffer.from(address, 'base64url').toString('base64')}:`,
  };
}

/** Answers with the bytes at an address, as the conditions and the range of the request will have it. */
export async function sendContent(
  services: Services,
  address: ContentAddress,
  cacheControl: string,
  request: Request,
  reply: Reply,
): Promise<Reply> {
  const etag = `"${address}"`;
  const outcome = evaluateConditions(request.headers, etag);
  if (outcome === 'precondition_failed')
    throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
  if (outcome === 'not_modified') {
    return reply.code(304).header('etag', etag).header('cache-control', cacheControl).header('vary', vary).send();
  }
  const kept = await services.contents.small(address);
  const size = kept?.length ?? (await services.contents.size(address));
  if (size === undefined) throw notFound('content'); // deleted since it was allowed
  const isHead = request.method === 'HEAD';
  const range = isHead ? undefined : evaluateRange(request.headers, size, etag);
  if (range === 'not_satisfiable') {
    throw new HttpError('range_not_satisfiable', `The content has ${size} bytes.`, {
      'content-range': `bytes */${size}`,
    });
  }
  reply
    .code(range === undefined ? 200 : 206)
    .headers(contentHeaders(address, cacheControl))
    .header('content-length', range === undefined ? size : range.last - range.first + 1);
  if (range !== undefined) reply.header('content-range', `bytes ${range.first}-${range.last}/${size}`);
  if (isHead) return reply.send();
  if (kept !== undefined) return reply.send(range === undefined ? kept : kept.subarray(range.first, range.last + 1));
  return sendStream(services, address, range ?? { first: 0, last: size - 1 }, reply);
}

/** Sends from the blob store, no faster than the client takes it; a client that takes nothing for too long is cut off. */
async function sendStream(services: Services, address: ContentAddress, range: ByteRange, reply: Reply): Promise<Reply> {
  const { response } = reply;
  // One piece of memory for all chunks: pieces that come and go cost more than reading and sending them.
  const scratch = Buffer.allocUnsafeSlow(Math.min(scratchBytes, range.last - range.first + 1));
  const chunks = await services.contents.open(address, range, disconnectSignal(response), scratch);
  if (chunks === undefined) throw notFound('content');
  response.setTimeout(services.settings.idleTimeoutMs, () => response.destroy());
  return reply.send(chunks);
}
