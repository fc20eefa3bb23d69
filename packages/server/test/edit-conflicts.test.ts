import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ExtensionPoint } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeWorld, type World } from './helpers/world.ts';

let service: TestService;
let world: World;
before(async () => {
  service = await openService();
  world = await makeWorld(service);
});
after(() => service.close());

const edited: Readonly<Record<string, () => string>> = {
  'an extension point': () => `/api/v1/extension-points/${world.extensionPointId}`,
  'an application': () => `/api/v1/apps/${world.appId}`,
};

for (const [what, pathOf] of Object.entries(edited)) {
  describe(`a change of ${what}`, () => {
    const read = (headers: Record<string, string> = {}, method = 'GET') =>
      service.call(method, pathOf(), { token: world.owner.token, headers });
    const put = (json: unknown, headers: Record<string, string> = {}, token = world.owner.token) =>
      service.call('PUT', pathOf(), { token, json, headers });
    const tag = async (): Promise<string> => String((await read()).headers.etag);

    it('is rejected if it is based on an outdated state', async () => {
      const stale = await tag();
      assert.match(stale, /^"[\w-]{22}"$/);
      service.advance(1000);
      const first = await put({ name: 'By the first tab' }, { 'if-match': stale });
      assert.equal(first.statusCode, 200);
      assert.equal(first.headers.etag, await tag(), 'the answer to a change has the tag that a reading has');
      assert.notEqual(first.headers.etag, stale);
      for (const ifMatch of [stale, '"nope"', 'W/"nope"', `W/${String(first.headers.etag)}`, 'nonsense']) {
        assertProblem(await put({ name: 'By the second tab' }, { 'if-match': ifMatch }), 412, 'precondition_failed');
      }
      assertProblem(await put({}, { 'if-match': stale }), 412, 'precondition_failed');
      assert.equal((await read()).json<{ name: string }>().name, 'By the first tab');
      const second = await put({ name: 'By the second tab' }, { 'if-match': String(first.headers.etag) });
      assert.equal(second.statusCode, 200);
      assert.equal(
        (await put({ name: 'x' }, { 'if-match': `"other", ${String(second.headers.etag)}` })).statusCode,
        200,
      );
    });

    it('succeeds without a condition, and with `*`', async () => {
      assert.equal((await put({ name: 'a' })).statusCode, 200);
      assert.equal((await put({ name: 'b' }, { 'if-match': '*' })).statusCode, 200);
      assert.equal((await read()).json<{ name: string }>().name, 'b');
    });

    it('succeeds once for several that are based on the same state', async () => {
      const etag = await tag();
      service.advance(1000);
      const names = ['one', 'two', 'three', 'four'];
      const responses = await Promise.all(names.map((name) => put({ name }, { 'if-match': etag })));
      assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [200, 412, 412, 412]);
      const winner = responses.find(({ statusCode }) => statusCode === 200);
      assert.equal((await read()).json<{ name: string }>().name, winner?.json<{ name: string }>().name);
    });

    it('checks the condition after the caller and the body', async () => {
      const stale = { 'if-match': '"nope"' };
      assertProblem(await put({ name: 'x' }, stale, 'no-token'), 401, 'invalid_token');
      assertProblem(await put({ name: 'x' }, stale, world.stranger.token), 404, 'not_found');
      assertProblem(await put({ name: 'x' }, stale, world.viewer.token), 403, 'forbidden');
      assertProblem(await put({ name: 7 }, stale), 422, 'invalid_field');
    });

    it('is not cached', async () => {
      const etag = await tag();
      for (const method of ['GET', 'HEAD']) {
        const same = await read({ 'if-none-match': etag }, method);
        assert.equal(same.statusCode, 304);
        assert.equal(same.headers.etag, etag);
        assert.equal(same.payload, '');
        assertProblem(await read({ 'if-match': '"nope"' }), 412, 'precondition_failed');
        assert.equal((await read({ 'if-none-match': '"nope"' }, method)).headers.etag, etag);
      }
    });
  });
}

it('an outdated change of a schema or of limits is rejected like one of the name', async () => {
  const path = `/api/v1/extension-points/${world.extensionPointId}`;
  const { token } = world.owner;
  const before = await service.call('GET', path, { token });
  for (const json of [{ limits: { allowWasi: false } }, { schema: 'exports: [other]' }, { requiresApproval: true }]) {
    service.advance(1000);
    const headers = { 'if-match': String(before.headers.etag) };
    assert.equal((await service.call('PUT', path, { token, json: { name: 'changed' } })).statusCode, 200);
    assertProblem(await service.call('PUT', path, { token, json, headers }), 412, 'precondition_failed');
  }
  const { limits, schema, requiresApproval } = (await service.call('GET', path, { token })).json<ExtensionPoint>();
  const original = before.json<ExtensionPoint>();
  assert.deepEqual(
    { limits, schema, requiresApproval },
    { limits: original.limits, schema: original.schema, requiresApproval: original.requiresApproval },
  );
});
