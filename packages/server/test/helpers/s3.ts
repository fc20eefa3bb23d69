import { randomBytes } from 'node:crypto';
import process from 'node:process';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';
import type { S3Options } from '../../src/blobs/s3/s3-blob-store.ts';

/** An object store of the test's own, which speaks S3 on a port of this machine. */
export interface ObjectStore {
  readonly port: number;
  /** How to get to a bucket of it. */
  options(bucket: string): S3Options & { readonly endpoint: string; readonly credentials: Credentials };
  /** Copies all objects of a bucket into another, as a backup does. @returns how many there are */
  copyBucket(from: string, to: string): Promise<number>;
  /** Replaces the bytes of all objects of a bucket. @returns how many there are */
  changeObjects(bucket: string, change: (bytes: Uint8Array) => Uint8Array): Promise<number>;
  stop(): Promise<void>;
}

type Credentials = NonNullable<S3Options['credentials']>;

/**
 * Starts an emulator, which keeps everything in memory. Where `TENON_TEST_S3_ENDPOINT` names an object store on a port of 127.0.0.1,
 * and `TENON_TEST_S3_ACCESS_KEY_ID` and `TENON_TEST_S3_SECRET_ACCESS_KEY` open it, its place is taken by buckets of that one, which
 * are removed in the end.
 */
export async function startObjectStore(buckets: readonly string[]): Promise<ObjectStore> {
  const { TENON_TEST_S3_ENDPOINT: given } = process.env;
  return given === undefined ? startEmulator(buckets) : useOwn(given, buckets);
}

async function startEmulator(buckets: readonly string[]): Promise<ObjectStore> {
  const server = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1', init: { buckets: [...buckets] } });
  const credentials = { accessKeyId: 'tenon', secretAccessKey: 'a secret of the tests' };
  const client = clientOf(`http://127.0.0.1:${server.port}`, credentials);
  return {
    port: server.port,
    options: (bucket) => ({ bucket, endpoint: `http://127.0.0.1:${server.port}`, credentials }),
    copyBucket: (from, to) => copyAll(client, from, to),
    changeObjects: (bucket, change) => changeAll(client, bucket, change),
    async stop() {
      client.destroy();
      await server.stop();
    },
  };
}

async function useOwn(endpoint: string, buckets: readonly string[]): Promise<ObjectStore> {
  const { TENON_TEST_S3_ACCESS_KEY_ID: accessKeyId = '', TENON_TEST_S3_SECRET_ACCESS_KEY: secretAccessKey = '' } =
    process.env;
  const credentials = { accessKeyId, secretAccessKey };
  const client = clientOf(endpoint, credentials);
  const suffix = randomBytes(6).toString('hex'); // several tests use the store at once
  const nameOf = (bucket: string): string => `${bucket}-${suffix}`;
  const used = new Set(buckets);
  for (const bucket of buckets) await client.send(new CreateBucketCommand({ Bucket: nameOf(bucket) }));
  return {
    port: Number(new URL(endpoint).port),
    options(bucket) {
      used.add(bucket);
      return { bucket: nameOf(bucket), endpoint, credentials };
    },
    copyBucket: (from, to) => copyAll(client, nameOf(from), nameOf(to)),
    changeObjects: (bucket, change) => changeAll(client, nameOf(bucket), change),
    async stop() {
      for (const bucket of used) await removeBucket(client, nameOf(bucket));
      client.destroy();
    },
  };
}

function clientOf(endpoint: string, credentials: Credentials): S3Client {
  return new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
}

async function* keysOf(client: S3Client, Bucket: string): AsyncGenerator<string> {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
    for (const { Key } of Contents) if (Key !== undefined) yield Key;
}

async function copyAll(client: S3Client, from: string, to: string): Promise<number> {
  let count = 0;
  for await (const Key of keysOf(client, from)) {
    await client.send(new CopyObjectCommand({ Bucket: to, Key, CopySource: `${from}/${Key}` }));
    count++;
  }
  return count;
}

async function changeAll(client: S3Client, Bucket: string, change: (bytes: Uint8Array) => Uint8Array): Promise<number> {
  let count = 0;
  for await (const Key of keysOf(client, Bucket)) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    const bytes = await Body?.transformToByteArray();
    await client.send(new PutObjectCommand({ Bucket, Key, Body: change(bytes ?? new Uint8Array()) }));
    count++;
  }
  return count;
}

async function removeBucket(client: S3Client, Bucket: string): Promise<void> {
  try {
    for await (const Key of keysOf(client, Bucket)) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await client.send(new DeleteBucketCommand({ Bucket }));
  } catch (error) {
    if (!(error instanceof Error && error.name === 'NoSuchBucket')) throw error;
  }
}
