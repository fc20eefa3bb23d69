import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppId, ExtensionPointId } from '@tenon/protocol';
import { hashSecret } from '../src/auth/secrets.ts';
import { openSqliteStore } from '../src/db/sqlite/store.ts';
import { rebind } from '../src/plugins/rebind.ts';
import { statements } from '../src/queries.ts';
import { withEffects } from '../src/with-effects.ts';
import { type EventStream, openEvents } from './helpers/event-stream.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { openService, type ServiceOptions, type TestService } from './helpers/service.ts';
import { connectTo, requestOf } from './helpers/wire.ts';
import { makeExtensionPoint, makeMember, ok, publishAs, tinyModule } from './helpers/world.ts';

/** A service that listens, with a workshop in it, and streams that are closed in the end. */
interface Place extends Workshop {
  readonly base: string;
  readonly appNews: string;
  readonly pointNews: string;
  /** A stream that is ready; as the viewer unless another token is given. */
  open(url: string, options?: { token?: string; lastId?: string }): Promise<EventStream>;
  close(): Promise<void>;
}

async function openPlace(config: ServiceOptions['config'] = {}): Promise<Place> {
  const service = await openService({ config });
  const base = await service.listen();
  const workshop = await openWorkshop(service);
  const streams: EventStream[] = [];
  return {
    ...workshop,
    base,
    appNews: `${base}/api/v1/apps/${workshop.appId}/changes`,
    pointNews: `${base}/api/v1/extension-points/${workshop.extensionPointId}/changes`,
    async open(url, { token = workshop.viewer.token, lastId } = {}) {
      const stream = await openEvents(url, { token, ...(lastId === undefined ? {} : { lastId }) });
      streams.push(stream);
      return stream;
    },
    async close() {
      for (const stream of streams) await stream.close();
      await service.close();
    },
  };
}

/** What an event says, in a line. */
const lineOf = ({ event, data }: { event: string; data: unknown }) =>
  [event, ...Object.values(data as object).filter((value) => !String(value).startsWith('ext_'))].join(' ');

async function linesOf(stream: EventStream, count: number): Promise<string[]> {
  return (await stream.take(count)).map(lineOf);
}

async function ready(stream: EventStream): Promise<EventStream> {
  assert.deepEqual(await linesOf(stream, 1), ['ready']);
  return stream;
}

/** The code with which a stream ends, and the events before that. */
async function endOf(stream: EventStream): Promise<{ readonly code: string; readonly before: string[] }> {
  const before: string[] = [];
  for (;;) {
    const event = await stream.next();
    assert.ok(event, `cut off: ${stream.text()}`);
    if (event.event === 'end') {
      assert.equal(await stream.next(), undefined);
      return { code: (event.data as { code: string }).code, before };
    }
    before.push(lineOf(event));
  }
}

describe('GET …/changes', () => {
  let place: Place;
  before(async () => {
    place = await openPlace({ changeHeartbeatMs: 40 });
  });
  after(() => place.close());

  it('responds with an event stream that is neither cached nor buffered by proxies', async () => {
    const { response } = await ready(await place.open(place.appNews));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.match(String(response.headers.get('cache-control')), /no-store/);
    assert.equal(response.headers.get('x-accel-buffering'), 'no');
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.equal(response.headers.get('content-encoding'), null);
  });

  it('sends `ready`, then each changed list, to every stream', async () => {
    const streams = [
      await place.open(place.appNews),
      await place.open(place.pointNews),
      await place.open(place.appNews, { token: place.owner.token }),
    ];
    for (const stream of streams) await ready(stream);
    await place.publish(1);
    await place.publish(2, `?guest=${place.second}`);
    for (const stream of streams) {
      const events = await stream.take(3);
      assert.deepEqual(events.slice(0, 2).map(lineOf).sort(), ['binding first', 'binding second']);
      assert.deepEqual(events.slice(2).map(lineOf), ['binding second']);
      const [one, two, three] = events.map(({ id }) => Number(id.split('-', 1)[0]));
      assert.ok(one !== undefined && two === one + 1 && three === one + 2);
      const { extensionPointId } = place;
      assert.deepEqual(events[2]?.data, { extensionPointId, guestKey: 'second' });
    }
  });

  it('sends changes only to streams of the extension point or the application, with continuous ids', async () => {
    const elsewhere = await makeExtensionPoint(place.service, place.owner, place.appId);
    const [ofApp, ofPoint] = [
      await ready(await place.open(place.appNews)),
      await ready(await place.open(place.pointNews)),
    ];
    await publishAs(place.service, place.publisher, elsewhere, 'other', tinyModule(3));
    const [last] = (await ofApp.take(2)).slice(-1);
    // A heartbeat has the id of the event that was not sent.
    const waiting = ofPoint.next();
    while (!ofPoint.text().includes(`id: ${last?.id}\n\n`)) await sleep(5);
    await place.publish(4, `?guest=${place.first}`);
    assert.deepEqual(lineOf((await waiting) ?? { event: '', data: {} }), 'binding first');
  });

  it('sends heartbeats as comments', async () => {
    const stream = await ready(await place.open(place.appNews));
    const waiting = stream.next();
    while (!stream.text().includes('\n\n:\n\n:\n\n')) await sleep(5);
    await place.publish(5, `?guest=${place.first}`);
    await waiting;
  });

  it('replays missed events once and in order, before `ready`', async () => {
    const first = await ready(await place.open(place.appNews));
    await place.publish(6, `?guest=${place.first}`);
    const [{ id = '' } = {}] = await first.take(1);
    await first.close();
    await place.publish(7, `?guest=${place.second}`);
    await place.publish(8, `?guest=${place.first}`);
    const expected = ['binding second', 'binding first', 'ready'];
    const again = await place.open(place.pointNews, { lastId: id });
    const events = await again.take(3);
    assert.deepEqual(events.map(lineOf), expected);
    assert.deepEqual(
      await linesOf(await place.open(place.appNews, { lastId: events[0]?.id ?? '' }), 2),
      expected.slice(1),
    );
    assert.deepEqual(await linesOf(await place.open(place.appNews, { lastId: events[1]?.id ?? '' }), 1), ['ready']);
  });

  it('reports that it can’t replay after an unknown id', async () => {
    const stream = await ready(await place.open(place.appNews));
    const [serial] = stream.lastId().split('-');
    const ids = [
      '1',
      'nonsense',
      `${serial}-00000000`,
      `${Number(serial) - 1}-00000000`,
      `${Number(serial) + 9}-aa`,
      '-1-aa',
    ];
    for (const lastId of ids) {
      const events = await (await place.open(place.appNews, { lastId })).take(2);
      assert.deepEqual(events.map(lineOf), ['reset', 'ready'], lastId);
      assert.equal(events[0]?.id, stream.lastId());
    }
  });

  it('replays everything for a client that connected before the first binding', async () => {
    const other = await openWorkshop(place.service);
    const url = `${place.base}/api/v1/apps/${other.appId}/changes`;
    const options = { token: other.owner.token };
    const stream = await ready(await place.open(url, options));
    await other.publish(1, `?guest=${other.first}`);
    const again = await place.open(url, { ...options, lastId: '0-start' });
    assert.deepEqual(await linesOf(stream, 1), ['binding first']);
    assert.deepEqual(await linesOf(again, 2), ['binding first', 'ready']);
  });

  it('reports a deleted extension point, and ends its streams', async () => {
    const doomed = await makeExtensionPoint(place.service, place.owner, place.appId);
    await publishAs(place.service, place.publisher, doomed, 'median', tinyModule(9));
    const ofApp = await ready(await place.open(place.appNews));
    const ofPoint = await ready(await place.open(`${place.base}/api/v1/extension-points/${doomed}/changes`));
    await ok(place.service, 'DELETE', `/api/v1/extension-points/${doomed}`, { token: place.owner.token });
    const [event] = await ofApp.take(1);
    assert.deepEqual({ ...event, id: '' }, { event: 'deleted', data: { extensionPointId: doomed }, id: '' });
    assert.deepEqual(await endOf(ofPoint), { code: 'not_found', before: [] });
  });

  it('reports changes by another process', async () => {
    const stream = await ready(await place.open(place.appNews));
    const bare = await openSqliteStore(statements, { file: join(place.service.dataDir, 'tenon.db') });
    const other = withEffects(bare, {
      requiresAudit: false,
      changes: { clock: Date.now, random: (length) => new Uint8Array(length), keep: 100 },
    });
    const { extensionPointId, publisher } = place;
    const key = { extensionPointId: extensionPointId as ExtensionPointId, userId: publisher.id, name: 'median' };
    await other.write(async (tx) => {
      await tx.blockPlugin(key, { atMs: 1, reason: 'why' });
      await rebind(tx, key, Date.now());
    });
    assert.deepEqual((await linesOf(stream, 2)).sort(), ['binding first', 'binding second']);
    await other.write(async (tx) => {
      await tx.blockPlugin(key, null);
      await rebind(tx, key, Date.now());
    });
    assert.deepEqual((await linesOf(stream, 2)).sort(), ['binding first', 'binding second']);
    await bare.close();
  });

  it('accepts a token restricted to the application, and responds 404 to one of another application', async () => {
    const own = await place.service.token(place.viewer.id, { appId: place.appId, scopes: ['read'] });
    await ready(await place.open(place.appNews, { token: own }));
    const { appId } = await openWorkshop(place.service);
    const others = await place.service.token(place.viewer.id, { appId, scopes: ['read'] });
    for (const url of [place.appNews, place.pointNews]) {
      assert.equal((await place.open(url, { token: others })).response.status, 404);
    }
  });

  it('counts as a use of the token while it is open', async () => {
    const other = await openPlace({ changeHeartbeatMs: 20 });
    await ready(await other.open(other.appNews));
    const usedAtMs = async (): Promise<number> => {
      await other.service.services.lastUsed.flush();
      const [token] = await other.service.store.read.tokens(other.viewer.id, undefined, {});
      return token?.lastUsedAtMs ?? 0;
    };
    const before = await usedAtMs();
    assert.ok(before > 0);
    other.service.advance(180_000); // the viewer asks for nothing
    while ((await usedAtMs()) <= before + 60_000) await sleep(10);
    await other.close();
  });

  it('rejects a token in the URL', async () => {
    const stream = await openEvents(`${place.appNews}?access_token=${place.viewer.token}`);
    assert.equal(stream.response.status, 400);
    await stream.close();
  });
});

describe('GET …/changes ends', () => {
  let place: Place;
  before(async () => {
    place = await openPlace({ changeHeartbeatMs: 40 });
  });
  after(() => place.close());

  it('when the token is revoked', async () => {
    const made = await ok<{ id: string; token: string }>(place.service, 'POST', '/api/v1/tokens', {
      token: place.viewer.token,
      json: { name: 'host', scopes: ['read'] },
    });
    const stream = await ready(await place.open(place.appNews, { token: made.token }));
    await ok(place.service, 'DELETE', `/api/v1/tokens/${made.id}`, { token: place.viewer.token });
    assert.deepEqual(await endOf(stream), { code: 'invalid_token', before: [] });
  });

  it('when the token expires', async () => {
    const token = await place.service.token(place.viewer.id, { lifetimeMs: 3_600_000 });
    const [stream, other] = [
      await ready(await place.open(place.appNews, { token })),
      await ready(
        await place.open(place.appNews, { token: await place.service.token(place.viewer.id, { lifetimeMs: 9e9 }) }),
      ),
    ];
    place.service.advance(3_600_001);
    assert.deepEqual(await endOf(stream), { code: 'invalid_token', before: [] });
    await place.publish(1, `?guest=${place.first}`).catch(() => {}); // the publisher's token has expired too
    await other.close();
  });

  it('when the member is removed, without later events', async () => {
    const { service, appId } = place;
    const [owner, member] = [await service.token(place.owner.id), await service.user('Mia')];
    const path = `/api/v1/apps/${appId}/members/${member.id}`;
    await makeMember(service, { token: owner }, appId, 'admin', member);
    const streams = [
      await ready(await place.open(place.appNews, { token: member.token })),
      await ready(await place.open(place.pointNews, { token: member.token })),
    ];
    await ok(service, 'DELETE', path, { token: owner });
    const publisher = { id: place.publisher.id, token: await service.token(place.publisher.id) };
    await publishAs(service, publisher, place.extensionPointId, 'median', tinyModule(2));
    for (const stream of streams) assert.deepEqual(await endOf(stream), { code: 'not_found', before: [] });
  });

  it('when a member becomes only a guest', async () => {
    const { service, appId } = place;
    const owner = await service.token(place.owner.id);
    const path = `/api/v1/apps/${appId}/members/${place.publisher.id}`;
    const token = await service.token(place.publisher.id);
    await makeMember(service, { token: owner }, appId, 'viewer', { token });
    const stream = await ready(await place.open(place.appNews, { token }));
    await ok(service, 'DELETE', path, { token: owner });
    assert.deepEqual(await endOf(stream), { code: 'forbidden', before: [] });
  });

  it('when the application is deleted', async () => {
    const { service, base } = place;
    const other = await openWorkshop(service);
    await other.publish(1);
    const url = `${base}/api/v1/apps/${other.appId}/changes`;
    const stream = await ready(await place.open(url, { token: other.viewer.token }));
    await ok(service, 'DELETE', `/api/v1/apps/${other.appId}`, { token: other.owner.token });
    assert.deepEqual(await endOf(stream), { code: 'not_found', before: [] });
  });
});

describe('GET …/changes is bounded', () => {
  it('in the streams of an account, and frees the slot when one ends', async () => {
    const place = await openPlace({ changeStreamsPerAccount: 2 });
    const [one] = [await ready(await place.open(place.appNews)), await ready(await place.open(place.pointNews))];
    const refused = await place.open(place.appNews);
    assert.equal(refused.response.status, 429);
    assert.match(String(refused.response.headers.get('retry-after')), /^\d+$/);
    await ready(await place.open(place.appNews, { token: place.owner.token }));
    await one.close();
    for (;;) {
      const stream = await place.open(place.appNews);
      if (stream.response.status === 200) break;
      await sleep(10);
    }
    await place.close();
  });

  it('in the streams of an account, across tokens and applications', async () => {
    const service = await openService({ config: { changeStreamsPerAccount: 3 } });
    const base = await service.listen();
    const { id, token } = await service.user();
    const streams: EventStream[] = [];
    try {
      const statuses: number[] = [];
      for (let at = 0; at < 4; at++) {
        const { id: appId } = (await service.call('POST', '/api/v1/apps', { token, json: { name: `a${at}` } })).json();
        const stream = await openEvents(`${base}/api/v1/apps/${appId}/changes`, { token: await service.token(id) });
        streams.push(stream);
        statuses.push(stream.response.status);
      }
      assert.deepEqual(statuses, [200, 200, 200, 429]);
    } finally {
      for (const stream of streams) await stream.close();
      await service.close();
    }
  });

  it('without slots for clients that disconnect before they are authorized', async () => {
    const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let secret = '';
    const service = await openService({
      config: { changeStreamsPerAccount: 1 },
      replace: ({ deps }) => {
        const read = Object.assign(Object.create(deps.store.read), {
          // As a database that is asked over a network.
          async tokenByHash(secretHash: string) {
            if (secretHash === hashSecret(secret)) {
              asked.resolve();
              await gone.promise;
            }
            return deps.store.read.tokenByHash(secretHash);
          },
        });
        return { deps: { ...deps, store: { ...deps.store, read } } };
      },
    });
    const base = await service.listen();
    const { appId, viewer } = await openWorkshop(service);
    secret = await service.token(viewer.id);
    const path = `/api/v1/apps/${appId}/changes`;
    try {
      const socket = connectTo(base);
      socket.on('error', () => {});
      socket.write(requestOf([`GET ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${secret}`]));
      await asked.promise;
      socket.resetAndDestroy();
      while ((await connectionsOf(service)) > 0) await sleep(10);
      gone.resolve();
      const stream = await openEvents(base + path, { token: secret });
      await stream.close();
      assert.equal(stream.response.status, 200);
    } finally {
      await service.close();
    }
  });

  it('in all streams', async () => {
    const place = await openPlace({ changeStreams: 1 });
    await ready(await place.open(place.appNews));
    const refused = await place.open(place.appNews, { token: place.owner.token });
    assert.equal(refused.response.status, 503);
    assert.ok(refused.response.headers.has('retry-after'));
    await place.close();
  });

  it('in stored events: a client that was away longer requests everything again', async () => {
    const place = await openPlace({ changesPerApp: 3 });
    const before = (await ready(await place.open(place.appNews))).lastId();
    const ids: string[] = [];
    const stream = await ready(await place.open(place.appNews));
    for (let number = 1; number <= 5; number++) {
      await place.publish(number, `?guest=${place.first}`);
      ids.push((await stream.next())?.id ?? '');
    }
    const lines = async (lastId: string, count: number) => linesOf(await place.open(place.appNews, { lastId }), count);
    assert.deepEqual(await lines(before, 2), ['reset', 'ready']);
    assert.deepEqual(await lines(ids[0] ?? '', 2), ['reset', 'ready']);
    assert.deepEqual(await lines(ids[2] ?? '', 3), ['binding first', 'binding first', 'ready']);
    await place.close();
  });

  it('in buffered events: a client that reads nothing is disconnected', async () => {
    const place = await openPlace({ idleTimeoutMs: 1000, changesPerApp: 100_000 });
    const { appId, service, extensionPointId } = place;
    const guestKey = 'k'.repeat(512);
    const lists = Array.from({ length: 40_000 }, () => ({
      extensionPointId: extensionPointId as ExtensionPointId,
      guestKey,
    }));
    const fields = { mark: 'aa', atMs: 1, keep: 100_000 };
    await service.store.write((tx) => tx.insertChanges(appId as AppId, lists, fields));

    const socket = connectTo(place.base);
    socket.on('error', () => {});
    const { pathname } = new URL(place.appNews);
    const authorization = `authorization: Bearer ${place.viewer.token}`;
    socket.write(requestOf([`GET ${pathname} HTTP/1.1`, 'host: x', authorization, 'last-event-id: 0-start']));
    await once(socket, 'readable');
    socket.pause();
    const reader = await place.open(place.appNews, { token: place.owner.token, lastId: '0-start' });
    assert.equal((await reader.take(40_001)).at(-1)?.event, 'ready');
    // The server has given up on it: what the two systems hold is all that still comes.
    while ((await connectionsOf(service)) > 1) await sleep(20);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    assert.ok(bytes < lists.length * guestKey.length, `${bytes} bytes`);
    await place.publish(1, `?guest=${place.first}`);
    assert.deepEqual(await linesOf(reader, 1), ['binding first']);
    await place.close();
  });
});

function connectionsOf({ app }: TestService): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  return promise;
}

describe('a server that stops', () => {
  it('ends its streams at once, and accepts no more', async () => {
    const place = await openPlace();
    const streams = [await ready(await place.open(place.appNews)), await ready(await place.open(place.pointNews))];
    const closed = place.service.close();
    for (const stream of streams) assert.deepEqual(await endOf(stream), { code: 'unavailable', before: [] });
    await closed;
  });
});
