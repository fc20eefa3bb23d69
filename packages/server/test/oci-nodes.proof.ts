import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ociRepositoryOf, type TokenCreated, type TokenInput, type Version } from '@tenon/protocol';
import type { Response } from 'light-my-request';
import { until } from '../../../test/helpers/until.ts';
import type { Config } from '../src/config/config.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { openService, type TestService } from './helpers/service.ts';
import { freshModule, makeExtensionPoint, makeWorld, ok, publishAs, type World } from './helpers/world.ts';

const api = '/api/v1';

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly [{ readonly digest: string }];
}

describe('OCI on two nodes, with one PostgreSQL and one object store', { skip: noPostgres }, () => {
  let objects: ObjectStore;
  let dropDatabase: () => Promise<void>;
  let here: TestService;
  let there: TestService;
  let world: World;

  before(async () => {
    const postgres = await sharedPostgres();
    const database = await postgres.createDatabase();
    dropDatabase = database.drop;
    objects = await startObjectStore(['plugins']);
    const { bucket, endpoint, credentials } = objects.options('plugins');
    const config: Partial<Config> = {
      databaseUrl: database.url,
      databaseConnections: 4,
      publicUrl: 'https://tenon.example.org',
      s3Bucket: bucket,
      s3Endpoint: endpoint,
      s3AccessKeyId: credentials?.accessKeyId,
      s3SecretAccessKey: credentials?.secretAccessKey,
      trustedProxies: ['127.0.0.1'],
    };
    [here, there] = await Promise.all([openService({ config }), openService({ config })]);
    world = await makeWorld(here);
  });
  after(async () => {
    await Promise.allSettled([here.close(), there.close()]);
    await dropDatabase();
    await objects.stop();
  });

  const digestOf = (bytes: Uint8Array | string): string => `sha256:${hash('sha256', bytes, 'hex')}`;
  const repositoryOf = (name: string, at = world.extensionPointId) =>
    `/v2/${ociRepositoryOf(world.appId, at, world.guest.id, name)}`;
  const publish = (name: string, content = freshModule()) =>
    publishAs(world.service, world.guest, world.extensionPointId, name, content);

  function assertError(response: Response, status: number, code: string): void {
    assert.equal(response.statusCode, status, response.payload);
    assert.equal(response.json().errors[0].code, code);
  }

  it('serves what the other node has stored, with equal digests', async () => {
    const contents = [freshModule(), freshModule()];
    for (const content of contents) await publish('Both--nodes', content);
    const token = world.viewer.token;
    const read = async (rest: string): Promise<Response> => {
      const path = `${repositoryOf('Both--nodes')}/${rest}`;
      const [one, other] = [await here.call('GET', path, { token }), await there.call('GET', path, { token })];
      assert.equal(one.statusCode, 200, one.payload);
      assert.deepEqual(other.rawPayload, one.rawPayload);
      for (const name of ['etag', 'docker-content-digest', 'content-type']) {
        assert.equal(other.headers[name], one.headers[name], name);
      }
      return one;
    };
    for (const [at, content] of contents.entries()) {
      const manifest = await read(`manifests/${at + 1}`);
      const digest = digestOf(manifest.rawPayload);
      assert.equal(manifest.headers['docker-content-digest'], digest);
      assert.equal((await read(`manifests/${digest}`)).payload, manifest.payload);
      const { config, layers } = manifest.json<Manifest>();
      assert.deepEqual((await read(`blobs/${layers[0].digest}`)).rawPayload, content);
      assert.equal(digestOf((await read(`blobs/${config.digest}`)).rawPayload), config.digest);
      const { manifests } = (await read(`referrers/${digest}`)).json<{ manifests: { digest: string }[] }>();
      assert.equal(manifests.length, 1);
      for (const referrer of manifests) {
        const { layers: documents } = (await read(`manifests/${referrer.digest}`)).json<Manifest>();
        assert.equal(digestOf((await read(`blobs/${documents[0].digest}`)).rawPayload), documents[0].digest);
      }
      const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/Both--nodes/versions/${at + 1}`;
      const { oci } = await ok<Version>(there, 'GET', path, { token });
      const repository = `tenon.example.org${repositoryOf('Both--nodes').slice('/v2'.length)}`;
      assert.deepEqual(oci, { repository, tag: String(at + 1), digest });
    }
    assert.deepEqual((await read('tags/list')).json().tags, ['1', '2', `bound-${world.guestId}`, 'latest']);
  });

  it('ends a tag on both nodes, but not the digest', async () => {
    await publish('yanked');
    const token = world.guest.token;
    const get = (rest: string) => there.call('GET', `${repositoryOf('yanked')}/${rest}`, { token });
    const { payload } = await get('manifests/1');
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/yanked/versions/1/yank`;
    await ok(here, 'POST', path, { token: world.owner.token, json: { reason: 'wrong' } });
    await until(async () => (await get('manifests/1')).statusCode === 404);
    assert.equal((await get(`manifests/${digestOf(payload)}`)).payload, payload);
  });

  async function restricted(by: string, json: Partial<TokenInput>): Promise<string> {
    const input = { token: by, json: { name: 'CI', ...json } };
    return (await ok<TokenCreated>(here, 'POST', `${api}/tokens`, input)).token;
  }

  const reads = ['manifests/1', 'manifests/latest', 'tags/list', `blobs/${digestOf('')}`, `referrers/${digestOf('')}`];

  it('shows a token that is restricted to a plugin this plugin alone', async () => {
    for (const name of ['mine', 'other']) await publish(name);
    const plugin = { extensionPointId: world.extensionPointId, name: 'mine' };
    const token = await restricted(world.guest.token, { plugin, scopes: ['read'] });
    const otherPoint = await makeExtensionPoint(here, world.owner, world.appId);
    await publishAs(here, world.guest, otherPoint, 'mine', freshModule());
    for (const node of [here, there]) {
      const get = (path: string) => node.call('GET', path, { token });
      const basic = { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` };
      assert.equal((await node.call('GET', '/v2/token', { headers: basic })).json().token, token);
      assert.equal((await get('/v2/')).statusCode, 200);
      const { layers, config } = (await get(`${repositoryOf('mine')}/manifests/1`)).json<Manifest>();
      for (const rest of ['manifests/latest', 'tags/list', `blobs/${layers[0].digest}`, `blobs/${config.digest}`]) {
        assert.equal((await get(`${repositoryOf('mine')}/${rest}`)).statusCode, 200, rest);
      }
      const unknown = await get('/v2/no/such/name/here/manifests/latest');
      assertError(unknown, 404, 'NAME_UNKNOWN');
      const hidden = [repositoryOf('other'), repositoryOf('absent'), repositoryOf('mine', otherPoint)];
      hidden.push(repositoryOf('mine').replace(world.guest.id, world.otherGuest.id));
      hidden.push(repositoryOf('mine').replace(world.appId, 'app_01j29hxk3mfpq8ad68ha6hbsex'));
      for (const path of hidden.flatMap((repository) => reads.map((rest) => `${repository}/${rest}`))) {
        const response = await get(path);
        assertError(response, 404, 'NAME_UNKNOWN');
        assert.equal(response.payload, unknown.payload, path);
      }
    }
  });

  it('knows a token that is restricted to networks from these alone', async () => {
    await publish('near');
    const token = await restricted(world.guest.token, { networks: ['192.0.2.0/24'], scopes: ['read'] });
    for (const node of [here, there]) {
      for (const rest of reads.slice(0, 3)) {
        const get = (from: string, by = token) =>
          node.call('GET', `${repositoryOf('near')}/${rest}`, { token: by, headers: { 'x-forwarded-for': from } });
        assert.equal((await get('192.0.2.7')).statusCode, 200);
        const refused = await get('198.51.100.1');
        assertError(refused, 401, 'UNAUTHORIZED');
        assert.equal(refused.payload, (await get('192.0.2.7', `${token.slice(0, -1)}x`)).payload);
      }
      const basic = { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` };
      const headers = { ...basic, 'x-forwarded-for': '198.51.100.1' };
      assertError(await node.call('GET', '/v2/token', { headers }), 401, 'UNAUTHORIZED');
    }
  });

  it('refuses a token without the scope read', async () => {
    await publish('scoped');
    const token = await restricted(world.guest.token, { scopes: ['publish'] });
    for (const node of [here, there]) {
      const response = await node.call('GET', `${repositoryOf('scoped')}/tags/list`, { token });
      assertError(response, 403, 'DENIED');
    }
  });
});
