import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ociRepositoryOf } from '@tenon/protocol';
import { createRandom } from '../../../test/helpers/random.ts';
import type { Config } from '../src/config/config.ts';
import { type KilledServer, killedServer } from './helpers/killed-server.ts';
import { noOciClients, skopeo } from './helpers/oci-clients.ts';
import { digestOf, imageOf, manifestType } from './helpers/oci-images.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { openService, type TestService } from './helpers/service.ts';
import { makeWorld, ok, type World } from './helpers/world.ts';

/** An image as a client makes it: its blobs and its manifest. */
function makeImage() {
  const { module, config, manifest } = imageOf();
  return { blobs: [module, Buffer.from(config)], manifest: Buffer.from(manifest) };
}

function repositoryOf({ appId, extensionPointId, guest }: World, name: string): string {
  return `/v2/${ociRepositoryOf(appId, extensionPointId, guest.id, name)}`;
}

describe('OCI pushes to two nodes on one PostgreSQL and one object store', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let nodes: readonly TestService[];
  let world: World;

  before(async () => {
    [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    const { bucket, endpoint, credentials } = objects.options('plugins');
    const config: Partial<Config> = {
      databaseUrl: (await postgres.createDatabase()).url,
      databaseConnections: 4,
      s3Bucket: bucket,
      s3Endpoint: endpoint,
      s3AccessKeyId: credentials?.accessKeyId,
      s3SecretAccessKey: credentials?.secretAccessKey,
    };
    nodes = await Promise.all([openService({ config }), openService({ config })]);
    world = await makeWorld(nodes[0] as TestService);
  });
  after(async () => {
    await Promise.allSettled(nodes.map((node) => node.close()));
    postgres.stop();
    await objects.stop();
  });

  it('may reach another node with each request', async () => {
    const repository = repositoryOf(world, 'each-other');
    const { token } = world.guest;
    const { blobs, manifest } = makeImage();
    let number = 0;
    const send = async (method: string, path: string, body?: Buffer, headers = {}) => {
      const node = nodes[number++ % 2] as TestService;
      const response = await node.call(method, path, { token, headers, ...(body && { body }) });
      assert.ok(response.statusCode < 300, `${method} ${path}: ${response.payload}`);
      return response;
    };
    for (const blob of blobs) {
      const location = String((await send('POST', `${repository}/blobs/uploads/`)).headers.location);
      const half = Math.floor(blob.length / 2);
      await send('PATCH', location, blob.subarray(0, half), { 'content-range': `0-${half - 1}` });
      assert.equal((await send('GET', location)).headers.range, `0-${half - 1}`);
      await send('PATCH', location, blob.subarray(half), { 'content-range': `${half}-${blob.length - 1}` });
      await send('PUT', `${location}?digest=${digestOf(blob)}`);
      assert.deepEqual((await send('GET', `${repository}/blobs/${digestOf(blob)}`)).rawPayload, blob);
    }
    await send('PUT', `${repository}/manifests/1.0.0`, manifest, { 'content-type': manifestType });
    for (const node of nodes) {
      const found = await node.call('GET', `${repository}/manifests/1.0.0`, { token });
      assert.deepEqual(found.rawPayload, manifest);
      assert.deepEqual(await node.store.check(), []);
    }
  });

  it('take one of several chunks and one of several manifests that both get at once', async () => {
    const repository = repositoryOf(world, 'at-once');
    const { token } = world.guest;
    const [here, there] = nodes as [TestService, TestService];
    const both = [here, there, here, there, here, there];
    const location = String((await here.call('POST', `${repository}/blobs/uploads/`, { token })).headers.location);
    const chunks = await Promise.all(
      both.map((node, at) => node.call('PATCH', location, { token, body: `chunk ${at}` })),
    );
    const sizes = chunks.filter(({ statusCode }) => statusCode === 202).length;
    for (const { statusCode, payload } of chunks) assert.ok([202, 409, 416].includes(statusCode), payload);
    const status = await there.call('GET', location, { token });
    assert.equal(status.headers.range, `0-${7 * sizes - 1}`);

    const images = both.map(makeImage);
    for (const blob of images.flatMap(({ blobs }) => blobs)) {
      const uploaded = await here.call('POST', `${repository}/blobs/uploads/?digest=${digestOf(blob)}`, {
        token,
        body: blob,
      });
      assert.equal(uploaded.statusCode, 201, uploaded.payload);
    }
    const headers = { 'content-type': manifestType };
    const put = (node: TestService, body: Buffer) =>
      node.call('PUT', `${repository}/manifests/1.0.0`, { token, body, headers });
    const pushed = await Promise.all(both.map((node, at) => put(node, images[at]?.manifest as Buffer)));
    for (const { statusCode, payload } of pushed) assert.ok(statusCode === 201 || statusCode === 409, payload);
    const created = images.filter((_, at) => pushed[at]?.statusCode === 201);
    assert.equal(created.length, 1);
    const manifest = created[0]?.manifest as Buffer;
    const again = await Promise.all(both.map((node) => put(node, manifest)));
    assert.deepEqual(new Set(again.map(({ statusCode }) => statusCode)), new Set([201]));
    assert.deepEqual((await there.call('GET', `${repository}/manifests/1.0.0`, { token })).rawPayload, manifest);
  });

  it('come from skopeo', { skip: noOciClients }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-oci-nodes-'));
    try {
      const [from, to] = await Promise.all(nodes.map((node) => node.listen()));
      const reference = (url: string | undefined, name: string) =>
        `docker://${new URL(url ?? '').host}${repositoryOf(world, name).slice('/v2'.length)}:1.0.0`;
      const options = ['src', 'dest'].flatMap((side) => [
        `--${side}-tls-verify=false`,
        `--${side}-creds=ci:${world.guest.token}`,
      ]);
      await skopeo(folder, 'copy', ...options, reference(from, 'each-other'), reference(to, 'copied'));
      const [source, copy] = await Promise.all(
        ['each-other', 'copied'].map((name) =>
          (nodes[0] as TestService).call('GET', `${repositoryOf(world, name)}/manifests/1.0.0`, {
            token: world.guest.token,
          }),
        ),
      );
      assert.equal(copy?.payload, source?.payload);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('OCI pushes to a server that is killed', () => {
  const random = createRandom(21);
  const pushes = 12;
  let service: TestService;
  let world: World;
  let server: KilledServer;

  before(async () => {
    service = await openService();
    world = await makeWorld(service);
    server = killedServer(service.dataDir, {});
  });
  after(async () => {
    await server.kill();
    await service.close();
  });

  /** Sends a request until the server answers it. @returns `undefined` if the connection ended before the answer */
  async function trySend(method: string, path: string, body?: Buffer, headers = {}): Promise<Response | undefined> {
    while (server.url === undefined) await sleep(5);
    const authorization = `Bearer ${world.guest.token}`;
    const init = { method, headers: { authorization, ...headers }, ...(body && { body: new Uint8Array(body) }) };
    const response = await fetch(server.url + path, init).catch(() => undefined);
    return response?.status === 503 ? undefined : response;
  }

  async function send(method: string, path: string, body?: Buffer, headers = {}): Promise<Response> {
    for (;;) {
      const response = await trySend(method, path, body, headers);
      if (response !== undefined) return response;
      await sleep(5);
    }
  }

  /** Uploads a blob in pieces, and continues after each kill where the server is. */
  async function upload(repository: string, blob: Buffer): Promise<void> {
    const started = await send('POST', `${repository}/blobs/uploads/`);
    assert.equal(started.status, 202, await started.text());
    const location = String(started.headers.get('location'));
    let size = 0;
    while (size < blob.length) {
      const end = Math.min(blob.length, size + Math.ceil(blob.length / 3));
      const range = { 'content-range': `${size}-${end - 1}` };
      const patched = await trySend('PATCH', location, blob.subarray(size, end), range);
      if (patched !== undefined) assert.equal(patched.status, 202, await patched.text());
      const status = await send('GET', location);
      assert.equal(status.status, 204);
      const last = Number(status.headers.get('range')?.split('-')[1]);
      size = last === 0 ? size : last + 1;
    }
    const finished = await send('PUT', `${location}?digest=${digestOf(blob)}`);
    assert.equal(finished.status, 201, await finished.text());
  }

  it('lose nothing that was answered, and end as one version each', async () => {
    await server.start();
    const images = Array.from({ length: pushes }, makeImage);
    let isDone = false;
    const pushed = Promise.all(
      images.map(async ({ blobs, manifest }, at) => {
        const repository = repositoryOf(world, `killed-${at}`);
        for (const blob of blobs) await upload(repository, blob);
        const headers = { 'content-type': manifestType };
        const response = await send('PUT', `${repository}/manifests/1.0.0`, manifest, headers);
        assert.equal(response.status, 201, await response.text());
      }),
    ).finally(() => {
      isDone = true;
    });
    let kills = 0;
    for (; !isDone && kills < 8; kills++) {
      await sleep(20 + random.below(150));
      await server.kill();
      await server.start();
    }
    await pushed;
    assert.ok(kills > 2, `${kills} kills`);
    for (const [at, { blobs, manifest }] of images.entries()) {
      const repository = repositoryOf(world, `killed-${at}`);
      const found = await send('GET', `${repository}/manifests/1.0.0`);
      assert.deepEqual(Buffer.from(await found.arrayBuffer()), manifest);
      for (const blob of blobs) {
        const bytes = await send('GET', `${repository}/blobs/${digestOf(blob)}`);
        assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), blob);
      }
      const path = `/api/v1/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/killed-${at}/versions`;
      const { objects } = await ok<{ objects: unknown[] }>(service, 'GET', path, { token: world.guest.token });
      assert.equal(objects.length, 1);
    }
    assert.deepEqual(await service.store.check(), []);
  });
});
