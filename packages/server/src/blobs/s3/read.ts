import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { ContentAddress } from '@tenon/protocol';
import { type ByteRange, UnavailableError, WrongBytesError } from '../../domain/ports.ts';
import { isMissing, translateError } from './errors.ts';

/**
 * For how long a reader may take nothing before the connection to the store is given to others, in milliseconds: slow clients would
 * keep all of them. What is left is asked for when it is wanted.
 */
const stallMs = 2000;

export interface Reading {
  readonly Bucket: string;
  readonly Key: string;
  readonly address: ContentAddress;
  /** The whole is read without one, and hashed. */
  readonly range: ByteRange | undefined;
  /** How many bytes there are to read. */
  readonly length: number;
  /** How long to wait each time before asking again for what is said to be missing, in milliseconds. */
  readonly missingDelaysMs: readonly number[];
  /** Aborts when nobody reads any more. */
  readonly signal: AbortSignal | undefined;
}

/** Asks for the object with the first chunk: what is never read holds nothing open. */
export async function* readObject(client: S3Client, reading: Reading): AsyncGenerator<Uint8Array, void> {
  const { address, range, length } = reading;
  const hash = range === undefined ? createHash('sha256') : undefined;
  let read = 0;
  try {
    while (read < length) {
      const before = read;
      for await (const chunk of stretch(client, reading, read)) {
        read += chunk.length;
        hash?.update(chunk);
        if (read > length) break;
        // The last bytes wait for the check: a reader that has them all has the right ones.
        if (read === length) demandRight(address, hash?.digest('base64url'));
        yield chunk;
      }
      if (read === before) break;
    }
  } catch (error) {
    throw translateError(error);
  }
  if (read !== length) throw new UnavailableError(`Cannot read ${address}: ${read} bytes came, not ${length}`);
}

/** What is left, as far as the reader keeps up: it ends early when the reader has stalled. */
async function* stretch(client: S3Client, reading: Reading, from: number): AsyncGenerator<Uint8Array, void> {
  const body = await get(client, reading, from);
  let [isHeld, hasStalled] = [false, false];
  const timer = setTimeout(() => {
    hasStalled = isHeld;
    if (hasStalled) body.destroy();
  }, stallMs);
  timer.unref();
  try {
    let at = from;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      at += chunk.length;
      isHeld = true;
      timer.refresh();
      yield chunk;
      isHeld = false;
      if (hasStalled && at < reading.length) return;
    }
    if (at < reading.length) throw new UnavailableError(`Cannot read ${reading.address}: it ends at byte ${at}`);
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}

/** The body of an object that was there a moment ago, whichever of the store's machines says now that it is not. */
async function get(client: S3Client, reading: Reading, from: number): Promise<Readable> {
  const { Bucket, Key, address, missingDelaysMs, signal } = reading;
  const command = new GetObjectCommand({ Bucket, Key, ...rangeOf(reading, from) });
  for (const delayMs of [...missingDelaysMs, undefined]) {
    try {
      const { Body } = await client.send(command, { ...(signal !== undefined && { abortSignal: signal }) });
      return Body as Readable;
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (delayMs !== undefined) await sleep(delayMs);
    }
  }
  throw new UnavailableError(
    `Cannot read ${address}: the object store says by turns that it is there and that it is not`,
  );
}

/** Nothing for all of the object. */
function rangeOf({ range, length }: Reading, from: number): { readonly Range?: string } {
  if (range === undefined && from === 0) return {};
  const first = range?.first ?? 0;
  return { Range: `bytes=${first + from}-${first + length - 1}` };
}

function demandRight(address: ContentAddress, digest: string | undefined): void {
  if (digest !== undefined && digest !== address) {
    throw new WrongBytesError(`The object store gave other bytes for ${address}: their address is ${digest}`);
  }
}
