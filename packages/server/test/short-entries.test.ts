import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { App, Approval, ExtensionPoint, Plugin, Version } from '@tenon/protocol';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { openService, type TestService } from './helpers/service.ts';
import { type List, ok } from './helpers/world.ts';

const api = '/api/v1';

describe('short entries', () => {
  let service: TestService;
  let workshop: Workshop;
  before(async () => {
    service = await openService();
    workshop = await openWorkshop(service);
    await workshop.publish(1);
  });
  after(() => service.close());

  const read = <T>(path: string, by = workshop.publisher) => ok<T>(service, 'GET', path, { token: by.token });
  const first = async <T>(path: string, by = workshop.publisher) => (await read<List<T>>(path, by)).objects[0] as T;

  it('name as many guests as `maxGuests` says, and say that there are more', async () => {
    const { appId, extensionPointId, path } = workshop;
    const apps = [await first<App>(`${api}/apps?maxGuests=1`), await read<App>(`${api}/apps/${appId}?maxGuests=1`)];
    for (const { guests, hasMoreGuests } of apps) {
      assert.equal(guests.length, 1);
      assert.equal(hasMoreGuests, true);
    }
    const plugins = [
      await read<Plugin>(`${path()}?maxGuests=1`),
      await first<Plugin>(`${api}/extension-points/${extensionPointId}/plugins?maxGuests=1`),
    ];
    const whole = await read<Plugin>(path());
    for (const { guestIds, status, hasMoreGuests } of plugins) {
      assert.equal(guestIds.length, 1);
      assert.equal(status.bindings.length, 1);
      assert.equal(status.detail, whole.status.detail, 'the sentences count all guests');
      assert.equal(hasMoreGuests, true);
    }
    const version = await first<Version>(`${path()}/versions?maxGuests=1`);
    assert.deepEqual([version.guestIds.length, version.boundGuestIds.length, version.hasMoreGuests], [1, 1, true]);
  });

  it('are whole where `maxGuests` is large enough or left out', async () => {
    const { path } = workshop;
    const whole = await read<Plugin>(path());
    assert.equal(whole.guestIds.length, 2);
    assert.equal(whole.hasMoreGuests, false);
    assert.deepEqual(await read<Plugin>(`${path()}?maxGuests=2`), whole);
    const { objects } = await read<List<Version>>(`${path()}/versions`);
    assert.deepEqual((await read<List<Version>>(`${path()}/versions?maxGuests=1000`)).objects, objects);
  });

  it('name bound guests before others', async () => {
    const { second, path } = workshop;
    await workshop.publish(2, `?guest=${second}`);
    await workshop.call('POST', '/versions/1/yank', { reason: 'wrong' });
    const { guestIds, status } = await read<Plugin>(`${path()}?maxGuests=1`);
    assert.deepEqual(guestIds, [second]);
    assert.deepEqual(
      status.bindings.map(({ guestId }) => guestId),
      [second],
    );
    await workshop.call('POST', '/versions/1/restore');
  });

  it('of approvals do, too', async () => {
    const { appId, owner } = workshop;
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(3);
    const { guests, version } = await first<Approval>(`${api}/apps/${appId}/approvals?maxGuests=1`, owner);
    assert.equal(guests.length, 2, 'the named ones are few anyway');
    assert.deepEqual([version.guestIds.length, version.hasMoreGuests], [1, true]);
  });

  it('refuse other numbers', async () => {
    for (const number of ['0', '-1', '1001', 'x', '1.5']) {
      const { statusCode } = await service.call('GET', `${api}/apps?maxGuests=${number}`, {
        token: workshop.publisher.token,
      });
      assert.equal(statusCode, 400, number);
    }
  });

  it('can be what a change of the application is based on', async () => {
    const { appId, owner } = workshop;
    const path = `${api}/apps/${appId}?maxGuests=1`;
    const options = { token: owner.token };
    const { headers } = await service.call('GET', path, options);
    const renamed = await service.call('PUT', path, {
      ...options,
      json: { name: 'Renamed' },
      headers: { 'if-match': String(headers.etag) },
    });
    assert.equal(renamed.statusCode, 200);
    const late = { ...options, json: { name: 'Late' }, headers: { 'if-match': String(headers.etag) } };
    assert.equal((await service.call('PUT', path, late)).statusCode, 412);
  });

  it('of extension points have the names of the exports, with and without pages', async () => {
    const { appId, extensionPointId } = workshop;
    const point = await read<ExtensionPoint>(`${api}/extension-points/${extensionPointId}`);
    const names = Object.fromEntries(Object.keys(point.schema.exports).map((name) => [name, {}]));
    assert.notDeepEqual(names, {});
    const path = `${api}/apps/${appId}/extension-points?schema=`;
    for (const query of ['names', 'names&limit=10']) {
      const { ownPlugins, ...short } = await first<ExtensionPoint & { ownPlugins: number }>(path + query);
      assert.equal(ownPlugins, 1);
      assert.deepEqual(short, { ...point, schema: { exports: names } });
    }
    assert.deepEqual((await first<ExtensionPoint>(`${path}full`)).schema, point.schema);
    const { statusCode } = await service.call('GET', `${path}none`, { token: workshop.publisher.token });
    assert.equal(statusCode, 400);
  });
});
