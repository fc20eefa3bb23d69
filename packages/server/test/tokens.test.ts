import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { App, Me, TokenInfo } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { invite, type List, makeApp, makeWorld, ok, type World } from './helpers/world.ts';

let service: TestService;
let world: World;
before(async () => {
  service = await openService();
  world = await makeWorld(service);
});
after(() => service.close());

const api = '/api/v1';

describe('tokens', () => {
  it('identify the user', async () => {
    const me = await ok<Me>(service, 'GET', `${api}/me`, { token: world.owner.token });
    assert.equal(me.id, world.owner.id);
    assert.equal(me.name, 'Olga');
    assert.deepEqual(me.token.scopes, ['read', 'publish', 'manage']);
  });

  it('create none that is broader or longer-lived than themselves', async () => {
    const user = await service.user();
    const narrow = await service.token(user.id, { scopes: ['read', 'manage'], lifetimeMs: 10 * 86_400_000 });
    const create = (token: string, json: object) => service.call('POST', `${api}/tokens`, { token, json });
    assertProblem(await create(narrow, { name: 'a', scopes: ['publish'] }), 403, 'forbidden');
    assertProblem(await create(narrow, { name: 'a', expiresInDays: 11 }), 403, 'forbidden');
    const made = (await create(narrow, { name: 'a' })).json<TokenInfo & { token: string }>();
    assert.deepEqual(made.scopes, ['read', 'manage']);
    assert.ok(Date.parse(made.expiresAt) <= Date.now() + 10 * 86_400_000);
    assert.match(made.token, /^tnn_/);
    const listed = await service.call('GET', `${api}/tokens`, { token: made.token });
    assert.ok(!listed.payload.includes(made.token), 'a secret is shown once');
  });

  it('that are restricted to one application see nothing else, and create no token that does', async () => {
    const { owner, appId } = world;
    const elsewhere = await makeApp(service, owner);
    const { token } = await ok<{ token: string }>(service, 'POST', `${api}/tokens`, {
      token: owner.token,
      json: { name: 'restricted', appId },
    });
    assert.equal((await service.call('GET', `${api}/apps/${appId}`, { token })).statusCode, 200);
    for (const path of [`/apps/${elsewhere}`, `/apps/${elsewhere}/guests`]) {
      assertProblem(await service.call('GET', api + path, { token }), 404, 'not_found');
    }
    const { objects } = await ok<List<App>>(service, 'GET', `${api}/apps`, { token });
    assert.deepEqual(
      objects.map(({ id }) => id),
      [appId],
    );
    for (const path of ['/apps', '/tokens']) {
      const whole = await ok<List<{ id: string }> & { total?: number }>(service, 'GET', api + path, { token });
      const only = await ok(service, 'GET', `${api}${path}?limit=1`, { token });
      const total = whole.total === undefined ? {} : { total: 1 };
      const expected = { objects: whole.objects.slice(0, 1), ...total };
      assert.deepEqual(only, expected, 'a cursor or a total would reveal what lies elsewhere');
    }
    assertProblem(await service.call('POST', `${api}/apps`, { token, json: { name: 'x' } }), 403, 'forbidden');
    assertProblem(await service.call('POST', `${api}/api-keys`, { token, json: { name: 'x' } }), 403, 'forbidden');
    assertProblem(await service.call('GET', `${api}/api-keys`, { token }), 403, 'forbidden');
    assertProblem(await service.call('POST', `${api}/tokens`, { token, json: { name: 'x' } }), 403, 'forbidden');
    assertProblem(
      await service.call('POST', `${api}/tokens`, { token, json: { name: 'x', appId: elsewhere } }),
      422,
      'invalid_field',
    );
    assert.equal((await service.call('POST', `${api}/tokens`, { token, json: { name: 'x', appId } })).statusCode, 201);
    const content = `${api}/c/${world.plugin.contentAddress}`;
    assert.equal((await service.call('GET', content, { token })).statusCode, 200);
    const code = await invite(service, owner, elsewhere, 'k');
    assertProblem(await service.call('POST', `${api}/invitations/accept`, { token, json: { code } }), 404, 'not_found');
  });

  it('can revoke themselves without a scope, and are then rejected', async () => {
    const token = await service.token(world.owner.id, { scopes: ['read'] });
    const { token: info } = await ok<Me>(service, 'GET', `${api}/me`, { token });
    await ok(service, 'DELETE', `${api}/tokens/${info.id}`, { token });
    assertProblem(await service.call('GET', `${api}/me`, { token }), 401, 'invalid_token');
  });

  it('store their last use to the minute', async () => {
    const user = await service.user();
    await ok(service, 'GET', `${api}/me`, { token: user.token });
    await service.services.lastUsed.flush();
    const { token } = await ok<Me>(service, 'GET', `${api}/me`, { token: user.token });
    assert.ok(token.lastUsedAt !== null && Math.abs(Date.parse(token.lastUsedAt) - Date.now()) < 120_000);
  });
});
