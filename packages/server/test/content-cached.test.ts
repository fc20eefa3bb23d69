import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { authenticateToken } from '../src/auth/authenticate.ts';
import { openService, type TestService, type TestUser } from './helpers/service.ts';
import { makeGuest, makeWorld, publishAs, tinyModule, type World } from './helpers/world.ts';

describe('a content from the response cache', () => {
  let service: TestService;
  let world: World;
  let base: string;
  let uncached = 0;
  let numbers = 0;
  before(async () => {
    service = await openService({
      config: { logLevel: 'info' }, // where every read is logged, nothing is answered from the cache
      replace: ({ requestSemaphore }) => ({
        requestSemaphore: {
          ...requestSemaphore,
          acquire(key: string) {
            uncached++;
            return requestSemaphore.acquire(key);
          },
        },
      }),
    });
    world = await makeWorld(service);
    base = await service.listen();
  });
  after(() => service.close());

  const read = async (path: string, { token }: TestUser, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(base + path, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
    const body = Buffer.from(await response.arrayBuffer());
    const fields = Object.fromEntries(response.headers);
    for (const name of ['date', 'x-request-id', 'connection', 'keep-alive']) delete fields[name];
    return { status: response.status, fields, body };
  };
  /** Publishes something, and reads it until it is answered from the cache. */
  const cached = async (publisher: TestUser, reader: TestUser, name: string) => {
    const bytes = tinyModule(9_000_000 + numbers++);
    const { contentAddress } = await publishAs(service, publisher, world.extensionPointId, name, bytes);
    const path = `/api/v1/c/${contentAddress}`;
    const first = await read(path, reader);
    const before = uncached;
    const second = await read(path, reader);
    assert.equal(uncached, before, 'the second is from the cache');
    assert.deepEqual(second, first);
    assert.deepEqual(second.body, bytes);
    return { path, contentAddress };
  };

  it('has the same header fields, and supports conditions, ranges and HEAD', async () => {
    const { path, contentAddress } = await cached(world.guest, world.owner, 'same');
    assert.equal((await read(path, world.owner, { 'if-none-match': `"${contentAddress}"` })).status, 304);
    assert.equal((await read(path, world.owner, { 'if-match': '"other"' })).status, 412);
    const part = await read(path, world.owner, { range: 'bytes=0-3' });
    assert.deepEqual([part.status, part.body.toString('latin1')], [206, '\0asm']);
    const { status, fields, body } = await read(path, world.owner, {}, 'HEAD');
    assert.deepEqual([status, body.length], [200, 0]);
    assert.deepEqual(fields, (await read(path, world.owner)).fields);
    assert.equal((await read(path, world.owner, { origin: 'https://evil.example', host: 'x' })).status, 200);
    assert.equal((await read(`${path}?access_token=x`, world.owner)).status, 400);
  });

  it('is only for its reader', async () => {
    const { path } = await cached(world.guest, world.owner, 'alone');
    assert.equal((await read(path, world.stranger)).status, 404);
    assert.equal((await read(path, { ...world.owner, token: 'nonsense' })).status, 401);
  });

  it('is not served after the token is revoked or expires', async () => {
    const { id } = world.owner;
    const revoked = { id, token: await service.token(id) };
    const { path } = await cached(world.guest, revoked, 'revoked');
    const { deps } = service.services;
    const { tokenId } = await authenticateToken(deps, revoked.token);
    const revoking = await service.call('DELETE', `/api/v1/tokens/${tokenId}`, { token: revoked.token });
    assert.equal(revoking.statusCode, 204);
    assert.equal((await read(path, revoked)).status, 401);
    const short = { id, token: await service.token(id, { lifetimeMs: 60_000 }) };
    const other = await cached(world.guest, short, 'expired');
    service.advance(61_000);
    assert.equal((await read(other.path, short)).status, 401);
  });

  it('is not served after the guest is removed or the plugin is deleted', async () => {
    const user = await service.user();
    const { appId, extensionPointId, owner } = world;
    const guestId = await makeGuest(service, owner, appId, 'leaving', user);
    const { path } = await cached(user, user, 'leaving');
    const left = `/api/v1/apps/${appId}/guests/${guestId}`;
    const { statusCode } = await service.call('DELETE', left, { token: owner.token });
    assert.equal(statusCode, 204);
    assert.equal((await read(path, user)).status, 404);

    const second = await cached(world.guest, owner, 'deleted');
    const plugin = `/api/v1/artifacts/${extensionPointId}/plugin/${world.guest.id}/deleted`;
    assert.equal((await service.call('DELETE', plugin, { token: owner.token })).statusCode, 204);
    assert.equal((await read(second.path, owner)).status, 404);
  });
});
