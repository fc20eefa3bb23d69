import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ContentAddress } from '@tenon/protocol';
import { UnavailableError, WrongBytesError } from '../../db/store.ts';
import type { ByteRange } from '../blob-store.ts';
import { isMissing, translateError } from './errors.ts';

/**
 * After this many milliseconds without a read, the consumer has stalled, and its connection to the store is closed. Otherwise slow
 * clients could occupy all connections. A new request fetches the rest when the consumer continues.
 */
const stallMs = 2000;

interface ReadRequest {
  readonly Bucket: string;
  readonly Key: string;
  readonly address: ContentAddress;
  /** Without a range, the whole object is read and its digest is checked. */
  readonly range: ByteRange | undefined;
  /** The number of bytes to read. */
  readonly length: number;
  /** The delays between retries when the store reports the object as missing, in milliseconds. */
  readonly missingDelaysMs: readonly number[];
  /** Aborts when the consumer stops. */
  readonly signal: AbortSignal | undefined;
}

/** Reads an object, or a range of it. The first request is sent when the consumer requests the first chunk. */
export async function* readObject(client: S3Client, readRequest: ReadRequest): AsyncGenerator<Uint8Array, void> {
  const { address, range, length } = readRequest;
  const hash = range === undefined ? createHash('sha256') : undefined;
  let read = 0;
  try {
    while (read < length) {
      const before = read;
      for await (const chunk of readUntilStalled(client, readRequest, read)) {
        read += chunk.length;
        hash?.update(chunk);
        if (read > length) break;
        // Checked before the last chunk is yielded, so that a consumer never gets a complete but wrong object.
        if (read === length) assertDigest(address, hash?.digest('base64url'));
        yield chunk;
      }
      if (read === before) break;
    }
  } catch (error) {
    throw translateError(error);
  }
  if (read !== length) {
    throw new UnavailableError(`Cannot read ${address}: received ${read} bytes, expected ${length}`);
  }
}

/** Reads from an offset to the end with one request. Returns early if the consumer stalls. */
async function* readUntilStalled(
  client: S3Client,
  readRequest: ReadRequest,
  from: number,
): AsyncGenerator<Uint8Array, void> {
  const { address, length } = readRequest;
  const body = await get(client, readRequest, from);
  let [consumerHasChunk, hasStalled] = [false, false];
  const timer = setTimeout(() => {
    hasStalled = consumerHasChunk;
    if (hasStalled) body.destroy();
  }, stallMs);
  timer.unref();
  try {
    let offset = from;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      offset += chunk.length;
      consumerHasChunk = true;
      timer.refresh();
      yield chunk;
      consumerHasChunk = false;
      if (hasStalled && offset < length) return;
    }
    if (offset < length) throw new UnavailableError(`Cannot read ${address}: the response ends at byte ${offset}`);
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}

/** Requests an object that is known to exist. Retries a 404, which a replica of the store may return shortly after a write. */
async function get(client: S3Client, readRequest: ReadRequest, from: number): Promise<Readable> {
  const { Bucket, Key, address, missingDelaysMs, signal } = readRequest;
  const command = new GetObjectCommand({ Bucket, Key, ...rangeOf(readRequest, from) });
  for (const delayMs of [...missingDelaysMs, undefined]) {
    try {
      const { Body } = await client.send(command, { ...(signal !== undefined && { abortSignal: signal }) });
      return Body as Readable;
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (delayMs !== undefined) await sleep(delayMs);
    }
  }
  throw new UnavailableError(`Cannot read ${address}: the object store lists the object but returns 404 for it`);
}

/** Returns no range for the whole object. */
function rangeOf({ range, length }: ReadRequest, from: number): { readonly Range?: string } {
  if (range === undefined && from === 0) return {};
  const first = range?.first ?? 0;
  return { Range: `bytes=${first + from}-${first + length - 1}` };
}

function assertDigest(address: ContentAddress, digest: string | undefined): void {
  if (digest !== undefined && digest !== address) {
    throw new WrongBytesError(`The object store returned wrong bytes for ${address}: their address is ${digest}`);
  }
}
