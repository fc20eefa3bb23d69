import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addressOfBytes,
  createAnswering,
  listAnswer,
  listenTo,
  noConnection,
  openClient,
  problemAnswer,
} from '../test/helpers/fake-server.ts';
import { settle } from '../test/helpers/manual-clock.ts';
import { systemClock } from './clock.ts';

const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at % 251);
const address = addressOfBytes(bytes);
const content = (body: Uint8Array<ArrayBuffer> = bytes) => new Response(body);

describe('content()', () => {
  it('asks once for all who ask at the same time, and gives each a copy of their own', async () => {
    const answering = createAnswering(() => content());
    const { client } = openClient(answering);
    const [mine, theirs] = await Promise.all([client.getContent(address), client.getContent(address)]);
    mine?.fill(0);
    assert.deepEqual(theirs, bytes);
    assert.deepEqual(await client.getContent(address), bytes);
    assert.deepEqual(
      answering.asked.map(({ path }) => path),
      [`/tenon/api/v1/c/${address}`],
    );
  });

  it('refuses what is no content address, without asking', async () => {
    const answering = createAnswering(() => content());
    const { client } = openClient(answering);
    for (const wrong of ['', '..', `${address}=`, address.slice(1), `${address}/`, `../${address.slice(3)}`]) {
      await assert.rejects(client.getContent(wrong), { code: 'invalid_argument' });
    }
    assert.equal(answering.asked.length, 0);
  });

  it('never gives other bytes than those of the address, and passes by the caches when it asks again', async () => {
    const wrongOnes = [
      bytes.slice(0, 999),
      Uint8Array.from([...bytes, 0]),
      bytes.map((byte) => byte ^ 1),
      new Uint8Array(),
    ];
    for (const wrong of wrongOnes) {
      const answering = createAnswering(() => content(wrong));
      const { client } = openClient(answering, { retry: { maxRetries: 1 } });
      await assert.rejects(client.getContent(address), { code: 'content_mismatch' });
      assert.deepEqual(
        answering.asked.map(({ init }) => init.cache),
        ['default', 'reload'],
      );
      answering.by(() => content());
      assert.deepEqual(await client.getContent(address), bytes);
    }
  });

  it('asks again after trouble, later each time, and as often as it may', async () => {
    const answering = createAnswering(noConnection);
    const { client, clock } = openClient(answering, { retry: { maxRetries: 3 } });
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
      assert.equal(answering.asked.length, asked);
    }
    assert.equal((await call).code, 'network');
    assert.equal(clock.timers, 0);
  });

  it('goes on where an answer was cut off, and begins anew where it must', async () => {
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
      [[null, 'bytes=300-'], () => cut(0, 300), () => content()], // the server heeds no ranges
      [[null, 'bytes=300-', null], () => cut(0, 300), () => rest(290), () => content()], // not what was asked for
      [[null, 'bytes=300-', null], () => cut(0, 300), () => rest(200, 206, 300), () => content()], // nor as it says
      [[null, 'bytes=300-', null], () => cut(0, 300), () => new Response(null, { status: 416 }), () => content()],
      [[null, 'bytes=300-', 'bytes=300-'], () => cut(0, 300), () => problemAnswer(500, 'internal'), () => rest(300)],
    ];
    for (const [ranges, ...answers] of cases) {
      const answering = createAnswering(() => answers[answering.asked.length - 1]?.() ?? noConnection());
      const { client } = openClient(answering, { retry: { maxRetries: 2, baseDelayMs: 0 } }, { clock: systemClock });
      assert.deepEqual(await client.getContent(address), bytes);
      assert.deepEqual(
        answering.asked.map(({ headers }) => headers.get('range')),
        ranges,
      );
      assert.ok(
        answering.asked.every(({ headers }) => !headers.has('range') || headers.get('if-range') === `"${address}"`),
      );
    }
  });

  it('does not ask again for what is refused', async () => {
    for (const [status, code] of [
      [400, 'invalid_request'],
      [401, 'invalid_token'],
      [403, 'forbidden'],
      [404, 'not_found'],
    ] as const) {
      const answering = createAnswering(() => problemAnswer(status, code, { 'x-request-id': 'r-1' }));
      const { client } = openClient(answering, { retry: { maxRetries: 4 } });
      await assert.rejects(client.getContent(address), { code, status, requestId: 'r-1' });
      assert.equal(answering.asked.length, 1);
    }
  });

  it('waits as long as `retry-after` says, in both of its forms', async () => {
    const date = 'Thu, 01 Jan 2026 00:00:10 GMT';
    for (const headers of [{ 'retry-after': '3' }, { 'retry-after': 'Thu, 01 Jan 2026 00:00:13 GMT', date }]) {
      const answering = createAnswering(() => problemAnswer(429, 'rate_limited', headers));
      const { client, clock } = openClient(answering, { retry: { maxRetries: 1 } });
      const call = client.getContent(address);
      await settle();
      answering.by(() => content());
      clock.pass(2_999);
      await settle();
      assert.equal(answering.asked.length, 1);
      clock.pass(1);
      assert.deepEqual(await call, bytes);
    }
  });

  it('fails rather than wait for longer than it may, and leaves the server alone meanwhile', async () => {
    const answering = createAnswering(() => problemAnswer(503, 'unavailable', { 'retry-after': '60' }));
    const { client, clock } = openClient(answering, { retry: { maxRetries: 2 } });
    await assert.rejects(client.getContent(address), { code: 'unavailable', status: 503, retryAfterMs: 60_000 });
    answering.by(() => content());
    clock.pass(20_000);
    await assert.rejects(client.getContent(address), { code: 'unavailable', retryAfterMs: 40_000 });
    assert.equal(answering.asked.length, 1);
    clock.pass(40_000);
    assert.deepEqual(await client.getContent(address), bytes);
  });

  it('refuses more bytes than it may take, announced or not', async () => {
    const limits = { limits: { maxContentBytes: 999 } };
    const announced = new Response(bytes, { headers: { 'content-length': '1000' } });
    for (const answer of [announced, content()]) {
      const { client } = openClient(
        createAnswering(() => answer),
        limits,
      );
      await assert.rejects(client.getContent(address), { code: 'too_large' });
    }
  });

  it('keeps in memory what was used last, and no more than it may', async () => {
    const all = [1, 2, 3].map((number) => bytes.map((byte) => byte ^ number));
    const answering = createAnswering(({ path }) => content(all.find((one) => path.endsWith(addressOfBytes(one)))));
    const { client } = openClient(answering, { memory: { maxContentBytes: 2_500 } });
    const addresses = all.map(addressOfBytes);
    for (const at of [0, 1, 0, 2, 0, 1]) await client.getContent(addresses[at] ?? '');
    const numbers = answering.asked.map(({ path }) => addresses.indexOf(path.slice(path.lastIndexOf('/') + 1)));
    assert.deepEqual(numbers, [0, 1, 2, 1]);
  });

  it('tells where each came from, and of each request', async () => {
    const answering = createAnswering(() => content());
    const { client } = openClient(answering);
    const told = listenTo(client);
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
    assert.deepEqual(told, [
      { type: 'response', event: { ...request, receivedBytes: 1000, error: undefined, headers: {} } },
      lookup('network'),
      lookup('memory'),
    ]);
  });
});

describe('the token', () => {
  it('is asked for before each request, and once more when it is refused', async () => {
    const tokens = ['tnn_1', 'tnn_2', 'tnn_3'];
    const needs: boolean[] = [];
    const answering = createAnswering(({ headers }) =>
      headers.get('authorization') === 'Bearer tnn_2' ? content() : problemAnswer(401, 'invalid_token'),
    );
    const token = async ({ forceRefresh }: { forceRefresh: boolean }) => {
      needs.push(forceRefresh);
      return tokens[needs.length - 1] ?? '';
    };
    const { client } = openClient(answering, { token });
    assert.deepEqual(await client.getContent(address), bytes);
    assert.deepEqual(needs, [false, true]);
    await assert.rejects(client.getContent(addressOfBytes(new Uint8Array(7))));
    assert.equal(needs[2], false);
  });

  it('is asked for again once only, and fails with the refusal then', async () => {
    const answering = createAnswering(() => problemAnswer(401, 'invalid_token'));
    const { client } = openClient(answering, { token: () => 'tnn_old' });
    await assert.rejects(client.getContent(address), { code: 'invalid_token', status: 401 });
    assert.equal(answering.asked.length, 2);
  });

  it('is asked for once by all who need it at the same time', async () => {
    let current = 'tnn_old';
    const needs: boolean[] = [];
    const token = async ({ forceRefresh }: { forceRefresh: boolean }) => {
      needs.push(forceRefresh);
      await settle();
      if (forceRefresh) current = 'tnn_new';
      return current;
    };
    const answering = createAnswering(({ headers }) =>
      headers.get('authorization') === 'Bearer tnn_new' ? listAnswer({}) : problemAnswer(401, 'invalid_token'),
    );
    const { client } = openClient(answering, { token });
    const calls = Array.from({ length: 100 }, (_, at) =>
      client.getBindings({ extensionPointId: 'ext_1', guestKey: `guest/${at}` }),
    );
    assert.equal((await Promise.all(calls)).length, 100);
    assert.deepEqual(needs, [false, true]);
  });

  it('may fail, hang, or be none: nothing is sent then', async () => {
    const answering = createAnswering(() => content());
    const thrown = new Error('vault is sealed');
    for (const token of [
      () => {
        throw thrown;
      },
      async () => 'a b',
      async () => 7 as never,
      async () => 'x\n',
    ]) {
      const { client } = openClient(answering, { token });
      const error = await client.getContent(address).catch((error) => error);
      assert.equal(error.code, 'token_unavailable');
      assert.ok(error.cause === undefined || error.cause === thrown);
    }
    const { client, clock } = openClient(answering, { token: () => new Promise(() => {}) });
    const call = client.getContent(address).catch((error) => error);
    await settle();
    clock.pass(10_000);
    assert.equal((await call).code, 'timeout');
    assert.equal(answering.asked.length, 0);
  });

  it('never stands in an error', async () => {
    const answering = createAnswering(() => problemAnswer(401, 'invalid_token'));
    const { client } = openClient(answering);
    const error = await client.getContent(address).catch((error) => error);
    const { inspect } = await import('node:util');
    assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /tnn_secret/);
  });
});
