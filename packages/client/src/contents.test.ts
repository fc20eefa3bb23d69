import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addressOfBytes,
  createFakeServer,
  listenTo,
  listResponse,
  noConnection,
  openClient,
  problemResponse,
} from '../test/helpers/fake-server.ts';
import { settle } from '../test/helpers/manual-clock.ts';
import { systemClock } from './clock.ts';

const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at % 251);
const address = addressOfBytes(bytes);
const content = (body: Uint8Array<ArrayBuffer> = bytes) => new Response(body);

describe('getContent()', () => {
  it('sends one request for concurrent calls, and returns a copy to each', async () => {
    const server = createFakeServer(() => content());
    const { client } = openClient(server);
    const [mine, theirs] = await Promise.all([client.getContent(address), client.getContent(address)]);
    mine?.fill(0);
    assert.deepEqual(theirs, bytes);
    assert.deepEqual(await client.getContent(address), bytes);
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      [`/tenon/api/v1/c/${address}`],
    );
  });

  it('rejects an invalid content address without a request', async () => {
    const server = createFakeServer(() => content());
    const { client } = openClient(server);
    for (const wrong of ['', '..', `${address}=`, address.slice(1), `${address}/`, `../${address.slice(3)}`]) {
      await assert.rejects(client.getContent(wrong), { code: 'invalid_argument' });
    }
    assert.equal(server.requests.length, 0);
  });

  it('returns only bytes that match the address, and bypasses caches when it retries', async () => {
    const wrongOnes = [
      bytes.slice(0, 999),
      Uint8Array.from([...bytes, 0]),
      bytes.map((byte) => byte ^ 1),
      new Uint8Array(),
    ];
    for (const wrong of wrongOnes) {
      const server = createFakeServer(() => content(wrong));
      const { client } = openClient(server, { retry: { maxRetries: 1 } });
      await assert.rejects(client.getContent(address), { code: 'content_mismatch' });
      assert.deepEqual(
        server.requests.map(({ init }) => init.cache),
        ['default', 'reload'],
      );
      server.respond(() => content());
      assert.deepEqual(await client.getContent(address), bytes);
    }
  });

  it('retries transient errors with backoff, up to the maximum', async () => {
    const server = createFakeServer(noConnection);
    const { client, clock } = openClient(server, { retry: { maxRetries: 3 } });
    const call = client.getContent(address).catch((error) => error);
    for (const [waitMs, asked] of [
      [199, 1],
      [1, 2],
      [399, 2],
      [1, 3],
      [799, 3],
      [1, 4],
    ] as const) {
      await settle();
      clock.pass(waitMs);
      await settle();
      assert.equal(server.requests.length, asked);
    }
    assert.equal((await call).code, 'network');
    assert.equal(clock.timers, 0);
  });

  it('resumes an interrupted download, and restarts it if the server cannot resume', async () => {
    const cut = (from: number, to: number, init: ResponseInit = {}) =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(bytes.slice(from, to)),
          pull: (controller) => controller.error(new TypeError('terminated')),
        }),
        init,
      );
    const rest = (from: number, status = 206, named = from) =>
      new Response(bytes.slice(from), { status, headers: { 'content-range': `bytes ${named}-999/1000` } });
    const cases: [ranges: (string | null)[], ...answers: (() => Response)[]][] = [
      [[null, 'bytes=300-', 'bytes=700-'], () => cut(0, 300), () => cut(300, 700, { status: 206 }), () => rest(700)],
      [[null, 'bytes=300-'], () => cut(0, 300), () => content()], // the server ignores ranges
      [[null, 'bytes=300-', null], () => cut(0, 300), () => rest(290), () => content()], // not the requested range
      [[null, 'bytes=300-', null], () => cut(0, 300), () => rest(200, 206, 300), () => content()], // not the stated range
      [[null, 'bytes=300-', null], () => cut(0, 300), () => new Response(null, { status: 416 }), () => content()],
      [[null, 'bytes=300-', 'bytes=300-'], () => cut(0, 300), () => problemResponse(500, 'internal'), () => rest(300)],
    ];
    for (const [ranges, ...answers] of cases) {
      const server = createFakeServer(() => answers[server.requests.length - 1]?.() ?? noConnection());
      const { client } = openClient(server, { retry: { maxRetries: 2, baseDelayMs: 0 } }, { clock: systemClock });
      assert.deepEqual(await client.getContent(address), bytes);
      assert.deepEqual(
        server.requests.map(({ headers }) => headers.get('range')),
        ranges,
      );
      assert.ok(
        server.requests.every(({ headers }) => !headers.has('range') || headers.get('if-range') === `"${address}"`),
      );
    }
  });

  it('does not retry other errors', async () => {
    for (const [status, code] of [
      [400, 'invalid_request'],
      [401, 'invalid_token'],
      [403, 'forbidden'],
      [404, 'not_found'],
    ] as const) {
      const server = createFakeServer(() => problemResponse(status, code, { 'x-request-id': 'r-1' }));
      const { client } = openClient(server, { retry: { maxRetries: 4 } });
      await assert.rejects(client.getContent(address), { code, status, requestId: 'r-1' });
      assert.equal(server.requests.length, 1);
    }
  });

  it('waits for `retry-after`, in both of its forms', async () => {
    const date = 'Thu, 01 Jan 2026 00:00:10 GMT';
    for (const headers of [{ 'retry-after': '3' }, { 'retry-after': 'Thu, 01 Jan 2026 00:00:13 GMT', date }]) {
      const server = createFakeServer(() => problemResponse(429, 'rate_limited', headers));
      const { client, clock } = openClient(server, { retry: { maxRetries: 1 } });
      const call = client.getContent(address);
      await settle();
      server.respond(() => content());
      clock.pass(2_999);
      await settle();
      assert.equal(server.requests.length, 1);
      clock.pass(1);
      assert.deepEqual(await call, bytes);
    }
  });

  it('fails if `retry-after` is too long, and sends no request until then', async () => {
    const server = createFakeServer(() => problemResponse(503, 'unavailable', { 'retry-after': '60' }));
    const { client, clock } = openClient(server, { retry: { maxRetries: 2 } });
    await assert.rejects(client.getContent(address), { code: 'unavailable', status: 503, retryAfterMs: 60_000 });
    server.respond(() => content());
    clock.pass(20_000);
    await assert.rejects(client.getContent(address), { code: 'unavailable', retryAfterMs: 40_000 });
    assert.equal(server.requests.length, 1);
    clock.pass(40_000);
    assert.deepEqual(await client.getContent(address), bytes);
  });

  it('rejects more bytes than the limit, with and without `content-length`', async () => {
    const limits = { limits: { maxContentBytes: 999 } };
    const announced = new Response(bytes, { headers: { 'content-length': '1000' } });
    for (const answer of [announced, content()]) {
      const { client } = openClient(
        createFakeServer(() => answer),
        limits,
      );
      await assert.rejects(client.getContent(address), { code: 'too_large' });
    }
  });

  it('caches the most recently used contents within the limit', async () => {
    const all = [1, 2, 3].map((number) => bytes.map((byte) => byte ^ number));
    const server = createFakeServer(({ path }) => content(all.find((one) => path.endsWith(addressOfBytes(one)))));
    const { client } = openClient(server, { memory: { maxContentBytes: 2_500 } });
    const addresses = all.map(addressOfBytes);
    for (const at of [0, 1, 0, 2, 0, 1]) await client.getContent(addresses[at] ?? '');
    const numbers = server.requests.map(({ path }) => addresses.indexOf(path.slice(path.lastIndexOf('/') + 1)));
    assert.deepEqual(numbers, [0, 1, 2, 1]);
  });

  it('emits the source of each result, and each request', async () => {
    const server = createFakeServer(() => content());
    const { client } = openClient(server);
    const reported = listenTo(client);
    await client.getContent(address);
    await client.getContent(address);
    const lookup = (source: string) => ({ type: 'lookup', event: { kind: 'content', source, isStale: false } });
    const request = {
      operation: 'content',
      attempt: 1,
      startedAtMs: Date.UTC(2026, 0, 1) + 5_000,
      durationMs: 0,
      status: 200,
    };
    assert.deepEqual(reported, [
      { type: 'response', event: { ...request, receivedBytes: 1000, error: undefined, headers: {} } },
      lookup('network'),
      lookup('memory'),
    ]);
  });
});

describe('the token', () => {
  it('is requested before each request, and once more after a 401', async () => {
    const tokens = ['tnn_1', 'tnn_2', 'tnn_3'];
    const needs: boolean[] = [];
    const server = createFakeServer(({ headers }) =>
      headers.get('authorization') === 'Bearer tnn_2' ? content() : problemResponse(401, 'invalid_token'),
    );
    const token = async ({ forceRefresh }: { forceRefresh: boolean }) => {
      needs.push(forceRefresh);
      return tokens[needs.length - 1] ?? '';
    };
    const { client } = openClient(server, { token });
    assert.deepEqual(await client.getContent(address), bytes);
    assert.deepEqual(needs, [false, true]);
    await assert.rejects(client.getContent(addressOfBytes(new Uint8Array(7))));
    assert.equal(needs[2], false);
  });

  it('is refreshed only once per call, which then fails with the 401', async () => {
    const server = createFakeServer(() => problemResponse(401, 'invalid_token'));
    const { client } = openClient(server, { token: () => 'tnn_old' });
    await assert.rejects(client.getContent(address), { code: 'invalid_token', status: 401 });
    assert.equal(server.requests.length, 2);
  });

  it('is requested once by concurrent requests', async () => {
    let current = 'tnn_old';
    const needs: boolean[] = [];
    const token = async ({ forceRefresh }: { forceRefresh: boolean }) => {
      needs.push(forceRefresh);
      await settle();
      if (forceRefresh) current = 'tnn_new';
      return current;
    };
    const server = createFakeServer(({ headers }) =>
      headers.get('authorization') === 'Bearer tnn_new' ? listResponse({}) : problemResponse(401, 'invalid_token'),
    );
    const { client } = openClient(server, { token });
    const calls = Array.from({ length: 100 }, (_, at) =>
      client.getBindings({ extensionPointId: 'ext_1', guestKey: `guest/${at}` }),
    );
    assert.equal((await Promise.all(calls)).length, 100);
    assert.deepEqual(needs, [false, true]);
  });

  it('may be missing, late, or an error: then no request is sent', async () => {
    const server = createFakeServer(() => content());
    const thrown = new Error('vault is sealed');
    for (const token of [
      () => {
        throw thrown;
      },
      async () => 'a b',
      async () => 7 as never,
      async () => 'x\n',
    ]) {
      const { client } = openClient(server, { token });
      const error = await client.getContent(address).catch((error) => error);
      assert.equal(error.code, 'token_unavailable');
      assert.ok(error.cause === undefined || error.cause === thrown);
    }
    const { client, clock } = openClient(server, { token: () => new Promise(() => {}) });
    const call = client.getContent(address).catch((error) => error);
    await settle();
    clock.pass(10_000);
    assert.equal((await call).code, 'timeout');
    assert.equal(server.requests.length, 0);
  });

  it('never occurs in an error', async () => {
    const server = createFakeServer(() => problemResponse(401, 'invalid_token'));
    const { client } = openClient(server);
    const error = await client.getContent(address).catch((error) => error);
    const { inspect } = await import('node:util');
    assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /tnn_secret/);
  });
});
