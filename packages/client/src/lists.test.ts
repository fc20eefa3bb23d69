import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addressOfBytes,
  conditionalResponse,
  createFakeServer,
  entry,
  key,
  listenTo,
  listResponse,
  noConnection,
  openClient,
  problemResponse,
} from '../test/helpers/fake-server.ts';
import { settle } from '../test/helpers/manual-clock.ts';

const [first, second] = ['a', 'b'].map((text) => addressOfBytes(Buffer.from(text)));
assert.ok(first && second);
const one = { p: entry(first) };
const two = { p: entry(second, '2026-01-02T00:00:00.000Z') };

describe('getBindings()', () => {
  it('returns the list frozen and without a prototype', async () => {
    const awkward = JSON.parse(
      `{"__proto__": ${JSON.stringify(entry(first))}, "constructor": ${JSON.stringify(entry(first))}}`,
    );
    const { client } = openClient(createFakeServer(() => listResponse(awkward)));
    const { bindings: list } = await client.getBindings(key);
    assert.equal(Object.getPrototypeOf(list), null);
    assert.deepEqual(Object.keys(list), ['__proto__', 'constructor']);
    assert.deepEqual({ ...list.constructor }, entry(first));
    assert.throws(() => Object.assign(list, { x: 1 }), TypeError);
    assert.equal(
      (await client.getBindings({ extensionPointId: 'ext_1', guestKey: 'other' })).bindings.toString,
      undefined,
    );
  });

  it('sends the guest key as one path segment below the base URL, and the token only in a header', async () => {
    const server = createFakeServer(() => listResponse({}));
    const { client } = openClient(server);
    await client.getBindings({ extensionPointId: 'ext_1', guestKey: 'a/b c?d#e%2f\\ü' });
    const [asked] = server.requests;
    assert.equal(asked?.path, '/tenon/api/v1/extension-points/ext_1/bindings/a%2Fb%20c%3Fd%23e%252f%5C%C3%BC');
    assert.equal(asked.headers.get('authorization'), 'Bearer tnn_secret');
    assert.equal(asked.init.redirect, 'manual');
  });

  it('rejects keys and ids that would request another route', async () => {
    const server = createFakeServer(() => listResponse({}));
    const { client } = openClient(server);
    for (const [id, guestKey] of [
      ['ext_1', '..'],
      ['ext_1', '.'],
      ['ext_1', ''],
      ['ext_1', '\ud800'],
      ['..', 'x'],
      ['a/b', 'x'],
      ['', 'x'],
    ]) {
      await assert.rejects(client.getBindings({ extensionPointId: String(id), guestKey: String(guestKey) }), {
        code: 'invalid_argument',
      });
    }
    for (const key of [undefined, null, 'ext_1']) {
      await assert.rejects(client.getBindings(key as never), { code: 'invalid_argument' });
    }
    assert.equal(server.requests.length, 0);
  });

  it('sends no request while the list is fresh, and a conditional one afterwards', async () => {
    const server = createFakeServer((asked) => conditionalResponse(asked, one));
    const { client, clock } = openClient(server);
    const { bindings: list } = await client.getBindings(key);
    clock.pass(999);
    assert.equal((await client.getBindings(key)).source, 'memory');
    clock.pass(1);
    const again = await client.getBindings(key);
    assert.equal(again.source, 'not_modified');
    assert.equal(again.bindings, list);
    assert.equal(again.ageMs, 0);
    assert.equal(server.requests.length, 2);
    clock.pass(5_000);
    assert.equal((await client.getBindings(key, { maxAgeMs: 6_000 })).source, 'memory');
    assert.equal((await client.getBindings(key, { maxAgeMs: 0 })).source, 'not_modified');
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.has('if-none-match')),
      [false, true, true],
    );
  });

  it('emits `change` for a changed list', async () => {
    const server = createFakeServer((asked) => conditionalResponse(asked, one));
    const { client, clock } = openClient(server);
    const reported = listenTo(client);
    const { bindings: before } = await client.getBindings(key);
    server.respond((asked) => conditionalResponse(asked, two));
    clock.pass(1_000);
    const after = await client.getBindings(key);
    assert.equal(after.source, 'network');
    assert.equal(after.bindings.p?.contentAddress, second);
    const changes = reported.filter(({ type }) => type === 'change');
    assert.deepEqual(changes, [
      {
        type: 'change',
        event: { extensionPointId: 'ext_1', guestKey: 'acme/one', bindings: after.bindings, previous: before },
      },
    ]);
  });

  it('sends one request for concurrent calls, and aborts only the call whose signal aborts', async () => {
    let release = (_: Response) => {};
    const server = createFakeServer(() => new Promise<Response>((resolve) => (release = resolve)));
    const { client } = openClient(server);
    const leaving = new AbortController();
    const calls = [
      client.getBindings(key),
      client.getBindings(key, { signal: leaving.signal }),
      client.getBindings(key),
    ];
    await settle();
    leaving.abort(new Error('enough'));
    const left = await calls[1]?.catch((error) => error);
    assert.equal(left.code, 'aborted');
    assert.equal(left.cause.message, 'enough');
    assert.equal(server.requests[0]?.signal.aborted, false);
    release(listResponse(one));
    const [got, , alsoGot] = await Promise.allSettled(calls);
    assert.equal(got?.status, 'fulfilled');
    assert.deepEqual(got, alsoGot);
    assert.equal(server.requests.length, 1);
  });

  it('aborts the request with the last call, and sends another one for the next call', async () => {
    const server = createFakeServer(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const { client, clock } = openClient(server);
    const leaving = new AbortController();
    const call = client.getBindings(key, { signal: leaving.signal });
    await settle();
    leaving.abort();
    await assert.rejects(call, { code: 'aborted' });
    await settle();
    assert.equal(server.requests[0]?.signal.aborted, true);
    assert.equal(clock.timers, 0);
    server.respond(() => listResponse(one));
    assert.deepEqual(Object.keys((await client.getBindings(key)).bindings), ['p']);
    await assert.rejects(client.getBindings(key, { signal: AbortSignal.abort() }), { code: 'aborted' });
    assert.equal(server.requests.length, 2);
  });

  it('rejects an invalid binding list', async () => {
    const bodies = ['', '[]', 'null', '{"p":1}', '{"p":{"contentAddress":"x"', `{"p":{"contentAddress":"${first}"}}`];
    for (const body of bodies) {
      const { client } = openClient(createFakeServer(() => new Response(body)));
      await assert.rejects(client.getBindings(key), { code: 'unexpected_response' }, body);
    }
    const { client } = openClient(createFakeServer(() => new Response(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a]))));
    await assert.rejects(client.getBindings(key), { code: 'unexpected_response' });
  });

  it('omits entries without content', async () => {
    const { client } = openClient(
      createFakeServer(() => listResponse({ ...one, bare: { id: 'x' }, odd: entry('../x') })),
    );
    assert.deepEqual(Object.keys((await client.getBindings(key)).bindings), ['p']);
  });

  it('rejects a 304 for another entity tag, and sends an unconditional request next', async () => {
    const server = createFakeServer(() => listResponse(one, '"1"'));
    const { client } = openClient(server, { maxAgeMs: 0 });
    await client.getBindings(key);
    server.respond(() => new Response(null, { status: 304, headers: { etag: '"2"' } }));
    const confused = await client.getBindings(key);
    assert.equal(confused.isStale, true);
    assert.equal(confused.error?.code, 'unexpected_response');
    server.respond(() => listResponse(two, '"2"'));
    const right = await client.getBindings(key);
    assert.equal(right.bindings.p?.contentAddress, second);
    assert.equal(server.requests.at(-1)?.headers.has('if-none-match'), false);
  });

  it('accepts a 304 with a weak entity tag, as of compressing proxies', async () => {
    const server = createFakeServer(() => listResponse(one, '"1"'));
    const { client } = openClient(server, { maxAgeMs: 0 });
    await client.getBindings(key);
    server.respond(() => new Response(null, { status: 304, headers: { etag: 'W/"1"' } }));
    assert.equal((await client.getBindings(key)).source, 'not_modified');
  });

  it('rejects a 304 to an unconditional request', async () => {
    const { client } = openClient(createFakeServer(() => new Response(null, { status: 304 })));
    await assert.rejects(client.getBindings(key), { code: 'unexpected_response', status: 304 });
  });
});

describe('getBindings() after an error', () => {
  const troubles: readonly [string, () => Response, string][] = [
    ['no connection', noConnection, 'network'],
    ['a 500', () => problemResponse(500, 'internal'), 'internal'],
    ["a proxy's 502", () => new Response('<html>', { status: 502 }), 'unavailable'],
    ['a 429', () => problemResponse(429, 'rate_limited', { 'retry-after': '7' }), 'rate_limited'],
    ['a revoked token', () => problemResponse(401, 'invalid_token'), 'invalid_token'],
    ['a lost role', () => problemResponse(403, 'forbidden'), 'forbidden'],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example/x' } }),
      'redirected',
    ],
    ["a captive portal's page", () => new Response('<html>'), 'unexpected_response'],
    ["a proxy's 404", () => new Response('nginx', { status: 404 }), 'unexpected_response'],
    ['no content', () => new Response(null, { status: 204 }), 'unexpected_response'],
  ];
  for (const [trouble, answer, code] of troubles) {
    it(`serves the cached list at ${trouble}, and emits one stale event until it recovers`, async () => {
      const server = createFakeServer((asked) => conditionalResponse(asked, one));
      const { client, clock } = openClient(server);
      const reported = listenTo(client);
      const { bindings: list } = await client.getBindings(key);
      server.respond(answer);
      for (let time = 1; time <= 2; time++) {
        clock.pass(40_000);
        const stale = await client.getBindings(key);
        assert.equal(stale.bindings, list);
        assert.equal(stale.isStale, true);
        assert.equal(stale.ageMs, time * 40_000);
        assert.equal(stale.error?.code, code);
      }
      server.respond((asked) => conditionalResponse(asked, one));
      clock.pass(40_000);
      assert.equal((await client.getBindings(key)).source, 'not_modified');
      const types = reported.map(({ type }) => type).filter((type) => type !== 'response' && type !== 'lookup');
      assert.deepEqual(types, ['stale', 'recover']);
    });
  }

  it('never serves a list after a 404', async () => {
    const server = createFakeServer(() => listResponse(one));
    const { client } = openClient(server, { maxAgeMs: 0 });
    await client.getBindings(key);
    server.respond(() => problemResponse(404, 'not_found'));
    await assert.rejects(client.getBindings(key), { code: 'not_found', status: 404 });
    server.respond(noConnection);
    await assert.rejects(client.getBindings(key), { code: 'network' });
  });

  it('serves no stale list at 401 and 403 with `staleOnUnauthorized: false`', async () => {
    for (const [status, code] of [
      [401, 'invalid_token'],
      [403, 'insufficient_scope'],
    ] as const) {
      const server = createFakeServer(() => listResponse(one));
      const { client } = openClient(server, { maxAgeMs: 0, staleOnUnauthorized: false });
      await client.getBindings(key);
      server.respond(() => problemResponse(status, code));
      await assert.rejects(client.getBindings(key), { code, status });
    }
  });

  it('sends a rejected token again only after a backoff, with and without a cached list', async () => {
    for (const isCached of [true, false]) {
      const server = createFakeServer(() => listResponse(one));
      const { client, clock } = openClient(server, { retry: { baseDelayMs: 200, maxDelayMs: 1_000 } });
      if (isCached) await client.getBindings(key);
      clock.pass(40_000);
      server.respond(() => problemResponse(401, 'invalid_token'));
      const before = server.requests.length;
      const call = async () => {
        if (isCached) assert.equal((await client.getBindings(key)).error?.code, 'invalid_token');
        else await assert.rejects(client.getBindings(key), { code: 'invalid_token', status: 401 });
        return server.requests.length - before;
      };
      for (let time = 0; time < 50; time++) assert.equal(await call(), 1);
      clock.pass(200);
      for (let time = 0; time < 50; time++) assert.equal(await call(), 2);
      clock.pass(199);
      assert.equal(await call(), 2, 'the second wait is 200 to 400 ms');
      clock.pass(201);
      assert.equal(await call(), 3);
      server.respond(() => listResponse(one));
      clock.pass(1_000);
      assert.equal((await client.getBindings(key)).isStale, false);
    }
  });

  it('serves no list older than `maxAgeMs` plus `staleIfErrorMs`', async () => {
    const server = createFakeServer(() => listResponse(one));
    const { client, clock } = openClient(server, { staleIfErrorMs: 60_000 });
    await client.getBindings(key);
    server.respond(noConnection);
    clock.pass(61_000); // `maxAgeMs` and `staleIfErrorMs`
    assert.equal((await client.getBindings(key)).isStale, true);
    clock.pass(1);
    await assert.rejects(client.getBindings(key), { code: 'network' });
  });

  it('serves no list that becomes too old while it waits for the server', async () => {
    const server = createFakeServer(() => listResponse(one));
    const { client, clock } = openClient(server, { maxAgeMs: 0, staleIfErrorMs: 1_500, revalidateTimeoutMs: 1_000 });
    await client.getBindings(key);
    let answer = (_: Response | Promise<never>) => {};
    server.respond(() => new Promise<Response>((resolve) => (answer = resolve)));
    clock.pass(1_000);
    const impatient = client.getBindings(key);
    await settle();
    clock.pass(1_000);
    await settle();
    answer(listResponse(two));
    assert.equal((await impatient).bindings.p?.contentAddress, second);

    clock.pass(1_000);
    const failing = client.getBindings(key);
    await settle();
    clock.pass(600);
    answer(Promise.reject(new TypeError('fetch failed')));
    await assert.rejects(failing, { code: 'network' });
    assert.equal(clock.timers, 0);
  });

  it('serves a stale list after `revalidateTimeoutMs`, and still uses the late response', async () => {
    let release = (_: Response) => {};
    const server = createFakeServer(() => listResponse(one));
    const { client, clock } = openClient(server);
    await client.getBindings(key);
    clock.pass(2_000);
    server.respond(() => new Promise<Response>((resolve) => (release = resolve)));
    const call = client.getBindings(key);
    await settle();
    clock.pass(1_000);
    const stale = await call;
    assert.equal(stale.isStale, true);
    assert.equal(stale.error?.code, 'timeout');
    release(listResponse(two));
    await settle();
    const fresh = await client.getBindings(key, { maxAgeMs: 5_000 });
    assert.equal(fresh.source, 'memory');
    assert.equal(fresh.bindings.p?.contentAddress, second);
    assert.equal(server.requests.length, 2);
    assert.equal(clock.timers, 0);
  });

  it('probes a server that is down with one request at a time, with backoff', async () => {
    const server = createFakeServer(() => listResponse(one));
    const { client, clock } = openClient(server, { maxAgeMs: 0 });
    await Promise.all([client.getBindings(key), client.getBindings({ extensionPointId: 'ext_1', guestKey: 'other' })]);
    server.respond(noConnection);
    const asked: number[] = [];
    for (let second = 0; second < 100; second++) {
      const before = server.requests.length;
      const both = await Promise.all([
        client.getBindings(key),
        client.getBindings({ extensionPointId: 'ext_1', guestKey: 'other' }),
      ]);
      assert.ok(both.every(({ isStale, error }) => isStale && error?.code === 'network'));
      if (server.requests.length > before) asked.push(second);
      clock.pass(1_000);
    }
    // Backoff from 200 ms up to 30 s.
    assert.deepEqual(asked, [0, 1, 2, 3, 5, 9, 16, 29, 55, 85]);
  });

  it('aborts a request after the timeout of each phase', async () => {
    const limits = { timeouts: { headersMs: 100, idleMs: 200, totalMs: 1_000 } };
    const dribble = (everyMs: number, clock: { pass(ms: number): void }) =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await settle();
            clock.pass(everyMs);
            controller.enqueue(new Uint8Array([0x20]));
          },
        }),
      );
    const silent = createFakeServer(() => new Promise(() => {})); // and ignores the signal
    const { client, clock } = openClient(silent, limits);
    const call = client.getBindings(key).catch((error) => error);
    await settle();
    clock.pass(100);
    assert.match((await call).message, /100 ms to respond/);
    assert.equal(silent.requests[0]?.signal.aborted, true);

    const slow = createFakeServer(() => dribble(201, opened.clock));
    const opened = openClient(slow, limits);
    await assert.rejects(opened.client.getBindings(key), /200 ms between two chunks/);
    const endless = createFakeServer(() => dribble(199, other.clock));
    const other = openClient(endless, limits);
    await assert.rejects(other.client.getBindings(key), /1000 ms in total/);
    assert.deepEqual([clock.timers, opened.clock.timers, other.clock.timers], [0, 0, 0]);
  });

  it('revalidates once after the wall clock was set ahead, as after the machine was suspended', async () => {
    const server = createFakeServer(() => listResponse(one));
    const { client, clock } = openClient(server, { staleIfErrorMs: 10_000 });
    await client.getBindings(key);
    for (const [wall, first] of [
      [0, 'memory'],
      [Date.UTC(2098, 0), 'network'],
      [Date.UTC(2099, 0), 'memory'],
    ] as const) {
      clock.setWall(wall);
      if (wall === Date.UTC(2099, 0)) server.respond(noConnection);
      for (const expected of [first, 'memory']) {
        const { source, ageMs } = await client.getBindings(key);
        assert.deepEqual({ source, ageMs }, { source: expected, ageMs: 0 });
      }
    }
  });
});

describe('getBindings() offline', () => {
  it('sends no request', async () => {
    const server = createFakeServer(noConnection);
    const { client } = openClient(server, { offline: true });
    await assert.rejects(client.getBindings(key), { code: 'offline' });
    await assert.rejects(client.getContent(first), { code: 'offline' });
    assert.equal(server.requests.length, 0);
  });
});

describe('close()', () => {
  it('rejects pending and later calls', async () => {
    const server = createFakeServer(() => new Promise(() => {}));
    const { client, clock } = openClient(server);
    const calls = [
      client.getBindings(key),
      client.getContent(first),
      client.load({ extensionPointId: 'ext_1', guestKey: 'other' }),
    ];
    await settle();
    await client.close();
    await client.close();
    for (const call of calls) await assert.rejects(call, { code: 'closed' });
    await assert.rejects(client.getBindings(key), { code: 'closed' });
    await assert.rejects(client.getContent(first), { code: 'closed' });
    assert.ok(server.requests.every(({ signal }) => signal.aborted));
    assert.equal(clock.timers, 0);
  });

  it('is called by `await using` at the end of the scope', async () => {
    const { client } = openClient(createFakeServer(() => listResponse(one)));
    {
      await using scoped = client;
      await scoped.getBindings(key);
    }
    await assert.rejects(client.getBindings(key), { code: 'closed' });
  });
});
