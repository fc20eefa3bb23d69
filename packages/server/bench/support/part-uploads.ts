import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { S3Options } from '../../src/blobs/s3/s3-blob-store.ts';

/** The emulator takes bodies of at most 11 MiB. */
const partBytes = 8 * 1024 * 1024;

/** Stands before an object store, and puts there in parts what is too large for it in one. */
export interface PartUploads {
  readonly url: string;
  close(): void;
}

export async function openPartUploads({ endpoint = '', credentials }: S3Options): Promise<PartUploads> {
  const region = 'us-east-1';
  const client = new S3Client({ endpoint, region, forcePathStyle: true, ...(credentials && { credentials }) });
  const server = createServer((message, response) => {
    const isLarge = message.method === 'PUT' && Number(message.headers['content-length']) > partBytes;
    const done = isLarge ? putInParts(client, message, response) : forward(endpoint, message, response);
    done.catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
      client.destroy();
    },
  };
}

async function forward(endpoint: string, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', headers } = message;
  await new Promise<void>((resolve, reject) => {
    const upstream = request(endpoint + message.url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', reject).on('end', resolve).pipe(response);
    });
    message.pipe(upstream.on('error', reject));
  });
}

async function putInParts(client: S3Client, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(message.url ?? '/', 'http://localhost');
  const [, bucket = '', ...names] = pathname.split('/');
  const target = { Bucket: bucket, Key: decodeURIComponent(names.join('/')) };
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  const parts: { ETag: string | undefined; PartNumber: number }[] = [];
  for (let at = 0; at < body.length; at += partBytes) {
    const part = { ...target, UploadId, PartNumber: parts.length + 1, Body: body.subarray(at, at + partBytes) };
    const { ETag } = await client.send(new UploadPartCommand(part));
    parts.push({ ETag, PartNumber: part.PartNumber });
  }
  const complete = { ...target, UploadId, MultipartUpload: { Parts: parts } };
  const { ETag = '' } = await client.send(new CompleteMultipartUploadCommand(complete));
  response.writeHead(200, { etag: ETag, 'content-length': '0' }).end();
}
