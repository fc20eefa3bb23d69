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

/** The size of the buffer for a content that is sent in chunks. */
const maxBufferBytes = 256 * 1024;

/** The request headers that {@link sendContent} uses. */
export const contentRequestHeaders = {
  'if-none-match': 'the entity tags that you have cached',
  range: 'a single range of bytes',
  'if-range': 'use the range only if the entity tag is unchanged',
} as const;

/** Documents the successful responses of {@link sendContent}. */
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

/** The headers of a 200 or 206 response. */
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

/** Sends the content at an address, with support for conditional and range requests. */
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
  const cached = await services.contents.small(address);
  const size = cached?.length ?? (await services.contents.size(address));
  if (size === undefined) throw notFound('content'); // deleted after the authorization
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
  if (cached !== undefined) {
    return reply.send(range === undefined ? cached : cached.subarray(range.first, range.last + 1));
  }
  return sendStream(services, address, range ?? { first: 0, last: size - 1 }, reply);
}

/** Streams from the blob store with backpressure. Disconnects a client that stops reading. */
async function sendStream(services: Services, address: ContentAddress, range: ByteRange, reply: Reply): Promise<Reply> {
  const { response } = reply;
  // All chunks share one buffer, since allocating a buffer for each costs more than reading and sending it.
  const buffer = Buffer.allocUnsafeSlow(Math.min(maxBufferBytes, range.last - range.first + 1));
  const chunks = await services.contents.open(address, range, disconnectSignal(response), buffer);
  if (chunks === undefined) throw notFound('content');
  response.setTimeout(services.settings.idleTimeoutMs, () => response.destroy());
  return reply.send(chunks);
}
