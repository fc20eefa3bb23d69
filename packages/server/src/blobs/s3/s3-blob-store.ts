import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { type BlobKey, parseBlobKey } from '../../domain/housekeeping/blob-key.ts';
import type { BlobStat, BlobStore } from '../../domain/ports.ts';
import { digestName, keyOfName, objectName } from '../object-name.ts';
import { isMissing, translateError } from './errors.ts';
import { readObject } from './read.ts';

/** Where an S3-compatible object store is, and how to get into it. */
export interface S3Options {
  readonly bucket: string;
  /** The URL of its API. Default: Amazon's for the region. */
  readonly endpoint?: string | undefined;
  /** Default: the one of the environment, else `us-east-1`, which most stores other than Amazon's take. */
  readonly region?: string | undefined;
  /** What the keys of all objects begin with. Default: nothing. */
  readonly prefix?: string | undefined;
  /** Default: what Amazon's own tools find in the environment, in files, or of the machine's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Whether the bucket is the first part of the path, rather than of the host's name. Default: when an endpoint is given. */
  readonly forcePathStyle?: boolean | undefined;
}

export interface S3BlobStoreOptions extends S3Options {
  /** Called with the name of each request that changes something, before it is made. */
  readonly onStep?: ((step: S3Step) => void) | undefined;
  /** How long to wait for a connection, and for each answer to begin, in milliseconds. Default: 10,000. */
  readonly waitMs?: number | undefined;
  /**
   * Some stores say for a moment after a write that there is no such object: how long to wait each time before asking again, in
   * milliseconds. Default: 50, 200, 500.
   */
  readonly missingDelaysMs?: readonly number[] | undefined;
}

/** A request that changes something. An object is there whole, or not at all. */
export type S3Step = 'put' | 'delete';

/** How often a request that failed is made again. */
const maxAttempts = 4;

/** How long it is believed that the store could be written to, in milliseconds. */
const pingsApartMs = 1000;

/**
 * Opens the blob store in a bucket: `<prefix><SHA-256 in hexadecimal>[.<generation>]` is an object each. Nothing is believed that can be
 * checked: bytes are hashed as they are read, whatever the store says of its own checksums, and no write depends on a condition.
 */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<BlobStore> {
  const { bucket, prefix = '', onStep, missingDelaysMs = [50, 200, 500] } = options;
  const client = new S3Client(clientConfig(options, 64));
  // Connections of their own: those who read slowly keep nobody from writing.
  const reader = new S3Client(clientConfig(options, 1024));
  const at = (name: string) => ({ Bucket: bucket, Key: prefix + name });

  const head = async (name: string): Promise<BlobStat | undefined> => {
    try {
      const { ContentLength = 0, ETag, LastModified } = await client.send(new HeadObjectCommand(at(name)));
      return { size: ContentLength, fingerprint: `${ETag} ${LastModified?.getTime()}` };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw translateError(error);
    }
  };
  const stat = async (key: BlobKey): Promise<BlobStat | undefined> => {
    const name = objectName(key);
    if (name === undefined) return undefined;
    for (const delayMs of missingDelaysMs) {
      const found = await head(name);
      if (found !== undefined) return found;
      await sleep(delayMs);
    }
    return head(name);
  };
  const write = async (
    name: string,
    bytes: Uint8Array,
    { checksum, signal }: { readonly checksum?: string; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> => {
    try {
      await client.send(
        new PutObjectCommand({
          ...at(name),
          Body: bytes,
          ContentLength: bytes.length,
          ContentType: 'application/wasm', // part of what is signed, which one store demands
          ...(checksum !== undefined && { ChecksumSHA256: checksum }),
        }),
        { ...(signal !== undefined && { abortSignal: signal }) },
      );
    } catch (error) {
      throw translateError(error);
    }
  };

  let pingedAtMs = Number.NEGATIVE_INFINITY;
  let lastPing: Promise<void> = Promise.resolve();

  return {
    async put(key, bytes) {
      const name = objectName(key);
      if (name === undefined) throw new TypeError(`Cannot store bytes under "${key}": it is no key of a blob`);
      onStep?.('put');
      const digest = digestName(parseBlobKey(key).address) ?? '';
      await write(name, bytes, { checksum: Buffer.from(digest, 'hex').toString('base64') });
    },
    size: async (key) => (await stat(key))?.size,
    stat,
    async open(key, range, signal) {
      const length = (await stat(key))?.size;
      if (length === undefined) return undefined;
      const { first, last } = range ?? { first: 0, last: length - 1 };
      if (first < 0 || last >= length) {
        throw new RangeError(`Cannot read bytes ${first} to ${last} of a blob of ${length} bytes`);
      }
      const { address } = parseBlobKey(key);
      const object = at(objectName(key) ?? '');
      return readObject(reader, { ...object, address, range, length: last - first + 1, missingDelaysMs, signal });
    },
    async delete(key) {
      const name = objectName(key);
      if (name === undefined || (await head(name)) === undefined) return false;
      onStep?.('delete');
      try {
        await client.send(new DeleteObjectCommand(at(name)));
      } catch (error) {
        throw translateError(error);
      }
      return true;
    },
    async *list() {
      try {
        for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
          for (const { Key = '' } of Contents) {
            const key = keyOfName(Key.slice(prefix.length));
            if (key !== undefined) yield key;
          }
        }
      } catch (error) {
        throw translateError(error);
      }
    },
    // An object that was not put whole is not there, and nothing is put in parts.
    deleteUnfinished: async () => 0,
    async ping(signal) {
      try {
        await reader.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), {
          ...(signal !== undefined && { abortSignal: signal }),
        });
      } catch (error) {
        throw translateError(error);
      }
    },
    pingWrite(signal) {
      // Anybody may ask whether a server is ready; the store is written to once a second for all of them.
      if (performance.now() - pingedAtMs > pingsApartMs) {
        pingedAtMs = performance.now();
        lastPing = write('probe', new Uint8Array([0x2e]), { signal });
        lastPing.catch(() => {
          pingedAtMs = Number.NEGATIVE_INFINITY; // whether it is back is asked each time
        });
      }
      return lastPing;
    },
    async close() {
      client.destroy();
      reader.destroy();
    },
  };
}

function clientConfig(options: S3BlobStoreOptions, maxSockets: number): S3ClientConfig {
  const { endpoint, region = 'us-east-1', credentials, waitMs = 10_000 } = options;
  return {
    ...(endpoint !== undefined && { endpoint }),
    region,
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    ...(credentials !== undefined && { credentials }),
    maxAttempts,
    // Stores that are not Amazon's refuse, or misread, the checksums that the client would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: waitMs,
      requestTimeout: 3 * waitMs,
      throwOnRequestTimeout: true,
      socketTimeout: waitMs,
      httpAgent: { maxSockets, keepAlive: true },
      httpsAgent: { maxSockets, keepAlive: true },
    },
  };
}
