import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { type Fault, type FaultProxy, openFaultProxy } from '../../../../../test/helpers/fault-proxy.ts';
import { until } from '../../../../../test/helpers/until.ts';
import { addressOfBytes, assertSameBytes, bytesOf, collect } from '../../../test/helpers/bytes.ts';
import type { BlobStore } from '../blob-store.ts';
import { openS3BlobStore } from './s3-blob-store.ts';

const MiB = 1024 * 1024;

const isHead = ({ method }: { method?: string | undefined }) => method === 'HEAD';

describe('readObject()', () => {
  let proxy: FaultProxy;
  let blobs: BlobStore;
  const bytes = bytesOf(7, 32 * MiB);
  const address = addressOfBytes(bytes);
  /** The number of open responses, the bytes sent, and the requested ranges. */
  const store = { open: 0, sentBytes: 0, ranges: [] as (string | undefined)[] };

  function* piecesOf(body: Uint8Array) {
    for (let at = 0; at < body.length; at += MiB / 16) {
      const piece = body.subarray(at, at + MiB / 16);
      store.sentBytes += piece.length;
      yield piece;
    }
  }
  /** Responds from the test's memory, and counts the bytes sent. */
  const watched: Fault = ({ request, response }) => {
    if (request.method !== 'GET') {
      request
        .resume()
        .once('end', () => response.writeHead(200, { 'content-length': isHead(request) ? bytes.length : 0 }).end());
      return;
    }
    const { range } = request.headers;
    const [, first = '0', last = String(bytes.length - 1)] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const body = bytes.subarray(Number(first), Number(last) + 1);
    store.open++;
    store.ranges.push(range);
    response.once('close', () => store.open--);
    response.writeHead(range === undefined ? 200 : 206, { 'content-length': body.length });
    Readable.from(piecesOf(body)).pipe(response);
  };
  before(async () => {
    proxy = await openFaultProxy(0); // without a store behind it
    proxy.inject(watched);
    const credentials = { accessKeyId: 'tenon', secretAccessKey: 'a secret of the tests' };
    blobs = await openS3BlobStore({ bucket: 'plugins', endpoint: proxy.url, credentials, missingDelaysMs: [] });
  });
  after(async () => {
    await blobs.close();
    await proxy.close();
  });

  it('applies backpressure, and closes the connection when the consumer stalls', async () => {
    Object.assign(store, { sentBytes: 0, ranges: [] });
    const received: Uint8Array[] = [];
    for await (const chunk of (await blobs.open(address)) ?? []) {
      received.push(chunk);
      if (received.length > 1) continue;
      assert.equal(store.open, 1);
      await until(() => store.open === 0, { message: 'the connection is still open' });
      assert.ok(
        store.sentBytes < bytes.length / 2,
        `${store.sentBytes} bytes were sent although the consumer had stalled`,
      );
    }
    assertSameBytes(Buffer.concat(received), bytes);
    assert.deepEqual(store.ranges, [undefined, `bytes=${received[0]?.length}-${bytes.length - 1}`]);
  });

  it('continues within a range after a stall', async () => {
    const [first, last] = [1000, 20 * MiB];
    store.ranges = [];
    const received: Uint8Array[] = [];
    for await (const chunk of (await blobs.open(address, { first, last })) ?? []) {
      if (received.push(chunk) === 1) await until(() => store.open === 0, { message: 'the connection is still open' });
    }
    assertSameBytes(Buffer.concat(received), bytes.subarray(first, last + 1));
    const [length = 0] = received.map((chunk) => chunk.length);
    assert.deepEqual(store.ranges, [`bytes=${first}-${last}`, `bytes=${first + length}-${last}`]);
  });

  it('ends the request when the consumer stops', async () => {
    for await (const _ of (await blobs.open(address)) ?? []) {
      assert.equal(store.open, 1);
      break;
    }
    await until(() => store.open === 0, { message: 'the request is still open' });
  });

  it('aborts a request that hangs when the consumer aborts', async () => {
    let [hangs, isGone] = [false, false];
    proxy.inject(({ request, response, forward }) => {
      if (request.method !== 'GET') return watched({ request, response, forward });
      hangs = true;
      response.once('close', () => {
        isGone = true;
      });
    });
    const controller = new AbortController();
    const reading = collect(await blobs.open(address, undefined, controller.signal));
    await until(() => hangs, { message: 'no request was sent' });
    controller.abort();
    await assert.rejects(reading);
    await until(() => isGone, { message: 'the request still hangs' });
    proxy.inject(watched);
  });

  it('serves other readers and writers while many consumers stall', async () => {
    const slow = await Promise.all(
      Array.from({ length: 80 }, async () => {
        const chunks = ((await blobs.open(address)) as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
        assert.equal((await chunks.next()).done, false);
        return chunks;
      }),
    );
    assert.equal(await blobs.size(address), bytes.length);
    await blobs.put(address, bytes);
    assertSameBytes(await collect(await blobs.open(address)), bytes);
    await until(() => store.open === 0, { message: 'connections are still open' });
    await Promise.all(slow.map((chunks) => chunks.return?.()));
  });
});
