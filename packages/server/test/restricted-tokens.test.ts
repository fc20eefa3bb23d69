import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TokenCreated, TokenInput } from '@tenon/protocol';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { freshModule, makeExtensionPoint, makeWorld, ok, type World } from './helpers/world.ts';

let service: TestService;
let world: World;
before(async () => {
  // At the level debug, responses are not cached.
  service = await openService({ config: { trustedProxies: ['127.0.0.1'], logLevel: 'info' } });
  world = await makeWorld(service);
});
after(() => service.close());

const api = '/api/v1';
const wasm = { 'content-type': 'application/wasm' };

function create(token: string, json: Partial<TokenInput>) {
  return service.call('POST', `${api}/tokens`, { token, json: { name: 'CI', ...json } });
}

async function created(token: string, json: Partial<TokenInput>): Promise<TokenCreated> {
  const response = await create(token, json);
  assert.equal(response.statusCode, 201, response.payload);
  return response.json<TokenCreated>();
}

describe('a token that is restricted to a plugin', () => {
  const plugin = () => ({ extensionPointId: world.extensionPointId, name: 'mine' });
  const path = (name: string, point = world.extensionPointId) =>
    `${api}/artifacts/${point}/plugin/${world.guest.id}/${name}`;
  const publish = (token: string, name: string, point?: string) =>
    service.call('PUT', path(name, point), { token, body: freshModule(), headers: wasm });

  it('publishes, reads, rolls back and yanks the plugin, and nothing else', async () => {
    const { token, ...info } = await created(world.guest.token, { plugin: plugin(), scopes: ['read', 'publish'] });
    assert.deepEqual(info.plugin, plugin());
    assert.equal(info.appId, world.appId);
    assert.equal((await publish(token, 'mine')).statusCode, 201);
    assert.equal((await publish(token, 'mine')).statusCode, 200);
    assert.equal((await publish(world.guest.token, 'other')).statusCode, 201);
    const call = (method: string, url: string, json?: unknown) => service.call(method, url, { token, json });
    assert.equal((await call('POST', `${path('mine')}/rollback`, { version: 1 })).statusCode, 200);
    assert.equal((await call('POST', `${path('mine')}/versions/2/yank`, { reason: 'a' })).statusCode, 200);
    for (const url of ['', '/versions', '/versions/1', '/versions/1/content', '/about', '/usage'])
      assert.equal((await call('GET', path('mine') + url)).statusCode, 200, url);
    assert.equal((await call('GET', `${api}/extension-points/${world.extensionPointId}`)).statusCode, 200);
    assert.equal((await call('GET', `${api}/me`)).statusCode, 200);

    const otherPoint = await makeExtensionPoint(service, world.owner, world.appId);
    assertProblem(await publish(token, 'other'), 403, 'forbidden');
    assertProblem(await publish(token, 'mine', otherPoint), 403, 'forbidden');
    const refused: [string, string, unknown?][] = [
      ['GET', path('other')],
      ['GET', path('missing')],
      ['DELETE', path('mine')],
      ['POST', `${path('other')}/versions/1/yank`, { reason: 'a' }],
      ['GET', `${api}/extension-points/${world.extensionPointId}/plugins`],
      ['GET', `${api}/extension-points/${otherPoint}`],
      ['GET', `${api}/apps/${world.appId}`],
      ['GET', `${api}/apps/${world.appId}/extension-points`],
      ['GET', `${api}/apps/${world.appId}/plugins`],
      ['GET', `${api}/apps`],
      ['GET', `${api}/tokens`],
    ];
    for (const [method, url, json] of refused) assertProblem(await call(method, url, json), 403, 'forbidden');
    const { contentAddress } = await ok<{ contentAddress: string }>(service, 'GET', path('mine'), { token });
    assertProblem(await call('GET', `${api}/c/${contentAddress}`), 404, 'not_found');
    assert.equal((await call('DELETE', `${api}/tokens/${info.id}`)).statusCode, 204);
    assertProblem(await call('GET', `${api}/me`), 401, 'invalid_token');
  });

  it('is not made with the scope manage, and for no extension point that the user may not see', async () => {
    const stranger = await service.user();
    assertProblem(await create(world.guest.token, { plugin: plugin(), scopes: ['manage'] }), 422, 'invalid_field');
    assertProblem(await create(stranger.token, { plugin: plugin() }), 422, 'invalid_field');
    const { scopes } = await created(world.guest.token, { plugin: plugin() });
    assert.deepEqual(scopes, ['read', 'publish']);
  });
});

describe('a token that is restricted to networks', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });

  it('works from them, and is unknown elsewhere, also if the response is cached', async () => {
    const { token } = await created(world.owner.token, {
      scopes: ['read'],
      networks: ['192.0.2.0/24', '2001:db8::/32'],
    });
    const list = `${api}/extension-points/${world.extensionPointId}/bindings/key`;
    const get = (address: string) => service.call('GET', list, { token, headers: from(address) });
    for (const address of ['192.0.2.1', '192.0.2.1', '::ffff:192.0.2.9', '[2001:db8::1]:4711', '192.0.2.1'])
      assert.equal((await get(address)).statusCode, 200, address);
    for (const address of ['192.0.3.1', '::ffff:192.0.3.1', '2001:db9::1', 'unknown', '192.0.2.1, 198.51.100.1']) {
      const { payload, ...response } = await get(address);
      assertProblem({ ...response, payload } as never, 401, 'invalid_token');
      const unknown = await service.call('GET', list, { token: `${token.slice(0, -1)}x`, headers: from(address) });
      assert.equal(payload, unknown.payload);
    }
    assertProblem(await service.call('GET', list, { token }), 401, 'invalid_token');
  });

  it('makes tokens for the same networks or fewer, and no API keys', async () => {
    const options = { headers: from('192.0.2.1') };
    const { token } = await created(world.owner.token, { networks: ['192.0.2.0/24'] });
    const make = (networks?: string[]) =>
      service.call('POST', `${api}/tokens`, { token, json: { name: 'a', networks }, ...options });
    assert.deepEqual((await make()).json<TokenCreated>().networks, ['192.0.2.0/24']);
    assert.deepEqual((await make(['192.0.2.7'])).json<TokenCreated>().networks, ['192.0.2.7/32']);
    assertProblem(await make(['192.0.0.0/16']), 403, 'forbidden');
    assertProblem(await make(['2001:db8::/32']), 403, 'forbidden');
    assertProblem(
      await service.call('POST', `${api}/api-keys`, { token, json: { name: 'a' }, ...options }),
      403,
      'forbidden',
    );
  });

  it('is refused for other texts, and too many', async () => {
    assertProblem(await create(world.owner.token, { networks: ['192.0.2.0/33'] }), 422, 'invalid_field');
    assertProblem(await create(world.owner.token, { networks: ['::ffff:192.0.2.0/120'] }), 422, 'invalid_field');
    assertProblem(await create(world.owner.token, { networks: Array(21).fill('192.0.2.1') }), 422, 'invalid_field');
  });
});
