import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Plugin, PluginAbout } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { type List, makeWorld, ok, type World } from './helpers/world.ts';

describe('what a publisher says about a plugin', () => {
  let service: TestService;
  let world: World;
  let path: string;
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
    path = `/api/v1/artifacts/${world.plugin.id}/about`;
  });
  after(() => service.close());

  const put = (json: unknown, token = world.guest.token) => service.call('PUT', path, { token, json });
  const read = (token = world.guest.token) => ok<PluginAbout>(service, 'GET', path, { token });

  it('is nothing at first, is changed field by field, and removed by null', async () => {
    assert.deepEqual(await read(), { description: null, homepage: null, readme: null });
    const readme = '# Median\n\n<script>alert(1)</script>';
    const first = await put({ description: 'The median.', homepage: 'HTTPS://Median.example', readme });
    assert.deepEqual(first.json(), { description: 'The median.', homepage: 'https://median.example/', readme });
    assert.equal((await put({ description: null })).json().description, null);
    assert.deepEqual(await read(world.viewer.token), {
      description: null,
      homepage: 'https://median.example/',
      readme,
    });
    await put({ description: 'The median.' });
  });

  it('is in lists without the README', async () => {
    const points = `/api/v1/extension-points/${world.extensionPointId}/plugins`;
    for (const { token } of [world.guest, world.viewer]) {
      const { objects } = await ok<List<Plugin>>(service, 'GET', points, { token });
      const listed = objects.find(({ id }) => id === world.plugin.id);
      assert.deepEqual([listed?.description, listed?.homepage], ['The median.', 'https://median.example/']);
      assert.ok(!JSON.stringify(objects).includes('<script'));
    }
  });

  it('has no hostile URL, no invisible or endless text, and nothing that the database can not store', async () => {
    const before = await read();
    const homepages = ['javascript:alert(1)', 'data:text/html,x', 'ftp://a.example', 'a.example', '//a.example'];
    for (const homepage of [
      ...homepages,
      'https://user:secret@a.example',
      `https://a.example/${'x'.repeat(1000)}`,
      '',
    ]) {
      assertProblem(await put({ homepage }), 422, 'invalid_field');
    }
    for (const description of ['', ' ', '\u2800', 'a\u202eb', 'x'.repeat(501), 5]) {
      assertProblem(await put({ description }), 422, 'invalid_field');
    }
    for (const readme of ['', 'x'.repeat(65_537), 'é'.repeat(32_769), 'a\0b', ['x']]) {
      assertProblem(await put({ readme }), 422, 'invalid_field');
    }
    assert.equal(
      (await put({ homepage: 'https://a.example/\u202e\n"<x>' })).json().homepage,
      'https://a.example/%E2%80%AE%22%3Cx%3E',
    );
    assert.equal((await put({ readme: 'é'.repeat(32_768) })).statusCode, 200);
    await put(before);
    assert.deepEqual(await read(), before);
  });

  it('is the publisher’s to change, unless the plugin is blocked, and the team’s to remove', async () => {
    for (const { token } of [world.owner, world.admin, world.viewer]) {
      assertProblem(await put({ description: 'Mine' }, token), 403, 'forbidden');
    }
    const block = `/api/v1/artifacts/${world.plugin.id}/block`;
    await ok(service, 'PUT', block, { token: world.owner.token, json: { reason: 'why' } });
    assertProblem(await put({ description: 'Unblock me' }), 403, 'plugin_blocked');
    const remove = (token: string) => service.call('DELETE', path, { token });
    assertProblem(await remove(world.viewer.token), 403, 'forbidden');
    assert.equal((await remove(world.admin.token)).statusCode, 204);
    assertProblem(await remove(world.guest.token), 404, 'not_found');
    assert.deepEqual(await read(), { description: null, homepage: null, readme: null });
    await service.call('DELETE', block, { token: world.owner.token });
  });

  it('keeps the last of several changes at the same time, whole', async () => {
    const texts = Array.from({ length: 8 }, (_, at) => ({ description: `Text ${at}`, readme: `Text ${at}` }));
    const statuses = await Promise.all(texts.map(async (json) => (await put(json)).statusCode));
    assert.deepEqual(new Set(statuses), new Set([200]));
    const { description, readme } = await read();
    assert.equal(description, readme);
  });
});
