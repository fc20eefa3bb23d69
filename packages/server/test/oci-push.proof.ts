import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import {
  type ContentAddress,
  type ExtensionPointId,
  newId,
  ociRepositoryOf,
  type PluginBinding,
  type TokenCreated,
  type Version,
} from '@tenon/protocol';
import type { Response } from 'light-my-request';
import { deleteUser } from '../src/apps/delete-account.ts';
import { authenticateToken } from '../src/auth/authenticate.ts';
import { collect } from '../src/blobs/collect.ts';
import type { PluginKey } from '../src/db/records.ts';
import { maxUploads, startUpload as startOciUpload, uploadLifetimeMs } from '../src/oci/oci-uploads.ts';
import { purgeOciUploads } from '../src/oci/purge-uploads.ts';
import { copy, embedded } from './helpers/copies.ts';
import { noOciClients, skopeo as runSkopeo, withRegistry } from './helpers/oci-clients.ts';
import {
  configType,
  descriptorOf,
  digestOf,
  type Image,
  imageOf,
  manifestType,
  pushImage,
} from './helpers/oci-images.ts';
import { type CallOptions, openService, type TestService, type TestUser } from './helpers/service.ts';
import { putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';
import {
  formOf,
  freshModule,
  invite,
  largeModule,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  makeWorld,
  ok,
  type World,
} from './helpers/world.ts';

/* The push points of https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md, and clients that we did not write. */

const api = '/api/v1';
const emptyType = 'application/vnd.oci.empty.v1+json';

/** What the simulations of a module come to. */
let verdict: 'passed' | 'failed' = 'passed';

let service: TestService;
let world: World;
let base: string;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-oci-push-'));
  const simulator = scriptedSimulator(() => Promise.resolve(reportOf(verdict)));
  service = await openService({ simulator, config: { maxModuleBytes: 100_000 } });
  base = await service.listen();
  world = await makeWorld(service);
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A repository of the guest's, or of another user's. */
function repositoryOf(name: string, { id } = world.guest, at = world.extensionPointId): string {
  return `/v2/${ociRepositoryOf(world.appId, at, id, name)}`;
}

type Sent = CallOptions & { readonly at?: TestService };

function call(method: string, path: string, { at = service, ...options }: Sent = {}): Promise<Response> {
  return at.call(method, path, { token: world.guest.token, ...options });
}

/** A further guest's user. */
async function guest(guestKey: string): Promise<TestUser> {
  const user = await service.user();
  await makeGuest(service, world.owner, world.appId, guestKey, user);
  return user;
}

async function startUpload(repository: string, options: Sent = {}): Promise<string> {
  const response = await call('POST', `${repository}/blobs/uploads/`, options);
  assert.equal(response.statusCode, 202, response.payload);
  assert.equal(response.headers.range, '0-0');
  return String(response.headers.location);
}

async function pushBlob(repository: string, bytes: Buffer | string, options: Sent = {}): Promise<void> {
  const target = `${repository}/blobs/uploads/?digest=${digestOf(bytes)}`;
  const response = await call('POST', target, { body: bytes, ...options });
  assert.equal(response.statusCode, 201, response.payload);
}

function putManifest(repository: string, tag: string, manifest: string, options: Sent = {}): Promise<Response> {
  const headers = { 'content-type': manifestType };
  return call('PUT', `${repository}/manifests/${tag}`, { body: manifest, headers, ...options });
}

function push(repository: string, tag: string, image: Image, { at = service, ...options }: Sent = {}) {
  return pushImage(at, repository.slice('/v2/'.length), tag, image, { token: world.guest.token, ...options });
}

function assertError(response: Response, status: number, code: string, message?: RegExp): void {
  assert.equal(response.statusCode, status, response.payload);
  assert.equal(response.headers['content-type'], 'application/json');
  const [error] = response.json().errors;
  assert.equal(error.code, code, response.payload);
  if (message !== undefined) assert.match(error.message, message);
}

function assertCreated(response: Response): void {
  assert.equal(response.statusCode, 201, response.payload);
}

function addressOf(bytes: Buffer | string): ContentAddress {
  return hash('sha256', bytes, 'base64url') as ContentAddress;
}

function keyOf(name: string): PluginKey {
  return { extensionPointId: world.extensionPointId as ExtensionPointId, userId: world.guest.id, name };
}

async function versionsOf(name: string, at = world.extensionPointId): Promise<Version[]> {
  const path = `${api}/artifacts/${at}/plugin/${world.guest.id}/${name}/versions`;
  return (await ok<{ objects: Version[] }>(service, 'GET', path, { token: world.guest.token })).objects;
}

describe('uploads', () => {
  const bytes = Buffer.from('0123456789abcdefghij');
  const digest = digestOf(bytes);
  const finish = (location: string, options: Sent = {}, of = digest) =>
    call('PUT', `${location}?digest=${of}`, options);

  async function assertBlob(repository: string): Promise<void> {
    const blob = await call('GET', `${repository}/blobs/${digest}`);
    assert.equal(blob.statusCode, 200, blob.payload);
    assert.deepEqual(blob.rawPayload, bytes);
    const head = await call('HEAD', `${repository}/blobs/${digest}`);
    assert.equal(head.headers['content-length'], '20');
    assert.equal(head.headers['docker-content-digest'], digest);
  }

  it('take a blob in one request', async () => {
    const repository = repositoryOf('in-one');
    assert.equal((await call('GET', `${repository}/blobs/${digest}`)).statusCode, 404);
    const response = await call('POST', `${repository}/blobs/uploads/?digest=${digest}`, { body: bytes });
    assertCreated(response);
    assert.equal(response.headers.location, `${repository}/blobs/${digest}`);
    assert.equal(response.headers['docker-content-digest'], digest);
    await assertBlob(repository);
  });

  it('take a blob in two requests', async () => {
    const repository = repositoryOf('in-two');
    const location = await startUpload(repository);
    const response = await finish(location, { body: bytes });
    assertCreated(response);
    assert.equal(response.headers.location, `${repository}/blobs/${digest}`);
    await assertBlob(repository);
  });

  it('take a blob as a stream, and then nothing', async () => {
    const repository = repositoryOf('as-a-stream');
    const location = await startUpload(repository);
    const patched = await call('PATCH', location, { body: bytes });
    assert.equal(patched.statusCode, 202, patched.payload);
    assert.equal(patched.headers.range, '0-19');
    assertCreated(await finish(location));
    assertCreated(await finish(location)); // the first response may be lost
    await assertBlob(repository);
  });

  it('take a blob in chunks, in their order alone', async () => {
    const repository = repositoryOf('in-chunks');
    const started = await call('POST', `${repository}/blobs/uploads/`);
    assert.equal(started.headers['oci-chunk-min-length'], '1000');
    const location = String(started.headers.location);
    const patch = (from: number, to: number, range = `${from}-${to - 1}`) =>
      call('PATCH', location, { body: bytes.subarray(from, to), headers: { 'content-range': range } });
    const isAt = async (range: string) => {
      const status = await call('GET', location);
      assert.equal(status.statusCode, 204);
      assert.deepEqual([status.headers.range, status.headers.location], [range, location]);
    };
    await isAt('0-0');
    assertError(await patch(5, 10), 416, 'BLOB_UPLOAD_INVALID', /must start at byte 0, not 5/); // out of order
    assert.equal((await patch(0, 8)).headers.range, '0-7');
    const replayed = await patch(0, 8);
    assertError(replayed, 416, 'BLOB_UPLOAD_INVALID');
    assert.equal(replayed.headers.range, '0-7');
    assertError(await patch(9, 12), 416, 'BLOB_UPLOAD_INVALID'); // a gap
    for (const range of ['8-12', '8-10-11', 'x', '11-8', '-1', '8-', `8-${'9'.repeat(30)}`, 'bytes 8-11/20']) {
      assertError(await patch(8, 12, range), 400, 'BLOB_UPLOAD_INVALID');
    }
    await isAt('0-7');
    assert.equal((await patch(8, 12)).headers.range, '0-11');
    assertError(await finish(location, { body: bytes.subarray(13) }), 400, 'DIGEST_INVALID');
    assertError(await finish(location), 400, 'DIGEST_INVALID');
    const rest = { body: bytes.subarray(12), headers: { 'content-range': '13-20' } };
    assertError(await finish(location, rest), 416, 'BLOB_UPLOAD_INVALID');
    assertCreated(await finish(location, { ...rest, headers: { 'content-range': '12-19' } }));
    await assertBlob(repository);
    assertError(await call('GET', location), 404, 'BLOB_UPLOAD_UNKNOWN');
    assertError(await call('PATCH', location, { body: bytes }), 404, 'BLOB_UPLOAD_UNKNOWN');
    assertError(await finish(location, { body: bytes }), 404, 'BLOB_UPLOAD_UNKNOWN');
  });

  it('take one of several chunks that come at once', async () => {
    const location = await startUpload(repositoryOf('at-once'));
    const chunks = Array.from({ length: 8 }, (_, number) => ({
      body: `chunk ${number}`,
      headers: { 'content-range': '0-6' },
    }));
    const responses = await Promise.all(chunks.map((chunk) => call('PATCH', location, chunk)));
    assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [202, ...Array(7).fill(416)]);
    assert.equal((await call('GET', location)).headers.range, '0-6');
    const finished = await Promise.all(chunks.map(({ body }) => finish(location, {}, digestOf(body))));
    assert.equal(finished.filter(({ statusCode }) => statusCode === 201).length, 1);
    assert.equal(finished.filter(({ statusCode }) => statusCode === 400 || statusCode === 404).length, 7);
  });

  it('are refused with a wrong digest, and without bytes', async () => {
    const repository = repositoryOf('wrong');
    const uploads = `${repository}/blobs/uploads/`;
    assertError(await call('POST', `${uploads}?digest=${digestOf('other')}`, { body: bytes }), 400, 'DIGEST_INVALID');
    for (const wrong of ['', 'sha256:1', `sha512:${'a'.repeat(128)}`, `sha256:${'A'.repeat(64)}`]) {
      assertError(await call('POST', `${uploads}?digest=${wrong}`, { body: bytes }), 400, 'DIGEST_INVALID');
      assertError(await finish(await startUpload(repository), { body: bytes }, wrong), 400, 'DIGEST_INVALID');
    }
    assertError(await call('POST', `${uploads}?digest=${digestOf('')}`), 400, 'SIZE_INVALID');
    assertError(await call('PUT', await startUpload(repository), { body: bytes }), 400, 'UNSUPPORTED');
    assertError(await call('GET', `${repository}/blobs/${digest}`), 404, 'NAME_UNKNOWN');
  });

  it('leave nothing of a blob in one request that was refused', async () => {
    const user = await guest('refused-uploads');
    const options = { token: user.token };
    const uploads = `${repositoryOf('refused', user)}/blobs/uploads/`;
    const wrong = await call('POST', `${uploads}?digest=${digestOf('other')}`, { ...options, body: bytes });
    assertError(wrong, 400, 'DIGEST_INVALID');
    assertError(await call('POST', `${uploads}?digest=${digestOf('')}`, options), 400, 'SIZE_INVALID');
    assert.equal(await service.store.read.countOciUploads(user.id, 0), 0);
  });

  it('are refused if the extension point is deleted while one starts', async () => {
    const { deps } = service.services;
    const actor = await authenticateToken(deps, world.guest.token);
    const key = { ...keyOf('deleted'), extensionPointId: newId('extensionPoint') };
    await assert.rejects(startOciUpload(deps, { actor, key }), { code: 'not_found' });
  });

  it('are at most as large as a module', async () => {
    const repository = repositoryOf('huge');
    const huge = Buffer.alloc(100_001);
    assertError(
      await call('POST', `${repository}/blobs/uploads/?digest=${digestOf(huge)}`, { body: huge }),
      413,
      'SIZE_INVALID',
    );
    const location = await startUpload(repository);
    assert.equal((await call('PATCH', location, { body: huge.subarray(1) })).statusCode, 202);
    assertError(await call('PATCH', location, { body: 'x' }), 413, 'SIZE_INVALID');
    assertError(await finish(location, { body: 'x' }), 413, 'SIZE_INVALID');
    const small = await startUpload(repository);
    for (let number = 0; number < 100; number++) {
      assert.equal((await call('PATCH', small, { body: 'x' })).statusCode, 202);
    }
    assertError(await call('PATCH', small, { body: 'x' }), 422, 'BLOB_UPLOAD_INVALID', /100 chunks/);
    assertCreated(await finish(small, { body: 'x' }, digestOf('x'.repeat(101))));
  });

  it('have nothing of a chunk that was cut off', async () => {
    const location = await startUpload(repositoryOf('cut-off'));
    const headers = { authorization: `Bearer ${world.guest.token}`, 'content-length': '1000' };
    const { hostname, port } = new URL(base);
    await new Promise<void>((resolve) => {
      const sent = request({ hostname, port, method: 'PATCH', path: location, headers });
      sent.on('error', () => resolve()).write('abc', () => sent.destroy());
    });
    assert.equal((await call('GET', location)).headers.range, '0-0');
    assert.equal((await call('PATCH', location, { body: 'abc' })).headers.range, '0-2');
  });

  it('belong to one user and one repository', async () => {
    const repository = repositoryOf('own');
    const location = await startUpload(repository);
    const id = location.split('/').at(-1);
    const { otherGuest, owner, stranger, viewer } = world;
    const theirs = `${repositoryOf('own', otherGuest)}/blobs/uploads/${id}`;
    for (const [target, user, status, code] of [
      [location, otherGuest, 403, 'DENIED'],
      [location, owner, 403, 'DENIED'],
      [location, viewer, 403, 'DENIED'],
      [location, stranger, 404, 'NAME_UNKNOWN'],
      [theirs, otherGuest, 404, 'BLOB_UPLOAD_UNKNOWN'],
      [`${repositoryOf('other')}/blobs/uploads/${id}`, world.guest, 404, 'BLOB_UPLOAD_UNKNOWN'],
      [`${repository}/blobs/uploads/upl_none`, world.guest, 404, 'BLOB_UPLOAD_UNKNOWN'],
    ] as const) {
      for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
        const query = method === 'PUT' ? `?digest=${digest}` : '';
        const body = method === 'PATCH' || method === 'PUT' ? { body: bytes } : {};
        assertError(await call(method, target + query, { token: user.token, ...body }), status, code);
      }
    }
    assertCreated(await finish(location, { body: bytes }));
    await assertBlob(repository);
    for (const { token } of [otherGuest, owner, viewer]) {
      assert.equal((await call('GET', `${repository}/blobs/${digest}`, { token })).statusCode, 404);
    }
    assert.equal((await call('GET', `${repositoryOf('other')}/blobs/${digest}`)).statusCode, 404);
  });

  it('answer a mount with an upload, and can be canceled', async () => {
    const repository = repositoryOf('mounted');
    const from = repositoryOf('in-one').slice('/v2/'.length);
    const response = await call('POST', `${repository}/blobs/uploads/?mount=${digest}&from=${from}`);
    assert.equal(response.statusCode, 202);
    const location = String(response.headers.location);
    assert.equal((await call('DELETE', location)).statusCode, 204);
    for (const method of ['DELETE', 'GET']) assertError(await call(method, location), 404, 'BLOB_UPLOAD_UNKNOWN');
  });

  it('expire, and then the garbage collector deletes their bytes', async () => {
    const repository = repositoryOf('expiring');
    const bytes = Buffer.from('these bytes expire');
    await pushBlob(repository, bytes);
    const location = await startUpload(repository);
    const chunk = Buffer.from('this chunk expires');
    await call('PATCH', location, { body: chunk });
    const addresses = [bytes, chunk].map(addressOf);
    const { deps } = service.services;
    const countBlobs = async () =>
      (await Promise.all(addresses.map((one) => service.store.read.blob(one)))).filter(Boolean).length;
    const token = await service.token(world.guest.id, { lifetimeMs: 3 * uploadLifetimeMs });
    service.advance(uploadLifetimeMs - 60_000);
    await purgeOciUploads(deps);
    await collect(deps, { graceMs: 0, isForced: true });
    assert.equal(await countBlobs(), 2);
    assert.equal((await call('GET', location, { token })).statusCode, 204);
    service.advance(60_001);
    assertError(await call('GET', location, { token }), 404, 'BLOB_UPLOAD_UNKNOWN');
    assert.equal((await call('GET', `${repository}/blobs/${digestOf(bytes)}`, { token })).statusCode, 404);
    await purgeOciUploads(deps);
    await collect(deps, { graceMs: 0, isForced: true });
    assert.equal(await countBlobs(), 0);
    assert.equal(await service.store.read.countOciUploads(world.guest.id, 0), 0);
    service.advance(-uploadLifetimeMs - 1);
  });

  it('are limited per account', async () => {
    const user = await guest('many-uploads');
    const repository = repositoryOf('many', user);
    const token = await service.token(user.id, { lifetimeMs: 3 * uploadLifetimeMs });
    const start = () => call('POST', `${repository}/blobs/uploads/`, { token });
    for (let number = 0; number < maxUploads; number++) assert.equal((await start()).statusCode, 202);
    assertError(await start(), 422, 'DENIED', /100 uploads/);
    service.advance(uploadLifetimeMs + 1);
    assert.equal((await start()).statusCode, 202);
    service.advance(-uploadLifetimeMs - 1);
  });

  it('are deleted with the account', async () => {
    const user = await guest('leaving');
    await startUpload(repositoryOf('left', user), { token: user.token });
    assert.equal(await service.store.read.countOciUploads(user.id, 0), 1);
    await deleteUser(service.services.deps, 'operator', user.id);
    assert.equal(await service.store.read.countOciUploads(user.id, 0), 0);
  });
});

describe('a pushed manifest', () => {
  it('publishes a version, whose documents the server keeps byte for byte', async () => {
    const repository = repositoryOf('Kept--2');
    const image = imageOf(undefined, { annotations: { note: 'kept' } });
    const response = await push(repository, '1.0.0_build.5', image);
    assertCreated(response);
    const digest = digestOf(image.manifest);
    assert.equal(response.headers['docker-content-digest'], digest);
    assert.equal(response.headers.location, `${repository}/manifests/${digest}`);
    assert.equal(response.headers.warning, undefined);
    for (const reference of ['1', '1.0.0_build.5', 'latest', digest]) {
      const manifest = await call('GET', `${repository}/manifests/${reference}`);
      assert.equal(manifest.payload, image.manifest);
      assert.equal(manifest.headers['docker-content-digest'], digest);
      assert.equal(manifest.headers['content-type'], manifestType);
    }
    for (const bytes of [image.module, Buffer.from(image.config)]) {
      assert.deepEqual((await call('GET', `${repository}/blobs/${digestOf(bytes)}`)).rawPayload, bytes);
      assert.equal(await service.store.read.finishedOciUpload(keyOf('Kept--2'), addressOf(bytes), 0), undefined);
    }
    const [version, ...others] = await versionsOf('Kept--2');
    assert.deepEqual([version?.number, version?.semver, version?.state], [1, '1.0.0+build.5', 'published']);
    assert.equal(version?.oci.digest, digest);
    assert.deepEqual(others, []);
    const { manifests } = (await call('GET', `${repository}/referrers/${digest}`)).json();
    const [attestation] = manifests;
    const referrer = (await call('GET', `${repository}/manifests/${attestation.digest}`)).json();
    assert.deepEqual(referrer.subject, descriptorOf(manifestType, image.manifest));
    const events = `${api}/apps/${world.appId}/audit?action=plugin.publish&limit=1`;
    const { objects } = await ok<{ objects: { details: object }[] }>(service, 'GET', events, {
      token: world.owner.token,
    });
    assert.partialDeepStrictEqual(objects[0]?.details, { version: 1, semver: '1.0.0+build.5' });
    assert.deepEqual(await service.store.check(), []);
  });

  it('is part of a copy of the data, and an upload is not', async () => {
    const image = imageOf();
    assertCreated(await push(repositoryOf('copied'), '1.0.0', image));
    await startUpload(repositoryOf('copied'));
    const target = join(folder, 'copy');
    await copy(embedded(service.dataDir), embedded(target));
    const database = new DatabaseSync(join(target, 'tenon.db'), { readOnly: true });
    const rows = database.prepare('select manifest, config from oci_images where manifest = ?').all(image.manifest);
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ manifest: image.manifest, config: image.config }],
    );
    for (const table of ['oci_uploads', 'oci_chunks']) {
      assert.deepEqual(database.prepare(`select * from ${table}`).all(), [], table);
    }
    database.close();
  });

  it('may have an empty configuration, and no media type, as artifacts have', async () => {
    const repository = repositoryOf('artifact');
    const image = imageOf(undefined, {
      mediaType: undefined,
      artifactType: 'application/wasm',
      config: { ...descriptorOf(emptyType, '{}'), data: 'e30=' },
    });
    await pushBlob(repository, image.module);
    assertCreated(await putManifest(repository, '2.0.0', image.manifest));
    assert.equal((await call('GET', `${repository}/manifests/2.0.0`)).payload, image.manifest);
    assert.equal((await call('GET', `${repository}/blobs/${digestOf('{}')}`)).payload, '{}');
  });

  it('may come with a publish, and is refused with another module', async () => {
    const { module, config, manifest } = imageOf();
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/with-image`;
    const publish = (fields: Readonly<Record<string, string>>) => {
      const parts = Object.entries(fields).map(([name, content]) => ({ name, content }));
      return call('PUT', path, formOf([{ name: 'artifact', content: module }, ...parts]));
    };
    for (const fields of [
      { manifest: imageOf().manifest, config },
      { manifest, config: `${config} ` },
      { manifest },
      { manifest: 'x', config },
    ]) {
      const refused = await publish(fields);
      assert.equal(refused.statusCode, 422, refused.payload);
      assert.equal(refused.json().errors[0].pointer, '/manifest');
    }
    assert.equal((await call('GET', path)).statusCode, 404);
    assertCreated(await publish({ manifest, config }));
    assert.equal((await call('GET', `${repositoryOf('with-image')}/manifests/1`)).payload, manifest);
  });

  it('is published under guests that were accepted since, when it is pushed again', async () => {
    const user = await guest('further-guests');
    const options = { token: user.token };
    const repository = repositoryOf('further', user);
    const [older, image] = [imageOf(), imageOf()];
    assertCreated(await push(repository, '1.0.0', older, options));
    assertCreated(await push(repository, '2.0.0', image, options));
    const boundTo = async () => {
      const path = `${api}/artifacts/${world.extensionPointId}/plugin/${user.id}/further/bindings`;
      const { objects } = await ok<{ objects: PluginBinding[] }>(service, 'GET', path, { token: world.owner.token });
      return objects.map(({ guestKey, version }) => `${guestKey} ${version}`).sort();
    };
    assert.deepEqual(await boundTo(), ['further-guests 2']);
    const again = async (tag: string, manifest = image.manifest) => {
      assertCreated(await putManifest(repository, tag, manifest, options));
    };
    const expected = ['further-guests 2'];
    for (const tag of ['2.0.0', '2', digestOf(image.manifest)]) {
      const key = `further-guests-${expected.length}`;
      await makeGuest(service, world.owner, world.appId, key, user);
      await again('1.0.0', older.manifest); // no publish of an older version
      assert.deepEqual(await boundTo(), expected);
      await again(tag);
      await again(tag);
      expected.push(`${key} 2`);
      assert.deepEqual(await boundTo(), expected);
    }
    const versions = `${api}/artifacts/${world.extensionPointId}/plugin/${user.id}/further/versions`;
    assert.equal((await ok<{ objects: Version[] }>(service, 'GET', versions, options)).objects.length, 2);
  });

  it('has no effect when it is pushed again, and never becomes another one', async () => {
    const repository = repositoryOf('again');
    const [first, second] = [imageOf(), imageOf()];
    assertCreated(await push(repository, '1.0.0', first));
    assertCreated(await push(repository, '2', second));
    const digest = digestOf(first.manifest);
    for (const reference of ['1', '1.0.0', digest]) {
      const again = await putManifest(repository, reference, first.manifest);
      assertCreated(again);
      assert.equal(again.headers['docker-content-digest'], digest);
    }
    assertCreated(await push(repository, '2', second));
    assert.equal((await versionsOf('again')).length, 2);
    for (const { module } of [first, second]) {
      assert.equal(await service.store.read.finishedOciUpload(keyOf('again'), addressOf(module), 0), undefined);
    }
    const other = imageOf(first.module, { annotations: { other: 'manifest' } });
    assertError(await push(repository, '1.0.0', other), 409, 'DENIED', /1 \(1\.0\.0\), whose manifest is sha256:/);
    assertError(await push(repository, '1', imageOf()), 409, 'DENIED', /Push another version/);
    const same = imageOf(second.module, { annotations: { other: 'manifest' } });
    assertError(await push(repository, '3.0.0', same), 409, 'DENIED', /newest version, 2, has this module/);
    assertError(await push(repository, '4', imageOf()), 409, 'DENIED', /the number 3, and not 4/);
    assertError(await putManifest(repository, digestOf('x'), first.manifest), 400, 'DIGEST_INVALID');
    assertError(
      await putManifest(repository, digestOf(other.manifest), other.manifest),
      400,
      'UNSUPPORTED',
      /Push a tag/,
    );
    assert.equal((await versionsOf('again')).length, 2);
  });

  it('is refused for a version that was published otherwise, unless it is the computed one', async () => {
    const module = freshModule();
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/computed`;
    const headers = { 'content-type': 'application/wasm' };
    await ok(service, 'PUT', `${path}?semver=1.0.0`, { token: world.guest.token, body: module, headers });
    const repository = repositoryOf('computed');
    const computed = (await call('GET', `${repository}/manifests/1`)).payload;
    assertCreated(await putManifest(repository, '1.0.0', computed));
    assertError(await push(repository, '1.0.0', imageOf(module)), 409, 'DENIED');
  });

  it('names blobs of its repository, with their sizes', async () => {
    const repository = repositoryOf('blobs');
    const image = imageOf();
    await pushBlob(repositoryOf('elsewhere'), image.module);
    assertError(await putManifest(repository, '1.0.0', image.manifest), 404, 'MANIFEST_BLOB_UNKNOWN');
    await pushBlob(repository, image.config);
    assertError(
      await putManifest(repository, '1.0.0', image.manifest),
      404,
      'MANIFEST_BLOB_UNKNOWN',
      /application\/wasm/,
    );
    await pushBlob(repository, image.module);
    const { config, layers } = JSON.parse(image.manifest);
    for (const wrong of [{ config: { ...config, size: 1 } }, { layers: [{ ...layers[0], size: 1 }] }]) {
      assertError(await putManifest(repository, '1.0.0', imageOf(image.module, wrong).manifest), 400, 'SIZE_INVALID');
    }
    assertCreated(await putManifest(repository, '1.0.0', image.manifest));
    // The blobs of versions need no further upload.
    const next = imageOf();
    await pushBlob(repository, next.module);
    const shared = { config: descriptorOf(configType, image.config) };
    assertError(
      await putManifest(repository, '2.0.0', imageOf(next.module, shared).manifest),
      400,
      'MANIFEST_INVALID',
      /layerDigests/,
    );
  });

  it('is refused with the reason if the server cannot be its registry', async () => {
    const repository = repositoryOf('refused');
    const image = imageOf();
    const [layer, config] = [descriptorOf('application/wasm', image.module), descriptorOf(configType, image.config)];
    await pushBlob(repository, image.module);
    await pushBlob(repository, image.config);
    const index = 'application/vnd.oci.image.index.v1+json';
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ layers: [] }, /one layer, the module \(got 0\)/],
      [{ layers: [layer, layer] }, /one layer, the module \(got 2\)/],
      [
        { layers: [{ ...layer, mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip' }] },
        /media type application\/wasm/,
      ],
      [{ config: { ...config, mediaType: 'application/vnd.oci.image.config.v1+json' } }, /wasm\.config/],
      [{ config: { ...config, size: 65_537 } }, /at most 65,536 bytes/],
      [{ config: { ...config, mediaType: emptyType } }, /must be "\{\}"/],
      [{ mediaType: index }, /got application\/vnd\.oci\.image\.index/],
      [{ subject: config }, /Referrers cannot be pushed/],
      [{ schemaVersion: 1 }, /schemaVersion/],
      [{ config: { ...config, digest: 'sha256:x' } }, /config\/digest/],
      [{ config: undefined }, /config/],
      [{ layers: undefined }, /layers/],
    ];
    for (const [fields, message] of refused) {
      const { manifest } = imageOf(image.module, fields);
      assertError(await putManifest(repository, '1.0.0', manifest), 400, 'MANIFEST_INVALID', message);
    }
    for (const text of ['', '{', '[]', 'null', '"x"', `${'['.repeat(1000)}`, `\ufeff${image.manifest}`]) {
      assertError(await putManifest(repository, '1.0.0', text), 400, 'MANIFEST_INVALID');
    }
    const twice = image.manifest.replace('{', '{"schemaVersion":2,');
    assertError(await putManifest(repository, '1.0.0', twice), 400, 'MANIFEST_INVALID');
    assertError(await putManifest(repository, '1.0.0', ' '.repeat(65_537)), 413, 'SIZE_INVALID');
    for (const type of [index, 'application/vnd.docker.distribution.manifest.v2+json', 'application/json', '']) {
      const headers = { 'content-type': type };
      assertError(await putManifest(repository, '1.0.0', image.manifest, { headers }), 415, 'MANIFEST_INVALID');
    }
    for (const tag of [
      'latest',
      `bound-${world.guestId}`,
      'v1.0.0',
      '1.0',
      '01',
      '0',
      '1.0.0+x',
      '1.0.0_x_y',
      'main',
    ]) {
      assertError(await putManifest(repository, tag, image.manifest), 400, 'UNSUPPORTED', /A tag is the version/);
    }
    for (const name of ['Upper', 'a--b', 'x--plain', '%20']) {
      const path = `/v2/${world.appId}/${world.extensionPointId}/${world.guest.id}/${name}`;
      assertError(await putManifest(path, '1.0.0', image.manifest), 400, 'NAME_INVALID');
      assertError(await call('POST', `${path}/blobs/uploads/`), 400, 'NAME_INVALID');
      const { token } = world.otherGuest;
      assertError(await call('POST', `${path}/blobs/uploads/`, { token }), 403, 'DENIED');
    }
    assertCreated(await putManifest(repository, '1.0.0', image.manifest));
  });

  it('is one version, however many clients push it at once', async () => {
    const repository = repositoryOf('at-once');
    const same = imageOf();
    await pushBlob(repository, same.module);
    await pushBlob(repository, same.config);
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => putManifest(repository, '1.0.0', same.manifest)),
    );
    for (const response of responses) assertCreated(response);
    assert.equal((await versionsOf('at-once')).length, 1);
    const others = Array.from({ length: 6 }, () => imageOf());
    for (const { module, config } of others) {
      await pushBlob(repository, module);
      await pushBlob(repository, config);
    }
    const pushed = await Promise.all(others.map(({ manifest }) => putManifest(repository, '2.0.0', manifest)));
    const [created, ...more] = others.filter((_, at) => pushed[at]?.statusCode === 201);
    assert.deepEqual(more, []);
    for (const response of pushed) if (response.statusCode !== 201) assertError(response, 409, 'DENIED');
    assert.equal((await call('GET', `${repository}/manifests/2.0.0`)).payload, created?.manifest);
  });
});

describe('a push makes the checks of every publish', () => {
  const failing = async (name: string, module: Buffer, at = world.extensionPointId, options: Sent = {}) =>
    push(repositoryOf(name, undefined, at), '1.0.0', imageOf(module), options);
  const change = (at: string, json: object) =>
    ok(service, 'PUT', `${api}/extension-points/${at}`, { token: world.owner.token, json });

  it('of the module', async () => {
    assertError(await failing('text', Buffer.from('no module')), 422, 'MANIFEST_INVALID', /WebAssembly/);
    const mismatch = await failing('mismatch', Buffer.from('0061736d01000000', 'hex'));
    assertError(mismatch, 422, 'MANIFEST_INVALID', /evaluate/);
    assert.equal(mismatch.json().errors[0].detail.code, 'interface_mismatch');
    assert.ok(mismatch.json().errors[0].detail.errors.length > 0);
    assert.equal((await call('GET', `${repositoryOf('text')}/tags/list`)).statusCode, 404);
  });

  it('of the simulations', async () => {
    const at = await makeExtensionPoint(service, world.owner, world.appId);
    await putSimulation(service, at);
    verdict = 'failed';
    const refused = await failing('tested', freshModule(), at);
    assertError(refused, 409, 'DENIED', /Version 1 \(1\.0\.0\) did not pass its simulations: /);
    verdict = 'passed';
    assertCreated(await push(repositoryOf('tested', undefined, at), '1.0.1', imageOf()));
    assert.deepEqual(
      (await versionsOf('tested', at)).map(({ state }) => state),
      ['published', 'failed'],
    );
  });

  it('of the approval and the minimum age, and says why there is no tag', async () => {
    const [approved, aged] = [
      await makeExtensionPoint(service, world.owner, world.appId),
      await makeExtensionPoint(service, world.owner, world.appId),
    ];
    await change(approved, { requiresApproval: true });
    await change(aged, { minVersionAgeSeconds: 60 });
    for (const [at, warning] of [
      [approved, '299 - "The version awaits approval."'],
      [aged, '299 - "The version does not have its minimum age."'],
    ] as const) {
      const image = imageOf();
      const repository = repositoryOf('waits', undefined, at);
      for (const response of [await push(repository, '1.0.0', image), await push(repository, '1.0.0', image)]) {
        assertCreated(response);
        assert.equal(response.headers.warning, warning);
      }
      assertError(await call('GET', `${repository}/manifests/1.0.0`), 404, 'MANIFEST_UNKNOWN');
      const byDigest = await call('GET', `${repository}/manifests/${digestOf(image.manifest)}`);
      assert.equal(byDigest.payload, image.manifest);
    }
  });

  it('of the provenance', async () => {
    const at = await makeExtensionPoint(service, world.owner, world.appId);
    await change(at, { provenance: { mode: 'require', sources: [{ issuer: 'https://ci.example.org' }] } });
    const refused = await failing('no-provenance', freshModule(), at);
    assertError(refused, 422, 'MANIFEST_INVALID', /provenance/i);
    assert.equal(refused.json().errors[0].detail.code, 'provenance_required');
  });

  it('of yanks and blocks', async () => {
    const image = imageOf();
    const repository = repositoryOf('withdrawn');
    assertCreated(await push(repository, '1.0.0', image));
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/withdrawn`;
    const reason = { token: world.owner.token, json: { reason: 'it leaks' } };
    await ok(service, 'POST', `${path}/versions/1/yank`, reason);
    assertError(await putManifest(repository, '1.0.0', image.manifest), 409, 'DENIED', /was yanked: it leaks/);
    assertError(await push(repository, '1.0.1', imageOf(image.module)), 409, 'DENIED');
    await ok(service, 'PUT', `${path}/block`, reason);
    for (const { manifest } of [image, imageOf()]) {
      assertError(await putManifest(repository, '1.0.0', manifest), 403, 'DENIED', /blocked/);
    }
  });

  it('of the name, which another guest user has', async () => {
    const { token } = world.guest;
    const user = await service.user();
    const code = await invite(service, world.owner, world.appId, world.guestKey);
    await ok(service, 'POST', `${api}/invitations/accept`, { token: user.token, json: { code } });
    await push(repositoryOf('taken'), '1.0.0', imageOf(), { token });
    const theirs = await push(repositoryOf('taken', user), '1.0.0', imageOf(), { token: user.token });
    assertError(theirs, 409, 'DENIED');
  });

  it('of the quotas: an upload and its publish are charged once', async () => {
    const user = await guest('small');
    const module = largeModule(60_000);
    await setQuota(user, 100_000);
    const options = { token: user.token };
    assertCreated(await push(repositoryOf('fits', user), '1.0.0', imageOf(module), options));
    const next = largeModule(50_000);
    const refused = await call('POST', `${repositoryOf('fits', user)}/blobs/uploads/?digest=${digestOf(next)}`, {
      ...options,
      body: next,
    });
    assertError(refused, 429, 'TOOMANYREQUESTS', /account-bytes/);
    const usage = await service.store.read.sumPublishedBytes(user.id);
    const { manifest, config } = imageOf(module);
    assert.equal(usage, module.length + Buffer.byteLength(manifest) + Buffer.byteLength(config));
    assert.deepEqual(await service.store.check(), []);
  });

  async function setQuota(user: TestUser, value: number): Promise<void> {
    const override = { subjectId: user.id, name: 'account-bytes', userId: user.id, appId: null, value, updatedAtMs: 1 };
    await service.store.write((tx) => tx.putQuotaOverride(override as never));
  }

  it('of the token', async () => {
    const { guest: publisher, otherGuest, owner, viewer, stranger } = world;
    const image = imageOf();
    const repository = repositoryOf('tokens');
    const upload = `${repository}/blobs/uploads/`;
    const restricted = async (json: object) => {
      const fields = { name: 'CI', scopes: ['read', 'publish'], ...json };
      return (await ok<TokenCreated>(service, 'POST', `${api}/tokens`, { token: publisher.token, json: fields })).token;
    };
    const plugin = { extensionPointId: world.extensionPointId, name: 'tokens' };
    const at = await makeExtensionPoint(service, owner, world.appId);
    const elsewhere = await service.token(publisher.id, { appId: await makeApp(service, owner) });
    for (const [token, status, code] of [
      [undefined, 401, 'UNAUTHORIZED'],
      ['tnn_wrong', 401, 'UNAUTHORIZED'],
      [await service.token(publisher.id, { lifetimeMs: -1 }), 401, 'UNAUTHORIZED'],
      [await service.token(publisher.id, { scopes: ['read', 'manage'] }), 403, 'DENIED'],
      [await restricted({ plugin: { ...plugin, name: 'others' } }), 404, 'NAME_UNKNOWN'],
      [await restricted({ plugin: { ...plugin, extensionPointId: at } }), 404, 'NAME_UNKNOWN'],
      [otherGuest.token, 403, 'DENIED'],
      [owner.token, 403, 'DENIED'],
      [viewer.token, 403, 'DENIED'],
      [stranger.token, 404, 'NAME_UNKNOWN'],
      [elsewhere, 404, 'NAME_UNKNOWN'],
    ] as const) {
      assertError(await call('POST', upload, { token }), status, code);
      assertError(await call('POST', `${upload}?digest=${digestOf('x')}`, { token, body: 'x' }), status, code);
      assertError(await putManifest(repository, '1.0.0', image.manifest, { token }), status, code);
    }
    const own = await restricted({ plugin });
    assertCreated(await push(repository, '1.0.0', image, { token: own }));
    assert.equal((await call('GET', `${repository}/manifests/1.0.0`, { token: own })).payload, image.manifest);
    assertError(await call('POST', `${repositoryOf('others')}/blobs/uploads/`, { token: own }), 404, 'NAME_UNKNOWN');
    const ofGuest = await restricted({ guestId: world.guestId });
    assertCreated(await push(repositoryOf('of-guest'), '1.0.0', imageOf(), { token: ofGuest }));
  });

  it('of a token that is revoked between an upload and its manifest', async () => {
    const repository = repositoryOf('revoked');
    const created = await ok<TokenCreated>(service, 'POST', `${api}/tokens`, {
      token: world.guest.token,
      json: { name: 'CI', scopes: ['publish', 'read'] },
    });
    const image = imageOf();
    await pushBlob(repository, image.module, { token: created.token });
    await pushBlob(repository, image.config, { token: created.token });
    await ok(service, 'DELETE', `${api}/tokens/${created.id}`, { token: world.guest.token });
    assertError(await putManifest(repository, '1.0.0', image.manifest, { token: created.token }), 401, 'UNAUTHORIZED');
    assertCreated(await putManifest(repository, '1.0.0', image.manifest));
  });
});

describe('skopeo', { skip: noOciClients }, () => {
  const skopeo = (...options: readonly string[]) => runSkopeo(folder, ...options);
  const credentials = (side = '', token = world.guest.token) => [
    `--${side}tls-verify=false`,
    `--${side}creds=ci:${token}`,
  ];
  const referenceOf = (name: string, tag: string) =>
    `docker://${new URL(base).host}${repositoryOf(name).slice('/v2'.length)}:${tag}`;

  it('copies versions there and back, through a registry, an archive, and another Tenon, with equal digests', async () => {
    const module = freshModule();
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/Travels.--2`;
    const headers = { 'content-type': 'application/wasm' };
    await ok(service, 'PUT', `${path}?semver=1.0.0%2Bx`, { token: world.guest.token, body: module, headers });
    const source = referenceOf('Travels.--2', '1.0.0_x');
    const raw = (await call('GET', `${repositoryOf('Travels.--2')}/manifests/1`)).payload;
    const back = referenceOf('Back', '1.0.0_x');
    await withRegistry(folder, async (host) => {
      const copy = `docker://${host}/copies/travels:v1`;
      await skopeo('copy', '--dest-tls-verify=false', ...credentials('src-'), source, copy);
      // To where it comes from, and to another plugin.
      for (const target of [source, back]) {
        await skopeo('copy', '--src-tls-verify=false', ...credentials('dest-'), copy, target);
      }
    });
    assert.equal(await skopeo('inspect', '--raw', ...credentials(), back), raw);
    assert.equal((await versionsOf('Travels.--2')).length, 1);

    const other = await openService({});
    try {
      const { host } = new URL(await other.listen());
      const there = await makeWorld(other);
      const name = ociRepositoryOf(there.appId, there.extensionPointId, there.guest.id, 'arrived');
      const [theirs, archive] = [`docker://${host}/${name}`, `oci-archive:${folder}/travels.tar:v1`];
      const login = credentials('dest-', there.guest.token);
      await skopeo('copy', ...credentials('src-'), ...login, source, `${theirs}:1`);
      await skopeo('copy', ...credentials('src-'), source, archive);
      await assert.rejects(skopeo('copy', ...login, archive, `${theirs}:2.0.0`), /has this module/);
      await skopeo('copy', ...login, archive, `${theirs}:1`);
      const fromThere = credentials('src-', there.guest.token);
      await skopeo('copy', ...fromThere, ...credentials('dest-'), `${theirs}:1`, back);
      const response = await other.call('GET', `/v2/${name}/manifests/1`, { token: there.guest.token });
      assert.equal(response.payload, raw);
    } finally {
      await other.close();
    }
  });

  it('shows the reason of a refusal', async () => {
    await withRegistry(folder, async (host) => {
      const copy = `docker://${host}/copies/reasons:v1`;
      await push(repositoryOf('reasons'), '1.0.0', imageOf());
      const source = referenceOf('reasons', '1.0.0');
      await skopeo('copy', '--dest-tls-verify=false', ...credentials('src-'), source, copy);
      const to = (tag: string, token?: string) =>
        skopeo('copy', '--src-tls-verify=false', ...credentials('dest-', token), copy, referenceOf('reasons', tag));
      await assert.rejects(to('2.0.0'), /newest version, 1 \(1\.0\.0\), has this module/);
      await assert.rejects(to('v1'), /tag is the version/);
      await assert.rejects(to('1.0.0', world.otherGuest.token), /denied|no such repository/i);
    });
  });
});
