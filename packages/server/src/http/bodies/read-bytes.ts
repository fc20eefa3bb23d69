import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DomainError } from '../domain-errors.ts';
import { HttpError, unavailable } from '../http-error.ts';
import type { BodySource } from './body-reader.ts';

const decompress = promisify(gunzip);

/** Thrown when the client disconnects while its request is read or processed. No response can reach it. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

interface ReadOptions {
  /** Whether the body may be compressed with gzip. Default: false. */
  readonly acceptsGzip?: boolean | undefined;
}

/**
 * Reads a whole body. Its memory is reused when the request ends: the buffer is detached then.
 *
 * @param maxBytes the largest body, also after it is decompressed
 * @param what names the body in the error message
 * @throws HttpError `payload_too_large`; `unsupported_media_type` for a compressed body; `unavailable` when the memory budget for bodies is exhausted; `request_timeout` when the idle
 *   time-out expires (see {@link BodySource.mayBeSlow})
 * @throws ClientDisconnected
 */
export async function readBytes(
  source: BodySource,
  maxBytes: number,
  what: string,
  { acceptsGzip = false }: ReadOptions = {},
): Promise<Buffer<ArrayBuffer>> {
  const { 'content-length': length, 'content-encoding': header = 'identity' } = source.message.headers;
  const encoding = header.toLowerCase();
  const isCompressed = acceptsGzip && encoding === 'gzip';
  if (!isCompressed && encoding !== 'identity') {
    const detail = acceptsGzip ? 'without a content-encoding, or with gzip' : 'without a content-encoding';
    throw new HttpError('unsupported_media_type', `Send the body ${detail}.`, {
      'accept-encoding': acceptsGzip ? 'gzip, identity' : 'identity',
    });
  }
  const announced = Number(length ?? 0);
  if (announced > maxBytes) throw tooLarge(what, maxBytes);
  const { memory } = source;
  let size = 0;
  await forEachChunk(source, (chunk) => {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(what, maxBytes);
    if (!source.lease.take(chunk.length)) throw memoryInUse();
    memory.add(chunk);
  });
  if (!isCompressed) return memory.bytes();
  if (!source.lease.take(maxBytes)) throw memoryInUse();
  return decompressed(memory.bytes(), maxBytes, what);
}

/** @throws HttpError `payload_too_large`, DomainError `malformed_json` */
async function decompressed(bytes: Buffer, maxBytes: number, what: string): Promise<Buffer<ArrayBuffer>> {
  try {
    return await decompress(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(what, maxBytes);
    throw new DomainError('malformed_json', `${what} with the content-encoding gzip must be gzip.`, { cause });
  }
}

function memoryInUse(): HttpError {
  return unavailable('The memory for request bodies is in use by other requests. Try again shortly.', 2);
}

export function tooLarge(what: string, maxBytes: number): HttpError {
  return new HttpError('payload_too_large', `${what} must have at most ${maxBytes.toLocaleString('en')} bytes.`);
}

/** Calls `onChunk` for each chunk of the body. If `onChunk` throws, the rest stays unread; `drain()` discards it later. */
function forEachChunk(source: BodySource, onChunk: (chunk: Buffer) => void): Promise<void> {
  const { message, mayBeSlow, limits } = source;
  const seconds = `${limits.idleTimeoutMs / 1000} seconds`;
  const detail = mayBeSlow
    ? `The client sent nothing for ${seconds}.`
    : `The whole body must arrive within ${seconds}.`;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(new HttpError('request_timeout', detail)), limits.idleTimeoutMs);
    const onData = (chunk: Buffer): void => {
      if (mayBeSlow) timer.refresh(); // otherwise the time-out is for the whole body
      try {
        onChunk(chunk);
      } catch (error) {
        settle(error);
      }
    };
    const onEnd = (): void => settle(undefined);
    const onDisconnect = (): void =>
      settle(new ClientDisconnected('The client disconnected before it had sent its whole body'));
    const settle = (error: unknown): void => {
      clearTimeout(timer);
      message.off('data', onData).off('end', onEnd).off('close', onDisconnect).off('error', onDisconnect);
      message.on('error', () => {}); // ignores a later connection reset
      if (error === undefined) {
        resolve();
        return;
      }
      message.pause();
      reject(error);
    };
    message.on('data', onData).on('end', onEnd).on('close', onDisconnect).on('error', onDisconnect);
    if (message.destroyed) onDisconnect();
  });
}
