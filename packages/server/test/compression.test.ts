import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeWorld, ok, type World } from './helpers/world.ts';

const decoders = {
  br: (bytes: Buffer) => brotliDecompressSync(bytes),
  gzip: (bytes: Buffer) => gunzipSync(bytes),
} as const;

const encodings = ['br', 'gzip'] as const;

describe('JSON responses', () => {
  let service: TestService;
  let world: World;
  let extensionPoint: string;
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    service.call(method, path, { token: world.owner.token, headers });
  const createLarge = async (): Promise<string> => {
    const exports = Array.from({ length: 500 }, (_, at) => `function_${'x'.repeat(40)}_${at}`);
    const json = { name: 'large', schema: { exports } };
    const { token } = world.owner;
    return (await ok<{ id: string }>(service, 'POST', `/api/v1/apps/${world.appId}/extension-points`, { token, json }))
      .id;
  };
  before(async () => {
    service = await openService();
    world = await makeWorld(service);
    extensionPoint = `/api/v1/extension-points/${await createLarge()}`;
  });
  after(() => service.close());

  it('of more than 1 KiB are compressed as the client accepts, with the same content', async () => {
    for (const path of [extensionPoint, '/openapi.json']) {
      const plain = await get(path);
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.equal(plain.headers.vary, 'accept-encoding');
      for (const encoding of encodings) {
        const response = await get(path, { 'accept-encoding': `${encoding}, identity;q=0.5` });
        assert.equal(response.headers['content-encoding'], encoding);
        assert.equal(response.headers.vary, 'accept-encoding');
        assert.equal(Number(response.headers['content-length']), response.rawPayload.length);
        assert.ok(response.rawPayload.length < plain.rawPayload.length / 2);
        assert.deepEqual(decoders[encoding](response.rawPayload), plain.rawPayload);
        const head = await get(path, { 'accept-encoding': encoding }, 'HEAD');
        assert.equal(head.headers['content-length'], response.headers['content-length']);
        assert.equal(head.rawPayload.length, 0);
      }
    }
  });

  it('have an entity tag for each encoding, and conditions accept all of them', async () => {
    const { etag: small } = (await get(`/api/v1/apps/${world.appId}`, { 'accept-encoding': 'br' })).headers;
    assert.match(String(small), /^"[\w-]{22}"$/, 'a short response is not compressed');
    for (const encoding of encodings) {
      const { etag: plain } = (await get(extensionPoint)).headers;
      const { etag } = (await get(extensionPoint, { 'accept-encoding': encoding })).headers;
      assert.equal(etag, String(plain).replace(/"$/, `-${encoding}"`));
      for (const accepted of ['', ...encodings]) {
        const again = await get(extensionPoint, { 'if-none-match': String(etag), 'accept-encoding': accepted });
        assert.equal(again.statusCode, 304);
        assert.equal(again.headers.etag, etag, 'the tag of what the client has');
        assert.equal(again.headers.vary, 'accept-encoding');
      }
      assert.equal((await get(extensionPoint, { 'if-match': String(etag) })).statusCode, 200);
      const change = await service.call('PUT', extensionPoint, {
        token: world.owner.token,
        json: { name: `large ${encoding}` },
        headers: { 'if-match': String(etag) },
      });
      assert.equal(change.statusCode, 200, change.payload);
      assertProblem(await get(extensionPoint, { 'if-match': String(etag) }), 412, 'precondition_failed');
    }
  });

  it('of long lists are compressed in chunks', async () => {
    const path = `/api/v1/apps/${world.appId}/extension-points`;
    while ((await get(path)).rawPayload.length <= 256 * 1024) await createLarge();
    const plain = await get(path);
    for (const encoding of encodings) {
      const response = await get(path, { 'accept-encoding': encoding });
      assert.equal(response.headers['content-encoding'], encoding);
      assert.equal(response.headers['content-length'], undefined);
      assert.deepEqual(decoders[encoding](response.rawPayload), plain.rawPayload);
    }
  });

  it('are not compressed if clients check a digest, or if the route uses a cookie', async () => {
    const headers = { 'accept-encoding': 'gzip, br' };
    const list = await get(`/api/v1/extension-points/${world.extensionPointId}/bindings/x`, headers);
    assert.equal(list.headers['content-encoding'], undefined);
    assert.equal(list.headers.vary, 'authorization');
    const session = await service.call('GET', '/api/v1/session', { headers: { ...headers, host: 'localhost:8366' } });
    assert.equal(session.headers['content-encoding'], undefined);
    assert.equal(session.headers.vary, undefined);
  });
});
