import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client, ClientOptions } from '@tenon/client';
import {
  conditionalResponse,
  createFakeServer,
  entry,
  type FakeRequest,
  key,
  noConnection,
  openClient,
  problemResponse,
} from './helpers/fake-server.ts';
import { settle } from './helpers/manual-clock.ts';

const { extensionPointId } = key;
const one = { p: entry('a'.repeat(43)) };
const two = { p: entry('b'.repeat(43), '2026-01-02T00:00:00.000Z') };

/** A client of a fake server of lists and change streams. */
function openStage(options: Partial<ClientOptions> = {}) {
  const stage = {
    list: one as object,
    /** Whether no request reaches the server. */
    isDown: false,
    /** How the next requests for news are answered. */
    changes: (asked: FakeRequest): Response | Promise<Response> => streamAnswer(asked),
    /** Responses with lists wait for it. */
    held: async (): Promise<void> => {},
  };
  const streams: Stream[] = [];
  const server = createFakeServer(async (asked) => {
    if (stage.isDown) throw noConnection();
    if (asked.path.endsWith('/changes')) return stage.changes(asked);
    await stage.held();
    return conditionalResponse(asked, stage.list as never);
  });
  const { client, clock } = openClient(server, { streaming: true, ...options });
  const changed: string[] = [];
  client.on('change', ({ guestKey, bindings }) =>
    changed.push(`${guestKey} ${bindings.p?.contentAddress.slice(0, 1)}`),
  );

  function streamAnswer(asked: FakeRequest, type = 'text/event-stream; charset=utf-8'): Response {
    const stream = createStream(asked);
    streams.push(stream);
    return new Response(stream.body, { headers: { 'content-type': type } });
  }
  return {
    stage,
    client,
    clock,
    streams,
    changed,
    streamAnswer,
    requests: (what: 'changes' | 'bindings') => server.requests.filter(({ path }) => path.includes(`/${what}`)).length,
    lastAsked: () => server.requests.filter(({ path }) => path.endsWith('/changes')).at(-1) as FakeRequest,
    /** The first character of the content address. */
    look: async (guestKey: string = key.guestKey, maxAgeMs?: number) =>
      (await client.getBindings({ extensionPointId, guestKey }, { maxAgeMs })).bindings.p?.contentAddress.slice(0, 1),
  };
}

/** Of the one list, as a host would log it. */
async function ageOf(client: Client): Promise<object> {
  const { ageMs, isStale } = await client.getBindings(key);
  return { ageMs, isStale };
}

interface Stream {
  readonly body: ReadableStream<Uint8Array>;
  readonly isClosed: () => boolean;
  send(...events: string[]): Promise<void>;
  end(): Promise<void>;
  fail(): Promise<void>;
}

function createStream({ signal }: FakeRequest): Stream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isClosed = false;
  const body = new ReadableStream<Uint8Array>({
    start(made) {
      controller = made;
    },
    cancel() {
      isClosed = true;
    },
  });
  signal.addEventListener('abort', () => {
    if (isClosed) return;
    isClosed = true;
    controller?.error(signal.reason);
  });
  return {
    body,
    isClosed: () => isClosed,
    async send(...events) {
      for (const event of events) controller?.enqueue(new TextEncoder().encode(event));
      await settle();
    },
    async end() {
      isClosed = true;
      controller?.close();
      await settle();
    },
    async fail() {
      isClosed = true;
      controller?.error(new TypeError('terminated'));
      await settle();
    },
  };
}

const ready = (id = '1-aa') => `id: ${id}\nevent: ready\ndata: {}\n\n`;
const reset = (id = '9-cc') => `id: ${id}\nevent: reset\ndata: {}\n\n`;
const binding = (id = '2-bb', guestKey: string = key.guestKey, of: string = extensionPointId) =>
  `id: ${id}\nevent: binding\ndata: ${JSON.stringify({ extensionPointId: of, guestKey })}\n\n`;

/** A stage with a live stream and one current list. */
async function openLive(options: Partial<ClientOptions> = {}) {
  const opened = openStage(options);
  await opened.look();
  await settle();
  await opened.streams[0]?.send(ready());
  await opened.look(key.guestKey, 1);
  opened.clock.pass(5_000);
  await opened.look();
  await settle();
  return opened;
}

describe('a client with a change stream', () => {
  it('revalidates a list once when the stream is ready, and then not again', async () => {
    const { look, requests, clock, streams, client } = openStage();
    await look();
    await settle();
    assert.equal(requests('changes'), 1);
    await streams[0]?.send(ready());
    clock.pass(1_000);
    await look();
    assert.equal(requests('bindings'), 2); // it may have changed before the stream was ready
    for (let time = 0; time < 10; time++) {
      clock.pass(15_000);
      await streams[0]?.send(':\n\n');
      await look();
    }
    assert.equal(requests('bindings'), 2);
    assert.equal((await client.getBindings(key)).source, 'memory');
    await client.close();
  });

  it('counts the age of a list from the last heartbeat, so that it stays servable after an outage begins', async () => {
    const { client, clock, streams, stage } = await openLive({ staleIfErrorMs: 8_000 });
    for (let time = 0; time < 10; time++) {
      clock.pass(10_000);
      await streams[0]?.send(':\n\n');
    }
    clock.pass(2_000);
    assert.deepEqual(await ageOf(client), { ageMs: 2_000, isStale: false });
    stage.isDown = true;
    await streams[0]?.fail();
    assert.deepEqual(await ageOf(client), { ageMs: 2_000, isStale: true });
    clock.pass(7_000);
    assert.deepEqual(await ageOf(client), { ageMs: 9_000, isStale: true }); // `maxAgeMs` plus `staleIfErrorMs`
    clock.pass(1);
    await assert.rejects(client.getBindings(key), { code: 'network' });
    await client.close();
  });

  it('counts the age of a changed list from the change', async () => {
    const { client, clock, streams, stage } = await openLive({ staleIfErrorMs: 8_000 });
    clock.pass(10_000);
    await streams[0]?.send(':\n\n');
    stage.isDown = true;
    clock.pass(3_000);
    await streams[0]?.send(binding());
    assert.deepEqual(await ageOf(client), { ageMs: 3_000, isStale: true });
    clock.pass(6_001);
    await assert.rejects(client.getBindings(key), { code: 'network' });
    await client.close();
  });

  it('revalidates after its machine was suspended, even if the monotonic clock and timers stop meanwhile', async () => {
    const { look, requests, clock, streams, client } = await openLive();
    const before = requests('bindings');
    clock.setWall(clock.wallMs() + 15_000);
    await look();
    assert.equal(requests('bindings'), before, 'a heartbeat may be on its way');
    clock.setWall(clock.wallMs() + 6_000);
    await look();
    assert.equal(requests('bindings'), before + 1, 'nothing came for more than 20 seconds');
    await streams[0]?.send(':\n\n');
    clock.setWall(clock.wallMs() - 3_600_000);
    for (let time = 0; time < 3; time++) await look();
    assert.equal(requests('bindings'), before + 1, 'a clock that is set back costs nothing');
    await client.close();
  });

  it('asks the server with `maxAgeMs: 0`', async () => {
    const { look, requests, client } = await openLive();
    const before = requests('bindings');
    await look(key.guestKey, 0);
    assert.equal(requests('bindings'), before + 1);
    await client.close();
  });

  it('refetches a changed list without a call, and emits `change`', async () => {
    const { stage, streams, changed, requests, look, client } = await openLive();
    const before = requests('bindings');
    stage.list = two;
    await streams[0]?.send(binding());
    assert.deepEqual(changed, [`${key.guestKey} b`]);
    assert.equal(await look(), 'b');
    assert.equal(requests('bindings'), before + 1);
    await client.close();
  });

  it('refetches many changed lists with limited concurrency, and none after `close()`', async () => {
    const { stage, streams, look, requests, changed, client } = await openLive();
    const keys = Array.from({ length: 30 }, (_, at) => `guest-${at}`);
    for (const guestKey of keys) await look(guestKey);
    const gates: (() => void)[] = [];
    stage.held = () => new Promise((resolve) => gates.push(resolve));
    stage.list = two;
    const before = requests('bindings');
    await streams[0]?.send(...keys.map((guestKey, at) => binding(`${at + 2}-bb`, guestKey)));
    assert.equal(requests('bindings'), before + 8);
    while (changed.length < 20) {
      gates.shift()?.();
      await settle();
      assert.ok(gates.length <= 8);
    }
    assert.deepEqual(
      changed,
      keys.slice(0, 20).map((guestKey) => `${guestKey} b`),
    );
    await client.close();
    const asked = requests('bindings');
    for (const open of gates.splice(0)) open();
    await settle();
    assert.equal(requests('bindings'), asked);
  });

  it('ignores lists that are not cached, and unknown events', async () => {
    const { streams, requests, look, client } = await openLive();
    const before = requests('bindings');
    await streams[0]?.send(
      binding('2-bb', 'another'),
      binding('3-bb', key.guestKey, 'ext_2'),
      'event: hello\ndata: a\n\n',
    );
    await look();
    assert.equal(requests('bindings'), before);
    assert.equal(streams[0]?.isClosed(), false);
    await client.close();
  });

  it('revalidates all lists after a reset, once the stream is ready again', async () => {
    const { streams, requests, look, clock, client } = await openLive();
    await look('other');
    await streams[0]?.send(reset());
    const before = requests('bindings');
    clock.pass(2_000);
    await look();
    clock.pass(2_000);
    await look();
    assert.equal(requests('bindings'), before + 2); // polls until the stream is ready
    await streams[0]?.send(ready('9-cc'));
    clock.pass(2_000);
    for (const guestKey of [key.guestKey, 'other', key.guestKey, 'other']) await look(guestKey);
    clock.pass(2_000);
    for (const guestKey of [key.guestKey, 'other']) await look(guestKey);
    assert.equal(requests('bindings'), before + 4);
    await client.close();
  });

  it('revalidates the lists of a deleted extension point', async () => {
    const { stage, streams, requests, look, clock, client } = await openLive();
    clock.pass(2_000);
    stage.changes = () => problemResponse(404, 'not_found');
    const before = requests('bindings');
    await streams[0]?.send(`event: deleted\ndata: {"extensionPointId":"${extensionPointId}"}\n\n`);
    await look();
    assert.equal(requests('bindings'), before + 1);
    await client.close();
  });
});

describe('a client whose change stream breaks', () => {
  it('polls, resumes the stream, and does not refetch unchanged lists', async () => {
    for (const how of ['end', 'fail'] as const) {
      const { streams, requests, look, lastAsked, clock, stage, changed, client } = await openLive();
      await look('other');
      await streams[0]?.send('id: 7-ee\n\n');
      await streams[0]?.[how]();
      const before = requests('bindings');
      clock.pass(400);
      await settle();
      await look(); // fresh or polled; then the stream is back
      clock.pass(1_000);
      await settle();
      assert.equal(lastAsked().headers.get('last-event-id'), '7-ee');
      assert.equal(requests('changes'), 2);
      clock.pass(2_000);
      await look();
      const polled = requests('bindings');
      assert.ok(polled > before);
      stage.list = two;
      await streams[1]?.send(binding('8-ff', 'other'), ready('8-ff'));
      assert.deepEqual(changed, ['other b']);
      assert.equal(requests('bindings'), polled + 1);
      clock.pass(10_000);
      assert.equal(await look(), 'a'); // without an event it has not changed
      assert.equal(await look('other'), 'b');
      assert.equal(requests('bindings'), polled + 1);
      await client.close();
    }
  });

  it('reconnects with backoff up to the maximum', async () => {
    const { streams, requests, stage, clock, client } = await openLive({
      retry: { maxRetries: 0, baseDelayMs: 1_000, maxDelayMs: 8_000 },
    });
    stage.changes = noConnection;
    await streams[0]?.end();
    const came: number[] = [];
    for (let seconds = 0; seconds < 60; seconds++) {
      clock.pass(1_000);
      await settle();
      if (requests('changes') > came.length + 1) came.push(seconds);
    }
    const waits = came.map((at, index) => at - (came[index - 1] ?? -1));
    assert.deepEqual(waits, [1, 1, 2, 4, 8, 8, 8, 8, 8, 8]);
    await client.close();
  });

  it('waits for `retry-after`', async () => {
    const { streams, requests, stage, clock, client } = await openLive();
    stage.changes = () => problemResponse(429, 'rate_limited', { 'retry-after': '30' });
    await streams[0]?.end();
    clock.pass(1_000);
    await settle();
    assert.equal(requests('changes'), 2);
    clock.pass(29_000);
    await settle();
    assert.equal(requests('changes'), 2);
    clock.pass(1_001);
    await settle();
    assert.equal(requests('changes'), 3);
    await client.close();
  });

  it('closes a silent connection', async () => {
    const { streams, requests, look, clock, client } = await openLive();
    clock.pass(14_000);
    await streams[0]?.send(':\n\n');
    clock.pass(19_999);
    await settle();
    const before = requests('bindings');
    await look();
    assert.equal(requests('bindings'), before);
    clock.pass(1);
    await settle();
    assert.equal(streams[0]?.isClosed(), true);
    await look();
    assert.equal(requests('bindings'), before + 1);
    await client.close();
  });

  it('refreshes its token after a 401, and reconnects at once', async () => {
    const tokens: boolean[] = [];
    const { streams, stage, requests, clock, lastAsked, streamAnswer, client } = await openLive({
      token: ({ forceRefresh }) => {
        tokens.push(forceRefresh);
        return forceRefresh ? 'tnn_new' : 'tnn_old';
      },
    });
    stage.changes = (asked) =>
      asked.headers.get('authorization') === 'Bearer tnn_new'
        ? streamAnswer(asked)
        : problemResponse(401, 'invalid_token');
    await streams[0]?.send('event: end\ndata: {"code":"invalid_token","detail":"a"}\n\n');
    clock.pass(1_000);
    await settle();
    assert.equal(requests('changes'), 3);
    assert.equal(lastAsked().headers.get('authorization'), 'Bearer tnn_new');
    await client.close();
  });
});

describe('a client without a change stream', () => {
  const answers: Readonly<Record<string, () => Response>> = {
    'there is no such route': () => problemResponse(404, 'not_found'),
    'the token may not': () => problemResponse(403, 'forbidden'),
    'the token is no good': () => problemResponse(401, 'invalid_token'),
    'the method is not allowed': () => problemResponse(405, 'method_not_allowed'),
    'a proxy doesn’t know what to do': () => new Response('no', { status: 501 }),
    'a page comes': () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
    'it is led elsewhere': () => new Response(null, { status: 302, headers: { location: 'https://else.example/' } }),
  };
  for (const [why, answer] of Object.entries(answers)) {
    it(`polls if ${why}, and retries only after minutes`, async () => {
      const { stage, look, requests, clock, client } = openStage();
      const errors: unknown[] = [];
      client.on('error', (error) => errors.push(error));
      stage.changes = answer;
      for (let seconds = 0; seconds < 299; seconds++) {
        await look();
        await settle();
        clock.pass(1_000);
      }
      assert.equal(requests('bindings'), 299);
      assert.equal(requests('changes'), 1);
      clock.pass(2_000);
      await settle();
      assert.equal(requests('changes'), 2);
      assert.deepEqual(errors, []);
      await client.close();
    });
  }

  it('polls while a proxy delays the start of the stream', async () => {
    const { look, requests, clock, streams, client } = openStage();
    for (let seconds = 0; seconds < 15; seconds++) {
      await look();
      await settle();
      clock.pass(1_000);
    }
    assert.equal(streams.length, 1);
    assert.equal(requests('bindings'), 15);
    await client.close();
  });

  it('reconnects after invalid JSON', async () => {
    const { streams, requests, client } = await openLive();
    await streams[0]?.send('event: binding\ndata: nonsense\n\n');
    assert.equal(streams[0]?.isClosed(), true);
    assert.equal(requests('changes'), 1); // the next one follows after minutes
    await client.close();
  });
});

describe('the option `streaming`', () => {
  it('opens no stream for an extension point that is used for less than a second, without a listener', async () => {
    const server = createFakeServer((asked) =>
      asked.path.endsWith('/changes') ? new Response(createStream(asked).body) : conditionalResponse(asked, one),
    );
    const { client, clock } = openClient(server, { streaming: true });
    const isFollowed = () => server.requests.some(({ path }) => path.endsWith('/changes'));
    await client.getBindings(key);
    clock.pass(999);
    await client.getBindings(key);
    await settle();
    assert.equal(isFollowed(), false);
    clock.pass(1);
    await client.getBindings(key);
    await settle();
    assert.equal(isFollowed(), true);
    await client.close();
  });

  it('opens at most `maxStreams`, and none if it is off or the client is offline', async () => {
    for (const [options, expected] of [
      [{ streaming: { maxStreams: 2 } }, 2],
      [{}, 4],
      [{ streaming: false }, 0],
      [{ offline: true }, 0],
    ] as const) {
      const { client, requests } = openStage(options);
      for (let at = 0; at < 6; at++)
        await client.getBindings({ extensionPointId: `ext_${at}`, guestKey: 'k' }).catch(() => {});
      await settle();
      assert.equal(requests('changes'), expected);
      await client.close();
    }
  });

  it('reuses the permit of an extension point whose stream is rejected', async () => {
    const { stage, client, clock, requests, lastAsked, streamAnswer } = openStage({ streaming: { maxStreams: 1 } });
    const look = async (id: string) => {
      await client.getBindings({ extensionPointId: id, guestKey: 'k' });
      await settle();
    };
    stage.changes = () => problemResponse(404, 'not_found');
    await look('ext_gone');
    stage.changes = (asked) => streamAnswer(asked);
    await look('ext_there');
    assert.match(lastAsked().path, /ext_there/);
    await look('ext_more');
    clock.pass(20 * 60_000); // all permits are taken when the first one is retried
    await settle();
    assert.doesNotMatch(lastAsked().path, /ext_gone|ext_more/);
    assert.ok(requests('changes') >= 2);
    await client.close();
    assert.equal(clock.timers, 0);
  });

  it('rejects invalid numbers', () => {
    assert.throws(() => openStage({ streaming: { maxStreams: -1 } }), {
      code: 'invalid_option',
      option: 'streaming.maxStreams',
    });
    assert.throws(() => openStage({ streaming: { heartbeatTimeoutMs: '1' as never } }), {
      option: 'streaming.heartbeatTimeoutMs',
    });
  });

  it('leaves no connection and no timer behind when the client is closed', async () => {
    const { streams, client, clock } = await openLive();
    await client.close();
    await settle();
    assert.equal(streams[0]?.isClosed(), true);
    assert.equal(clock.timers, 0);
  });
});
