import { HttpError, unavailable } from '../http-error.ts';
import type { BodySource } from './body-reader.ts';

/** Thrown when the client went away in the middle of its body: nobody is there to read an answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * Reads a body whole. What it returns is empty once the request has been handled.
 *
 * @param what names the limit, and the setting that moves it, in the error
 * @throws HttpError `payload_too_large`, `unavailable` when bodies fill the memory that they may have, `request_timeout` when
 *   the client sends nothing for too long, or is a stranger and has not sent all by then
 * @throws ClientGone
 */
export async function readBytes(source: BodySource, maxBytes: number, what: string): Promise<Buffer<ArrayBuffer>> {
  const { 'content-length': length, 'content-encoding': encoding = 'identity' } = source.message.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new HttpError('unsupported_media_type', 'Send the body as it is, without a content-encoding.', {
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
    keep(source, chunk.length);
    memory.add(chunk);
  });
  return memory.bytes();
}

/** Takes bytes of the memory for bodies. */
export function keep(source: BodySource, bytes: number): void {
  if (source.lease.take(bytes)) return;
  throw unavailable('The bodies of other requests fill the memory that is set aside for them. Try again shortly.', 2);
}

export function tooLarge(what: string, maxBytes: number): HttpError {
  return new HttpError('payload_too_large', `${what} may have ${maxBytes.toLocaleString('en')} bytes at the most.`);
}

/**
 * Hands on a message's chunks as they come. When `take` throws, the rest is left unread: `drain.ts` sees to it that the client
 * can still read its answer.
 */
function forEachChunk(source: BodySource, take: (chunk: Buffer) => void): Promise<void> {
  const { message, mayBeSlow, limits } = source;
  const seconds = `${limits.idleTimeoutMs / 1000} seconds`;
  const tooSlow = mayBeSlow ? `The body stopped coming for ${seconds}.` : `The body was not there within ${seconds}.`;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(new HttpError('request_timeout', tooSlow)), limits.idleTimeoutMs);
    const onData = (chunk: Buffer): void => {
      if (mayBeSlow) timer.refresh();
      try {
        take(chunk);
      } catch (error) {
        settle(error);
      }
    };
    const onEnd = (): void => settle(undefined);
    const onGone = (): void => settle(new ClientGone('The client closed the connection in the middle of its body'));
    const settle = (error: unknown): void => {
      clearTimeout(timer);
      message.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      message.on('error', () => {}); // a reset that comes later is of no interest
      if (error === undefined) {
        resolve();
        return;
      }
      message.pause();
      reject(error);
    };
    message.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
    if (message.destroyed) onGone();
  });
}
