import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  corrupt,
  type Fault,
  type FaultProxy,
  forward,
  openFaultProxy,
  truncate,
} from '../../../../../test/helpers/fault-proxy.ts';
import { addressOfBytes, assertSameBytes, bytesOf, collect } from '../../../test/helpers/bytes.ts';
import { type ObjectStore, startObjectStore } from '../../../test/helpers/s3.ts';
import { openSqliteStore } from '../../db/sqlite/store.ts';
import { RefusedError, StorageFullError, UnavailableError, WrongBytesError } from '../../db/store.ts';
import { statements } from '../../queries.ts';
import type { BlobStore } from '../blob-store.ts';
import { verify } from '../verify.ts';
import { openS3BlobStore } from './s3-blob-store.ts';

const answer =
  (status: number, code: string): Fault =>
  ({ request, response }) => {
    request.resume();
    const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
    response.writeHead(status, { 'content-type': 'application/xml' }).end(request.method === 'HEAD' ? '' : body);
  };
const missing = answer(404, 'NoSuchKey');
const silence: Fault = ({ request }) => void request.resume();
/** Corrupts objects, and leaves lists of objects as they are. */
const corruptObjects: Fault = (exchange) =>
  exchange.request.url?.includes('list-type') ? forward(exchange) : corrupt(exchange);

describe('openS3BlobStore() with a failing object store', () => {
  let objects: ObjectStore;
  let proxy: FaultProxy;
  let blobs: BlobStore;
  const bytes = bytesOf(1, 300_000);
  const address = addressOfBytes(bytes);

  before(async () => {
    objects = await startObjectStore(['plugins']);
    proxy = await openFaultProxy(objects.port);
    const options = { ...objects.options('plugins'), endpoint: proxy.url, prefix: 'some/where/', waitMs: 200 };
    blobs = await openS3BlobStore({ ...options, missingDelaysMs: [1, 2, 3] });
    await blobs.put(address, bytes);
  });
  after(async () => {
    await blobs.close();
    await proxy.close();
    await objects.stop();
  });

  it('signs the content type of a PUT, and names objects in hexadecimal', async () => {
    let seen: { readonly url: string; readonly type: string; readonly signed: string } | undefined;
    proxy.injectNext(async ({ request, response, forward }) => {
      const { headers, url = '' } = request;
      seen = { url, type: headers['content-type'] ?? '', signed: headers.authorization ?? '' };
      const { status, headers: fields, body } = await forward();
      response.writeHead(status, fields).end(body);
    });
    await blobs.put(address, bytes);
    const name = Buffer.from(address, 'base64url').toString('hex');
    assert.equal(
      new URL(seen?.url ?? '', proxy.url).pathname,
      `/${objects.options('plugins').bucket}/some/where/${name}`,
    );
    assert.equal(seen?.type, 'application/wasm');
    assert.match(seen?.signed ?? '', /SignedHeaders=[^,]*content-type/);
  });

  it('finds an object although the store returns 404 for a moment after the write', async () => {
    proxy.injectNext(missing, missing, missing);
    assert.equal(await blobs.size(address), bytes.length);
    proxy.injectNext(missing, missing);
    assertSameBytes(await collect(await blobs.open(address)), bytes);
    proxy.injectNext(forward, missing, missing, missing); // HEAD finds it, GET does not
    assertSameBytes(await collect(await blobs.open(address)), bytes);
  });

  it('fails with UnavailableError when the store keeps returning 404 for an existing object', async () => {
    proxy.injectNext(forward, missing, missing, missing, missing);
    await assert.rejects(async () => collect(await blobs.open(address)), UnavailableError);
  });

  it('retries when the store is busy', async () => {
    proxy.injectNext(answer(503, 'SlowDown'), answer(500, 'InternalError'));
    await blobs.put(address, bytes);
    proxy.injectNext(answer(503, 'ServiceUnavailable'));
    assert.equal(await blobs.size(address), bytes.length);
  });

  for (const [name, fault] of Object.entries({
    'stays busy': answer(503, 'SlowDown'),
    'does not respond': silence,
    'closes the connection': ({ response }) => void response.destroy(),
  } satisfies Record<string, Fault>)) {
    it(`fails with UnavailableError while the store ${name}, and works afterwards`, async () => {
      proxy.inject(fault);
      try {
        await assert.rejects(blobs.put(address, bytes), UnavailableError);
        await assert.rejects(blobs.size(address), UnavailableError);
        await assert.rejects(async () => collect(await blobs.open(address)), UnavailableError);
        await assert.rejects(blobs.delete(address), UnavailableError);
        await assert.rejects(blobs.pingWrite(), UnavailableError);
        await assert.rejects(Array.fromAsync(blobs.list()), UnavailableError);
      } finally {
        proxy.inject(undefined);
      }
      assertSameBytes(await collect(await blobs.open(address)), bytes);
    });
  }

  /** Reads until the end or an error. @returns the number of bytes, and the error */
  async function readUntilError(): Promise<{ readonly length: number; readonly error: unknown }> {
    let length = 0;
    try {
      for await (const chunk of (await blobs.open(address)) ?? []) length += chunk.length;
      return { length, error: undefined };
    } catch (error) {
      return { length, error };
    }
  }
  it('never returns the whole of a truncated response', async () => {
    proxy.injectNext(forward, truncate);
    const { length, error } = await readUntilError();
    assert.ok(length < bytes.length);
    assert.ok(error instanceof UnavailableError, String(error));
  });

  it('never returns the whole of wrong bytes', async () => {
    proxy.injectNext(forward, corruptObjects);
    const { length, error } = await readUntilError();
    assert.ok(length < bytes.length, 'the last chunk is held back');
    assert.ok(error instanceof WrongBytesError, String(error));
    assert.match(String(error), /returned wrong bytes/);
  });

  it('lets verify() report wrong bytes and continue', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-verify-'));
    const deps = { blobs, store: await openSqliteStore(statements, { file: join(folder, 'tenon.db') }) };
    const tell = () => verify(deps);
    assert.deepEqual((await tell()).faults, []);
    proxy.inject(corruptObjects);
    try {
      const subject = `content ${address}`;
      assert.deepEqual((await tell()).faults, [{ subject, detail: "its file doesn't have the bytes of its address" }]);
    } finally {
      proxy.inject(undefined);
      await deps.store.close();
      await rm(folder, { recursive: true });
    }
  });

  it('writes one probe for many concurrent pingWrite() calls', async () => {
    const before = proxy.requests.length;
    await Promise.all(Array.from({ length: 50 }, () => blobs.pingWrite()));
    assert.ok(proxy.requests.length - before <= 1, `${proxy.requests.length - before} requests`);
  });

  it('fails with StorageFullError when the store is full', async () => {
    proxy.inject(answer(507, 'InsufficientStorage'));
    await assert.rejects(blobs.put(address, bytes), StorageFullError);
    proxy.inject(undefined);
  });

  it('fails with RefusedError for a missing bucket or wrong credentials, without the secret in the message', async () => {
    for (const [status, code] of [
      [403, 'AccessDenied'],
      [404, 'NoSuchBucket'],
    ] as const) {
      proxy.inject(answer(status, code));
      await assert.rejects(blobs.put(address, bytes), (error: Error) => {
        assert.ok(error instanceof RefusedError, String(error));
        assert.ok(error.message.includes(code));
        assert.ok(!JSON.stringify({ ...error, text: String(error) }).includes('secret'));
        return true;
      });
      proxy.inject(undefined);
    }
  });
});
