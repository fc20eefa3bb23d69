import type { ServerResponse } from 'node:http';
import type { Services } from '../services.ts';
import { callerOf, leaseFor, reserveBytes } from './bodies/body-room.ts';
import { compress, compressChunks, encodedEtag, encodingFor } from './content-encoding.ts';
import type { Reply, ReplyBody } from './reply.ts';
import type { Request } from './request.ts';
import type { AuthContext } from './route.ts';
import { requestLogFields } from './send-error.ts';

/** What a body in chunks counts as when its encoding is chosen. */
const chunkBytes = 64 * 1024;

/**
 * Sends what a route has put together, compressed where that helps.
 *
 * @throws HttpError `unavailable` when text fills the memory for bodies, and what fails before the first chunk of the body
 */
export async function sendReply(services: Services, auth: AuthContext, request: Request, reply: Reply): Promise<void> {
  const { response, fields } = reply;
  if (reply.isSent) return;
  countText(services, auth, request, reply);
  if (isCompressible(request, reply)) await encode(request, reply);
  const { body, statusCode } = reply;
  const isHead = request.method === 'HEAD';
  if (isBuffered(body)) {
    const hasLength = body === undefined ? !isHead && statusCode !== 204 && statusCode !== 304 : true;
    if (hasLength) fields['content-length'] ??= String(lengthOf(body));
    response.writeHead(statusCode, fields);
    if (isHead || body === undefined) response.end();
    else response.end(body);
    return;
  }
  if (isHead) {
    response.writeHead(statusCode, fields).end();
    return;
  }
  await sendChunks(reply, body, (error) =>
    services.log.error({ ...requestLogFields(services, request), err: error }, 'response failed midway'),
  );
}

/**
 * Counts text, which stays in memory until the client has taken it, against the memory for bodies. Only that of reads: a change has been
 * made by then and must not be answered with 503, and the share of its body lasts until its response has been sent.
 */
function countText(services: Services, auth: AuthContext, request: Request, { body, response }: Reply): void {
  if (typeof body !== 'string' || request.method !== 'GET' || response.destroyed) return;
  reserveBytes(leaseFor(services.bodyBudget, callerOf(services, auth, request), response), Buffer.byteLength(body));
}

/**
 * JSON is, but for pages and what cookies open: there a site that makes a browser send requests could learn from the length of a response
 * what is in it (https://www.breachattack.com).
 */
function isCompressible({ route }: Request, { fields, body }: Reply): boolean {
  return body !== undefined && route?.isForAnyOrigin === true && /^application\/json\b/.test(contentTypeOf(fields));
}

function contentTypeOf(fields: Reply['fields']): string {
  return String(fields['content-type'] ?? '');
}

async function encode(request: Request, reply: Reply): Promise<void> {
  const { body, fields } = reply;
  if (body === undefined) return;
  const encoding = encodingFor(request, isBuffered(body) ? lengthOf(body) : chunkBytes);
  fields.vary = fields.vary === undefined ? 'accept-encoding' : `${String(fields.vary)}, accept-encoding`;
  if (encoding === 'identity') return;
  fields['content-encoding'] = encoding;
  if (typeof fields.etag === 'string') fields.etag = encodedEtag(fields.etag, encoding);
  delete fields['content-length'];
  reply.body = isBuffered(body) ? await compress(body, encoding) : compressChunks(body, encoding);
}

function isBuffered(body: ReplyBody): body is string | Uint8Array | undefined {
  return body === undefined || typeof body === 'string' || body instanceof Uint8Array;
}

function lengthOf(body: string | Uint8Array | undefined): number {
  return Buffer.byteLength(body ?? '');
}

/**
 * Sends chunks, and asks for each only once the one before has left this process, which may put it into the same memory then.
 * What fails before the first chunk is thrown, and can still be answered as an error.
 *
 * @param onBroken called with what failed after that; the connection is closed then, so that the client notices
 */
export async function sendChunks(
  { response, statusCode, fields }: Reply,
  chunks: AsyncIterable<Uint8Array>,
  onBroken: (error: unknown) => void,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  let next = await iterator.next();
  try {
    if (!response.destroyed) response.writeHead(statusCode, fields);
    for (; next.done !== true; next = await iterator.next()) {
      if (!(await writeChunk(response, next.value))) return;
    }
    response.end();
  } catch (error) {
    if (!response.destroyed) onBroken(error);
    response.destroy();
  } finally {
    await iterator.return?.();
  }
}

/** Writes a chunk, and waits until nothing of it is needed any more. @returns whether the client is still there */
function writeChunk(response: ServerResponse, chunk: Uint8Array): Promise<boolean> {
  if (response.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false);
    response.once('close', onClose);
    response.write(chunk, (error) => {
      response.off('close', onClose);
      resolve(!error);
    });
  });
}
