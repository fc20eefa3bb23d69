import { HttpError, unavailable } from '../http-error.ts';
import type { BodySource } from './body-reader.ts';

/** Thrown when the client disconnects while its request is read or processed. No response can reach it. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

/**
 * Reads a whole body. Its memory is reused when the request ends: the buffer is detached then.
 *
 * @param what names the body in the error message
 * @throws HttpError `payload_too_large`; `unsupported_media_type` for a compressed body; `unavailable` when the memory budget for bodies is exhausted; `request_timeout` when the idle
 *   time-out expires (see {@link BodySource.mayBeSlow})
 * @throws ClientDisconnected
 */
export async function readBytes(source: BodySource, maxBytes: number, what: string): Promise<Buffer<ArrayBuffer>> {
  const { 'content-length': length, 'content-encoding': encoding = 'identity' } = source.message.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new HttpError('unsupported_media_type', 'Send the body without a content-encoding.', {
      'accept-encoding': 'identity',
    });
  }
  const announced = Number(length ?? 0);
  if (announced > maxBytes) throw tooLarge(what, maxBytes);
  const { memory } = source;
  let size = 0;
  await forEachChunk(source, (chunk) => {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(what, maxBytes);
    if (!source.lease.take(chunk.length)) {
      throw unavailable('The memory for request bodies is in use by other requests. Try again shortly.', 2);
    }
    memory.add(chunk);
  });
  return memory.bytes();
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
