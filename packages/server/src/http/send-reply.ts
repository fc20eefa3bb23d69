import type { ServerResponse } from 'node:http';
import type { Services } from '../services.ts';
import { callerOf, leaseFor, reserveBytes } from './bodies/body-room.ts';
import { compress, compressChunks, encodedEtag, encodingFor } from './content-encoding.ts';
import type { Reply, ReplyBody } from './reply.ts';
import type { Request } from './request.ts';
import type { AuthContext } from './route.ts';
import { requestLogFields } from './send-error.ts';

/** The assumed size of a body in chunks when its encoding is chosen. */
const chunkBytes = 64 * 1024;

/**
 * Sends a route's reply, compressed if that helps.
 *
 * @throws HttpError `unavailable` when the memory for bodies is full; and errors before the first chunk of the body
 */
export async function sendReply(services: Services, auth: AuthContext, request: Request, reply: Reply): Promise<void> {
  const { response, fields } = reply;
  if (reply.isSent) return;
  reserveText(services, auth, request, reply);
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
 * Reserves memory for text until the response has been sent. Not for writes: their change is committed, so that 503 would be wrong, and the
 * lease of their body covers the response.
 */
function reserveText(services: Services, auth: AuthContext, request: Request, { body, response }: Reply): void {
  if (typeof body !== 'string' || request.method !== 'GET' || response.destroyed) return;
  reserveBytes(leaseFor(services.bodyBudget, callerOf(services, auth, request), response), Buffer.byteLength(body));
}

/**
 * Whether the body is JSON, and the route accepts no cookies: a site that makes a browser send requests could infer the content of a
 * response from its compressed length (https://www.breachattack.com).
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
 * Sends chunks. Requests a chunk when the previous one has been written to the socket, so that both may use the same buffer. Throws errors
 * before the first chunk, so that the caller can send an error response.
 *
 * @param onBroken called with a later error; the connection is closed, so that the client notices
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

/** Writes a chunk and waits until its buffer is free. @returns whether the client is still connected */
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
