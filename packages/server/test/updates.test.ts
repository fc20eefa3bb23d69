import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventStream, openEvents } from './helpers/event-stream.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type ServiceOptions, type TestService, type TestUser } from './helpers/service.ts';
import { makeExtensionPoint, makeGuest, makeMember, ok, publishAs, tinyModule } from './helpers/world.ts';

const quietMs = 900;
/** Longer than changes are collected into one event. */
const settledMs = 350;

interface Place extends Workshop {
  readonly service: TestService;
  url(query?: string): string;
  open(user: TestUser, query?: string): Promise<EventStream>;
  close(): Promise<void>;
}

async function openPlace(config: ServiceOptions['config'] = {}): Promise<Place> {
  const service = await openService({ config });
  const base = await service.listen();
  const workshop = await openWorkshop(service);
  const streams: EventStream[] = [];
  const url = (query = '') => `${base}/api/v1/apps/${workshop.appId}/updates${query}`;
  return {
    ...workshop,
    service,
    url,
    async open({ token }, query) {
      const stream = await openEvents(url(query), { token });
      streams.push(stream);
      assert.deepEqual((await stream.next())?.event, 'ready');
      return stream;
    },
    async close() {
      for (const stream of streams) await stream.close();
      await service.close();
    },
  };
}

const pending = new WeakMap<EventStream, Promise<unknown>>();

/** The next event; `undefined` if none comes in {@link quietMs}. */
async function nextEvent(stream: EventStream, waitMs = quietMs): Promise<unknown> {
  const next = pending.get(stream) ?? stream.next();
  pending.set(stream, next);
  const found = await Promise.race([next, sleep(waitMs)]);
  if (found !== undefined) pending.delete(stream);
  return found;
}

/** Reads the events that are there. */
async function drain(stream: EventStream): Promise<number> {
  let count = 0;
  while ((await nextEvent(stream, 50)) !== undefined) count++;
  return count;
}

const update = { event: 'update', data: {}, id: '' };

describe('GET /api/v1/apps/:appId/updates', () => {
  let place: Place;
  before(async () => {
    place = await openPlace();
  });
  after(() => place.close());

  it('reports every kind of change to members, and says nothing else', async () => {
    const { service, owner, viewer, publisher, appId, extensionPointId, first } = place;
    const stream = await place.open(viewer);
    const asOwner = { token: owner.token };
    const point = `/api/v1/extension-points/${extensionPointId}`;
    const changes: (() => Promise<unknown>)[] = [
      () => place.publish(1),
      () => ok(service, 'PUT', `/api/v1/apps/${appId}`, { ...asOwner, json: { name: 'Renamed' } }),
      () => place.settings({ requiresApproval: true }),
      () => place.publish(2),
      () => place.call('POST', '/versions/2/approve'),
      () => place.call('PUT', '/block', { reason: 'It sends data home.' }),
      () => place.call('DELETE', '/block'),
      () => place.call('POST', '/rollback', { version: 1 }),
      () => ok(service, 'PUT', `${point}/guests/${first}/pins/median`, { ...asOwner, json: { version: 2 } }),
      async () => makeGuest(service, owner, appId, 'third', publisher),
      async () => makeMember(service, owner, appId, 'viewer', await service.user()),
      async () => makeExtensionPoint(service, owner, appId),
    ];
    for (const change of changes) {
      await change();
      assert.deepEqual(await nextEvent(stream, 5000), update, String(change));
      // An invitation and its acceptance are two changes.
      await sleep(settledMs);
      await drain(stream);
    }
    assert.equal(/median|first|usr_|gst_|ext_/.test(stream.text()), false);
  });

  it('reports to a guest the changes of its own plugins and of the extension points only', async () => {
    const { service, owner, publisher, appId, extensionPointId } = place;
    const other = await service.user('Otto');
    await makeGuest(service, owner, appId, 'otto', other);
    const stream = await place.open(publisher);
    await publishAs(service, other, extensionPointId, 'theirs', tinyModule(40));
    await makeGuest(service, owner, appId, 'another', other);
    await makeMember(service, owner, appId, 'viewer', await service.user());
    assert.equal(await nextEvent(stream), undefined);
    await place.call('POST', '/versions/1/yank', { reason: 'It sends data home.' });
    assert.deepEqual(await nextEvent(stream, 5000), update);
    await place.settings({ requiresApproval: false });
    assert.deepEqual(await nextEvent(stream, 5000), update);
  });

  it('starts with an event if something changed within the given seconds', async () => {
    await place.settings({ requiresApproval: true });
    assert.deepEqual(await nextEvent(await place.open(place.viewer, '?within=60')), update);
    assert.equal(await nextEvent(await place.open(place.viewer)), undefined);
    place.service.advance(120_000);
    assert.equal(await nextEvent(await place.open(place.viewer, '?within=60')), undefined);
    const { token } = place.viewer;
    for (const within of ['-1', '1.5', 'all', '99999', '']) {
      const response = await place.service.call('GET', `/api/v1/apps/${place.appId}/updates?within=${within}`, {
        token,
      });
      assertProblem(response, 400, 'invalid_request');
    }
  });

  it('makes one event of many changes in quick succession', async () => {
    const stream = await place.open(place.viewer);
    for (let at = 0; at < 8; at++) await place.settings({ requiresApproval: at % 2 === 0 });
    await sleep(quietMs);
    const count = await drain(stream);
    assert.ok(count >= 1 && count <= 4, `${count} events`);
  });

  it('ends when the user loses the access', async () => {
    const { service, owner, appId } = place;
    const member = await service.user();
    await makeMember(service, owner, appId, 'viewer', member);
    const stream = await place.open(member);
    await ok(service, 'DELETE', `/api/v1/apps/${appId}/members/${member.id}`, { token: owner.token });
    let last = await stream.next();
    while (last?.event === 'update') last = await stream.next();
    assert.ok(last?.event === 'end');
    assert.equal((last.data as { code: string }).code, 'not_found');
  });
});

describe('GET /api/v1/apps/:appId/updates is bounded', () => {
  it('shares the limit of change streams', async () => {
    const place = await openPlace({ changeStreamsPerAccount: 1 });
    try {
      await place.open(place.viewer);
      const response = await fetch(place.url(), { headers: { authorization: `Bearer ${place.viewer.token}` } });
      assert.equal(response.status, 429);
      assert.equal(((await response.json()) as { code: string }).code, 'rate_limited');
    } finally {
      await place.close();
    }
  });
});
