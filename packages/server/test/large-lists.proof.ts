import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App, ExtensionPoint } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { maxRelatedRows } from '../src/db/paging.ts';
import { addExtensionPoints, addGuests } from './helpers/many.ts';
import { openService, type TestService, type TestUser } from './helpers/service.ts';
import { assertWireProblem, connectTo, readAnswer, requestOf } from './helpers/wire.ts';
import { type List, makeApp, ok } from './helpers/world.ts';

const KiB = 1024;
const MiB = KiB * KiB;
const api = '/api/v1';

/** As large as a schema can be, nearly. */
const largeSchema = JSON.stringify({ exports: {}, description: 'x'.repeat(255_000) });

describe('a page', () => {
  it('ends a page early where its entries are large', async () => {
    const service = await openService();
    try {
      const owner = await service.user();
      const { token } = owner;
      const appId = await makeApp(service, owner);
      await addExtensionPoints(service, appId, 40, largeSchema);
      const path = `${api}/apps/${appId}/extension-points`;
      const whole = await ok<List<ExtensionPoint>>(service, 'GET', path, { token });
      const collected: ExtensionPoint[] = [];
      for (let cursor = ''; ; ) {
        const page = await ok<List<ExtensionPoint>>(service, 'GET', `${path}?limit=1000${cursor}`, { token });
        assert.ok(JSON.stringify(page).length < 9 * MiB, 'a page of large entries ends early');
        collected.push(...page.objects);
        if (page.nextCursor === undefined) break;
        cursor = `&cursor=${page.nextCursor}`;
      }
      assert.deepEqual(collected, whole.objects);
      const head = await service.call('HEAD', path, { token });
      const body = await service.call('GET', path, { token });
      assert.equal(head.headers['content-length'], String(body.rawPayload.length));
      assert.equal(body.headers['content-type'], 'application/json; charset=utf-8');
    } finally {
      await service.close();
    }
  });

  it('ends a page early where too much belongs to its entries', async () => {
    const service = await openService();
    try {
      const user = await service.user();
      const { token } = user;
      const held = maxRelatedRows / 2 + 1;
      for (let count = 0; count < 2; count++) await addGuests(service, await makeApp(service, user), held, user);
      const first = await ok<List<App>>(service, 'GET', `${api}/apps`, { token });
      const second = await ok<List<App>>(service, 'GET', `${api}/apps?cursor=${first.nextCursor}`, { token });
      for (const { objects } of [first, second])
        assert.deepEqual(
          objects.map(({ guests }) => guests.length),
          [held],
        );
      assert.equal(second.nextCursor, undefined);
    } finally {
      await service.close();
    }
  });
});

describe('large lists', () => {
  const budget = 40 * MiB;
  const points = 64; // 16 MB of schemas, more than the sockets' buffers take
  let service: TestService;
  let base: string;
  let owner: TestUser;
  let path: string;
  before(async () => {
    service = await openService({ config: { maxBodyMemoryBytes: budget, logLevel: 'info' } });
    base = await service.listen();
    owner = await service.user();
    const appId = await makeApp(service, owner);
    await addExtensionPoints(service, appId, points, largeSchema);
    path = `${api}/apps/${appId}/extension-points`;
  });
  after(() => service.close());

  const ask = (): Socket => {
    const socket = connectTo(base);
    socket.pause();
    socket.on('error', () => {});
    socket.write(requestOf([`GET ${path} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${owner.token}`]));
    return socket;
  };

  it('do not block other requests while they are serialized', async () => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { payload } = await service.call('GET', path, { token: owner.token });
    isDone = true;
    assert.ok(payload.length > points * 255_000);
    assert.ok(turns >= points, `${turns} turns`);
  });

  it('count against the memory for bodies until slow readers have read them', async () => {
    const { bodyBudget } = service.services;
    const readers = [ask(), ask(), ask()];
    try {
      // One account's requests together take no more than they leave to others: of these one is served, or two.
      await until(() => bodyBudget.used > 8 * MiB);
      const responses = await Promise.all(
        readers.map((socket) => Promise.race([once(socket, 'readable'), sleep(2000)])),
      );
      assert.equal(responses.length, readers.length);
      assert.ok(bodyBudget.used <= budget, `${bodyBudget.used} bytes`);
      const more = ask().resume();
      const refused = await readAnswer(more);
      assertWireProblem(refused, 503, 'unavailable');
      assert.match(refused.headers['retry-after'] ?? '', /^\d+$/);
    } finally {
      for (const socket of readers) socket.destroy();
    }
    await until(() => bodyBudget.used === 0);
    const again = ask().resume();
    const whole = await readAnswer(again);
    assert.equal(whole.status, 200);
    assert.equal((JSON.parse(whole.body.toString()) as List<unknown>).objects.length, points);
    again.destroy();
    await until(() => bodyBudget.used === 0);
  });
});
