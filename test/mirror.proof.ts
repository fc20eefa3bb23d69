import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient, type SigningKey } from '@tenon/client';
import { ociRepositoryOf, type Version } from '@tenon/protocol';
import { loadConfig, serve } from '@tenon/server';
import { deleteChanges, mirrorRefusals } from '../packages/server/test/helpers/mirror.ts';
import { digestOf, imageOf, pushImage } from '../packages/server/test/helpers/oci-images.ts';
import { noPostgres, startPostgres } from '../packages/server/test/helpers/postgres.ts';
import { makeExtensionPoint, makeGuest, ok, publishAs, tinyModule } from '../packages/server/test/helpers/world.ts';
import { corrupt } from './helpers/fault-proxy.ts';
import { type MirrorProcess, makeMirror } from './helpers/mirror-process.ts';
import {
  answerOf,
  assertEqual,
  baseOf,
  closeStage,
  etagAt,
  jsonOf,
  listPath,
  mirrorOf,
  openStage,
  publish,
  type Stage,
  untilEqual,
  untilReady,
} from './helpers/mirror-stage.ts';
import { until } from './helpers/until.ts';

describe('a mirror', () => {
  let stage: Stage;
  let mirror: MirrorProcess;
  let client: Client;

  before(async () => {
    stage = await openStage();
    mirror = await mirrorOf(stage);
    await publish(stage, '10', 20);
    await publish(stage, 'constructor', 21);
    stage.proxy.inject(({ response }) => void response.writeHead(503).end());
    await mirror.start();
    client = createClient({ baseUrl: mirror.url(), token: mirror.token });
  });
  after(async () => {
    await client.close();
    await mirror.close();
    await closeStage(stage);
  });

  it('is not ready before its first synchronization', async () => {
    const response = await fetch(`${mirror.url()}/readyz`);
    assert.equal(response.status, 503);
    assert.match(await response.text(), /first synchronization is not complete/);
    stage.proxy.inject(undefined);
    await untilReady(mirror);
  });

  it('answers lists, conditional requests, contents, and ranges as the source does, byte for byte', async () => {
    const { guestKey } = stage.world;
    assert.notEqual(
      await etagAt(mirror, listPath(stage.world, guestKey)),
      await etagAt(mirror, listPath(stage.world, 'customers/unknown')),
    );
    for (const key of [guestKey, 'customers/initech', 'customers/unknown']) await assertEqual(stage, mirror, key);
  });

  it('serves the client library, and follows changes while it streams', async () => {
    const { extensionPointId, guestKey } = stage.world;
    const key = { extensionPointId, guestKey };
    const { bindings } = await client.getBindings(key);
    assert.deepEqual(Object.keys(bindings).sort(), ['10', 'constructor', 'median']);
    const changed = new Promise<void>((resolve) => client.on('change', () => resolve()));
    await sleep(1500); // the client opens a stream for a list that is in use
    await client.getBindings(key);
    const { contentAddress } = await publish(stage, 'median', 2);
    await changed;
    await until(async () => (await client.getBindings(key)).bindings.median?.contentAddress === contentAddress);
    assert.deepEqual(Buffer.from(await client.getContent(contentAddress)), tinyModule(2));
    await assertEqual(stage, mirror, guestKey);
  });

  it('follows publishes, yanks, blocks, and unblocks in a short time', async () => {
    const { source, world } = stage;
    const { guestKey, owner, extensionPointId, guest } = world;
    const path = `/api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/median`;
    const reason = { token: owner.token, json: { reason: 'why' } };
    const delays: Record<string, number> = {};
    await publish(stage, 'median', 3);
    delays.publish = await untilEqual(stage, mirror, guestKey);
    await ok(source, 'POST', `${path}/versions/3/yank`, reason);
    delays.yank = await untilEqual(stage, mirror, guestKey);
    await until(async () => (await jsonOf<{ state: string }>(mirror.get(`${path}/versions/3`))).state === 'yanked');
    await ok(source, 'PUT', `${path}/block`, reason);
    delays.block = await untilEqual(stage, mirror, guestKey);
    const list = await jsonOf<object>(mirror.get(listPath(world, guestKey)));
    assert.deepEqual(Object.keys(list), ['10', 'constructor']);
    await ok(source, 'DELETE', `${path}/block`, { token: owner.token });
    delays.unblock = await untilEqual(stage, mirror, guestKey);
    console.log('delays in milliseconds', delays);
    for (const [change, delay] of Object.entries(delays)) assert.ok(delay < 5000, `${change}: ${delay}`);
    await assertEqual(stage, mirror, guestKey);
  });

  it('has the attestations and the signing keys of the source', async () => {
    const { extensionPointId, guest } = stage.world;
    const path = `/api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/median/versions/2/attestations`;
    const base = await baseOf(stage.source);
    const found = await jsonOf<{ objects: { state: string }[] }>(mirror.get(path));
    const expected = await (await fetch(base + path, { headers: { authorization: `Bearer ${stage.token}` } })).json();
    assert.deepEqual(found, expected);
    assert.equal(found.objects[0]?.state, 'verified');
    const keys = '/.well-known/tenon-signing-keys.json';
    const { keys: trustedKeys } = await jsonOf<{ keys: SigningKey[] }>(fetch(mirror.url() + keys));
    assert.deepEqual(trustedKeys, (await jsonOf<{ keys: SigningKey[] }>(fetch(base + keys))).keys);
    const verifying = createClient({
      baseUrl: mirror.url(),
      token: mirror.token,
      verify: 'require',
      trustedKeys,
      streaming: false,
    });
    const key = { extensionPointId, guestKey: stage.world.guestKey, name: 'median' };
    const loaded = await verifying.loadPlugin(key);
    assert.equal(loaded.provenance?.state, 'verified');
    await verifying.close();
  });

  it('has the image that an OCI client pushed, with its digest', async () => {
    const { source, world } = stage;
    const { appId, extensionPointId, guest, guestKey } = world;
    const repository = ociRepositoryOf(appId, extensionPointId, guest.id, 'pushed');
    const image = imageOf();
    const pushed = await pushImage(source, repository, '1.0.0', image, { token: guest.token });
    assert.equal(pushed.statusCode, 201, pushed.payload);
    await untilEqual(stage, mirror, guestKey);
    const digest = digestOf(image.manifest);
    for (const reference of ['1.0.0', digest]) {
      assert.equal(await (await mirror.get(`/v2/${repository}/manifests/${reference}`)).text(), image.manifest);
    }
    for (const bytes of [image.config, image.module]) {
      const blob = await mirror.get(`/v2/${repository}/blobs/${digestOf(bytes)}`);
      assert.equal(digestOf(Buffer.from(await blob.arrayBuffer())), digestOf(bytes));
    }
    const path = `/api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/pushed/versions/1`;
    assert.equal((await jsonOf<Version>(mirror.get(path))).oci.digest, digest);
  });

  it('mirrors new guests and new extension points, and forgets deleted ones', async () => {
    const { source, world } = stage;
    const { owner, guest, appId } = world;
    const extensionPointId = await makeExtensionPoint(source, owner, appId);
    await makeGuest(source, owner, appId, 'customers/ä b/1', guest);
    await publishAs(source, guest, extensionPointId, 'mean', tinyModule(30));
    const other = { ...stage, world: { ...world, extensionPointId } };
    await untilEqual(other, mirror, 'customers/ä b/1');
    await assertEqual(other, mirror, 'customers/ä b/1');
    await ok(source, 'DELETE', `/api/v1/extension-points/${extensionPointId}`, { token: owner.token });
    await until(async () => (await mirror.get(listPath({ extensionPointId }, world.guestKey))).status === 404);
  });

  it('refuses every change with one error that names the source, and reads no body', async () => {
    const { refused, kept } = mirrorRefusals;
    assert.ok(refused.length > 60);
    for (const { method, path, errorFormat } of refused) {
      const response = await fetch(mirror.url() + path.replace(/:\w+/g, 'x').replace(/\*$/, 'x'), { method });
      assert.equal(response.status, 403, `${method} ${path}`);
      const text = await response.text();
      assert.match(text, /mirror_read_only/, `${method} ${path}: ${text}`);
      if (errorFormat === undefined) assert.ok(JSON.parse(text).detail.includes(stage.proxy.url), text);
    }
    assert.deepEqual([...new Set(kept.map(({ tag }) => tag))].sort(), [
      'Account',
      'Browser session',
      'Command-line login',
      'Instrumentation',
      'Tokens and keys',
    ]);
    const { extensionPointId, guest } = stage.world;
    const big = await fetch(`${mirror.url()}/api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/median`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${mirror.token}`, 'content-type': 'application/wasm' },
      body: tinyModule(99),
    });
    assert.equal(big.status, 403);
  });

  it('knows no token of the source, and its own token reads only', async () => {
    const path = listPath(stage.world, stage.world.guestKey);
    const response = await fetch(mirror.url() + path, { headers: { authorization: `Bearer ${stage.token}` } });
    assert.equal(response.status, 401);
    const status = await mirror.get('/api/v1/status');
    assert.equal(status.status, 403);
  });

  it('serves while the source is away, also after a crash, and catches up', async () => {
    const { guestKey } = stage.world;
    const path = listPath(stage.world, guestKey);
    const before = await answerOf(await mirror.get(path));
    const listings = () => stage.proxy.requests.filter(({ path: each }) => each.endsWith('/guests?limit=1000')).length;
    const listed = listings();
    await stage.proxy.goDown();
    await until(async () => (await mirror.metric('tenon_mirror_connected')) === 0);
    await mirror.kill();
    await mirror.start();
    assert.equal(await mirror.isReady(), true);
    assert.deepEqual(await answerOf(await mirror.get(path)), before);
    await publish(stage, 'median', 40);
    await publish(stage, 'later', 41);
    await until(async () => (await mirror.metric('tenon_mirror_delay_seconds')) > 0.5);
    await stage.proxy.comeUp();
    await untilEqual(stage, mirror, guestKey);
    await assertEqual(stage, mirror, guestKey);
    await until(async () => (await mirror.metric('tenon_mirror_connected')) === 1);
    await until(async () => (await mirror.metric('tenon_mirror_delay_seconds')) < 3);
    // The stream continued, so not all guests were listed again.
    assert.equal(listings(), listed);
  });

  it('compares all lists after the changes that it missed were deleted', async () => {
    const { source, world } = stage;
    await stage.proxy.goDown();
    await until(async () => (await mirror.metric('tenon_mirror_connected')) === 0);
    await publish(stage, 'median', 50);
    await deleteChanges(source);
    await publish(stage, 'later', 51);
    await stage.proxy.comeUp();
    await untilEqual(stage, mirror, world.guestKey);
    await assertEqual(stage, mirror, world.guestKey);
  });

  it('never shows a corrupted content, counts it as missing, and keeps the version before', async () => {
    const { guestKey } = stage.world;
    const path = listPath(stage.world, guestKey);
    const before = await (await mirror.get(path)).json();
    stage.proxy.injectBy(({ path: each }) => (each.startsWith('/api/v1/c/') ? corrupt : undefined));
    const { contentAddress } = await publish(stage, 'median', 60);
    await until(async () => (await mirror.metric('tenon_mirror_missing_contents')) === 1);
    // The publisher holds two guests.
    assert.equal(await mirror.metric('tenon_mirror_missing_lists'), 2);
    assert.deepEqual(await (await mirror.get(path)).json(), before);
    assert.equal((await mirror.get(`/api/v1/c/${contentAddress}`)).status, 404);
    await publish(stage, 'later', 61); // another list entry, whose content is corrupted too
    await until(async () => (await mirror.metric('tenon_mirror_missing_contents')) === 2);
    stage.proxy.inject(undefined);
    await untilEqual(stage, mirror, guestKey);
    await until(async () => (await mirror.metric('tenon_mirror_missing_lists')) === 0);
    await assertEqual(stage, mirror, guestKey);
  });

  it('removes a withdrawn version at once, even if the content that replaces it cannot be fetched', async () => {
    const { source, world } = stage;
    const { guestKey, owner, extensionPointId, guest } = world;
    await publish(stage, 'fresh', 70);
    await untilEqual(stage, mirror, guestKey);
    stage.proxy.injectBy(({ path: each }) => (each.startsWith('/api/v1/c/') ? corrupt : undefined));
    await publish(stage, 'fresh', 71);
    await until(async () => (await mirror.metric('tenon_mirror_missing_contents')) === 1);
    const path = `/api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/fresh/versions/1/yank`;
    await ok(source, 'POST', path, { token: owner.token, json: { reason: 'why' } });
    await publish(stage, 'fresh', 72);
    await until(
      async () => !Object.keys(await jsonOf<object>(mirror.get(listPath(world, guestKey)))).includes('fresh'),
    );
    stage.proxy.inject(undefined);
    await untilEqual(stage, mirror, guestKey);
  });

  it('never applies a corrupted list', async () => {
    const { guestKey } = stage.world;
    const path = listPath(stage.world, guestKey);
    const before = await etagAt(mirror, path);
    stage.proxy.injectBy(({ path: each }) => (each.includes('/bindings/') ? corrupt : undefined));
    await publish(stage, 'median', 62);
    await until(async () => (await mirror.metric('tenon_mirror_missing_lists')) >= 1);
    assert.equal(await etagAt(mirror, path), before);
    stage.proxy.inject(undefined);
    await untilEqual(stage, mirror, guestKey);
  });

  it('serves after the token was revoked, says so, and continues with another token of the file', async () => {
    const { source, world, proxy } = stage;
    const { objects } = await ok<{ objects: { id: string; name: string }[] }>(source, 'GET', '/api/v1/tokens', {
      token: world.viewer.token,
    });
    const before = await answerOf(await mirror.get(listPath(world, world.guestKey)));
    for (const { id } of objects.slice(1))
      await ok(source, 'DELETE', `/api/v1/tokens/${id}`, { token: world.viewer.token });
    await until(async () => (await mirror.metric('tenon_mirror_connected')) === 0);
    assert.match(mirror.log(), /"state":"refused"/);
    assert.deepEqual(await answerOf(await mirror.get(listPath(world, world.guestKey))), before);
    assert.equal(await mirror.isReady(), true);
    await publish(stage, 'median', 80);
    const token = await source.token(world.viewer.id, { scopes: ['read'] });
    await mirror.write({ source: proxy.url, token });
    stage = { ...stage, token };
    await untilEqual(stage, mirror, world.guestKey);
  });
});

describe('a mirror that is killed during its first synchronization', () => {
  it('resumes, and fetches no content again that it holds', async () => {
    const stage = await openStage({ changesPerApp: 1000 });
    const { source, world, proxy } = stage;
    const count = 40;
    for (let number = 0; number < count; number++) {
      const guest = await source.user();
      await makeGuest(source, world.owner, world.appId, `tenants/${number}`, guest);
      await publishAs(source, guest, world.extensionPointId, `plugin-${number}`, tinyModule(1000 + number));
    }
    const mirror = await mirrorOf(stage);
    const fetched = () => proxy.requests.filter(({ path }) => path.startsWith('/api/v1/c/')).map(({ path }) => path);
    let kills = 0;
    for (; kills < 3; kills++) {
      const seen = fetched().length;
      await mirror.start();
      await until(() => fetched().length >= seen + 6, { intervalMs: 1 });
      await mirror.kill();
    }
    await mirror.start();
    await untilReady(mirror);
    for (const number of [0, 17, count - 1]) await assertEqual(stage, mirror, `tenants/${number}`);
    await assertEqual(stage, mirror, world.guestKey);
    const contents = new Set(fetched());
    assert.equal(contents.size, count + 1);
    // Each kill may interrupt as many as are fetched at once.
    assert.ok(fetched().length <= contents.size + kills * 8, `${fetched().length} fetches`);
    await mirror.close();
    await closeStage(stage);
  });
});

describe('a mirror of chosen extension points', () => {
  it('has those alone', async () => {
    const stage = await openStage();
    const { source, world, proxy, token } = stage;
    const other = await makeExtensionPoint(source, world.owner, world.appId);
    await publishAs(source, world.guest, other, 'mean', tinyModule(31));
    const mirror = await makeMirror({ source: proxy.url, token, extensionPoints: [other] });
    await mirror.start();
    await untilReady(mirror);
    await assertEqual({ ...stage, world: { ...world, extensionPointId: other } }, mirror, world.guestKey);
    assert.equal((await mirror.get(listPath(world, world.guestKey))).status, 404);
    await mirror.close();
    await closeStage(stage);
  });

  it('can be mirrored itself', async () => {
    const stage = await openStage();
    const first = await mirrorOf(stage, { constants: { changeHeartbeatMs: 300 } });
    await first.start();
    await untilReady(first);
    const second = await makeMirror({ source: first.url(), token: first.token });
    await second.start();
    await untilReady(second);
    await assertEqual(stage, second, stage.world.guestKey);
    await publish(stage, 'median', 90);
    await untilEqual(stage, second, stage.world.guestKey);
    await assertEqual(stage, second, stage.world.guestKey);
    await second.close();
    await first.close();
    await closeStage(stage);
  });
});

describe('two nodes of a mirror on PostgreSQL', { skip: noPostgres }, () => {
  it('serve both, while one of them follows, and the other one takes over', async () => {
    const [stage, postgres] = await Promise.all([openStage(), startPostgres()]);
    const { url } = await postgres.createDatabase();
    const settings = { TENON_DATABASE_URL: url };
    const first = await mirrorOf(stage, { settings });
    const second = await mirrorOf(stage, { settings, nodeOf: first });
    const nodes = [first, second];
    await Promise.all(nodes.map((node) => node.start()));
    const { guestKey } = stage.world;
    for (const node of nodes) {
      await untilReady(node);
      await assertEqual(stage, node, guestKey);
    }
    const following = () => stage.proxy.requests.filter(({ path }) => path.endsWith('/changes')).length;
    assert.equal(following(), 1);
    for (const [at, node] of nodes.entries()) {
      const other = nodes[1 - at];
      assert.ok(other);
      await node.kill();
      await publish(stage, 'median', 100 + at);
      await untilEqual(stage, other, guestKey);
      await assertEqual(stage, other, guestKey);
      assert.ok((await other.metric('tenon_mirror_delay_seconds')) < 30);
      await node.start();
      await assertEqual(stage, node, guestKey);
    }
    for (const node of nodes) await node.close();
    await closeStage(stage);
    postgres.stop();
  });
});

describe('a server whose data is another one’s', () => {
  it('refuses to become a mirror, and a mirror refuses to become a server', async () => {
    const stage = await openStage();
    const mirror = await mirrorOf(stage);
    await mirror.start();
    await untilReady(mirror);
    await mirror.kill();
    await mirror.write({ source: 'http://127.0.0.1:9', token: 'tnn_other' });
    await assert.rejects(mirror.start(), /is a mirror of http.*cannot become a mirror of http:\/\/127\.0\.0\.1:9/);
    const data = { dataDir: join(mirror.folder, 'data'), port: '0', logLevel: 'silent' };
    await assert.rejects(serve(loadConfig(data, {})), { name: 'ForeignStoreError', message: /Set TENON_MIRROR_FILE/ });
    const file = join(mirror.folder, 'mirror.json');
    const own = { dataDir: stage.source.dataDir, port: '0', logLevel: 'silent' };
    await assert.rejects(serve(loadConfig(own, { TENON_MIRROR_FILE: file })), { name: 'ForeignStoreError' });
    await mirror.close();
    await closeStage(stage);
  });
});
