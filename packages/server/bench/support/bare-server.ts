/**
 * A bare `node:http` server, without authorization: answers a GET by path with a given response; writes what is put, and
 * waits for the disk; and instruments what is posted, on its one thread and without validating anything.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { instrument } from '@tenon/instrument';

/** An answer as a bare server gives it. `headers` are the few that a client needs to make sense of the body. */
export interface Canned {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What a bare server tells: answers to GET by path, and to every PUT. */
export interface BareOrder {
  readonly answers: ReadonlyMap<string, Canned>;
  readonly published: Canned;
}

const folder = await mkdtemp(join(tmpdir(), 'tenon-bench-bare-'));
let files = 0;

function send(response: ServerResponse, { headers, body }: Canned): void {
  response.writeHead(200, { ...headers, 'content-length': String(body.length) }).end(body);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function keep(bytes: Uint8Array): Promise<void> {
  const handle = await open(join(folder, String(files++ % 1000)), 'w');
  await handle.write(bytes);
  await handle.sync();
  await handle.close();
}

async function take(request: IncomingMessage, response: ServerResponse, published: Canned): Promise<void> {
  const bytes = await bodyOf(request);
  if (request.method === 'POST') {
    send(response, { headers: { 'content-type': 'application/wasm' }, body: instrument(bytes).bytes });
    return;
  }
  await keep(bytes);
  send(response, published);
}

process.once('message', ({ answers, published }: BareOrder) => {
  const server = createServer((request, response) => {
    if (request.method !== 'GET') {
      void take(request, response, published);
      return;
    }
    const answer = answers.get(request.url ?? '');
    const etag = answer?.headers.etag ?? '';
    if (answer === undefined) response.writeHead(404).end();
    else if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else send(response, answer);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
process.on('disconnect', async () => {
  await rm(folder, { recursive: true, force: true });
  process.exit();
});
