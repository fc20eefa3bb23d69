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
import { type BlobKey, parseBlobKey } from '../../db/blob-key.ts';
import type { BlobStat, BlobStore } from '../blob-store.ts';
import { digestName, keyOfName, objectName } from '../object-name.ts';
import { isMissing, translateError } from './errors.ts';
import { readObject } from './read.ts';

/** The location and credentials of an S3-compatible object store. */
export interface S3Options {
  readonly bucket: string;
  /** The URL of the API. Default: Amazon's for the region. */
  readonly endpoint?: string | undefined;
  /** Default: from the environment, else `us-east-1`, which most other stores accept. */
  readonly region?: string | undefined;
  /** A prefix for the keys of all objects. Default: empty. */
  readonly prefix?: string | undefined;
  /** Default: the AWS SDK's default chain (environment, files, or the machine's role). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Whether the URL has the bucket in its path, not in its host name. Default: `true` if an endpoint is given. */
  readonly forcePathStyle?: boolean | undefined;
}

interface S3BlobStoreOptions extends S3Options {
  /** Called before each request that changes an object. */
  readonly onStep?: ((step: S3Step) => void) | undefined;
  /** The time-out for a connection, and for the start of each response, in milliseconds. Default: 10,000. */
  readonly waitMs?: number | undefined;
  /**
   * The delays between retries when an object is missing, in milliseconds. Some stores return 404 shortly after a write.
   * Default: 50, 200, 500.
   */
  readonly missingDelaysMs?: readonly number[] | undefined;
}

/** A request that changes an object. Each is atomic. */
type S3Step = 'put' | 'delete';

const maxAttempts = 4;

/** `pingWrite()` reuses a successful probe for this many milliseconds. */
const probeIntervalMs = 1000;

/**
 * Opens a blob store in a bucket, with one object `<prefix><SHA-256 in hexadecimal>[.<generation>]` per blob. Reads verify the digest
 * themselves instead of relying on the store's checksums, and writes don't use conditional requests: some stores accept a wrong checksum, ignore
 * conditions, or reject signatures without the content type. Names are hexadecimal, because some stores are on case-insensitive file systems.
 */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<BlobStore> {
  const { bucket, prefix = '', onStep, missingDelaysMs = [50, 200, 500] } = options;
  const client = new S3Client(clientConfig(options, 64));
  // A separate connection pool, so that slow readers can't block writes.
  const readClient = new S3Client(clientConfig(options, 1024));
  const objectAt = (name: string) => ({ Bucket: bucket, Key: prefix + name });

  const head = async (name: string): Promise<BlobStat | undefined> => {
    try {
      const { ContentLength = 0, ETag, LastModified } = await client.send(new HeadObjectCommand(objectAt(name)));
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
          ...objectAt(name),
          Body: bytes,
          ContentLength: bytes.length,
          ContentType: 'application/wasm', // some stores require a signed content type
          ...(checksum !== undefined && { ChecksumSHA256: checksum }),
        }),
        { ...(signal !== undefined && { abortSignal: signal }) },
      );
    } catch (error) {
      throw translateError(error);
    }
  };

  let probedAtMs = Number.NEGATIVE_INFINITY;
  let lastProbe: Promise<void> = Promise.resolve();

  return {
    async put(key, bytes) {
      const name = objectName(key);
      if (name === undefined) throw new TypeError(`Cannot store bytes under "${key}": not a valid blob key`);
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
      const object = objectAt(objectName(key) ?? '');
      return readObject(readClient, { ...object, address, range, length: last - first + 1, missingDelaysMs, signal });
    },
    async delete(key) {
      const name = objectName(key);
      if (name === undefined || (await head(name)) === undefined) return false;
      onStep?.('delete');
      try {
        await client.send(new DeleteObjectCommand(objectAt(name)));
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
    // A PUT is atomic and there are no multipart uploads, so a failed write leaves nothing.
    deleteUnfinished: async () => 0,
    async ping(signal) {
      try {
        await readClient.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), {
          ...(signal !== undefined && { abortSignal: signal }),
        });
      } catch (error) {
        throw translateError(error);
      }
    },
    pingWrite(signal) {
      // Readiness checks are public, so they share one write per interval. A failed probe is not reused.
      if (performance.now() - probedAtMs > probeIntervalMs) {
        probedAtMs = performance.now();
        lastProbe = write('probe', new Uint8Array([0x2e]), { signal });
        lastProbe.catch(() => {
          probedAtMs = Number.NEGATIVE_INFINITY;
        });
      }
      return lastProbe;
    },
    async close() {
      client.destroy();
      readClient.destroy();
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
    // Other vendors' stores reject or misread the checksums that the client adds by default.
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
