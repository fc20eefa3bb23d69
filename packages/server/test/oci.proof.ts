import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import {
  type ContentAddress,
  ociDigestOf,
  ociReferencesOf,
  ociRepositoryOf,
  type Plugin,
  type Version,
} from '@tenon/protocol';
import type { Response } from 'light-my-request';
import { until } from '../../../test/helpers/until.ts';
import { noOciClients, skopeo as runSkopeo, withRegistry } from './helpers/oci-clients.ts';
import { openService, type TestService } from './helpers/service.ts';
import { putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';
import {
  formOf,
  freshModule,
  makeApp,
  makeExtensionPoint,
  makeWorld,
  ok,
  publishAs,
  type World,
} from './helpers/world.ts';

/* The read-only points of https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md, and clients that we did not write. */

const api = '/api/v1';

let service: TestService;
let world: World;
let base: string;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-oci-'));
  service = await openService({ simulator: scriptedSimulator(() => Promise.resolve(reportOf('passed'))) });
  base = await service.listen();
  world = await makeWorld(service);
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType: string;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly [Descriptor];
  readonly subject: Descriptor;
}

let lastName = 0;

/** Publishes a version of a plugin of the guest's. */
async function publish(name = `plugin-${lastName++}`, content = freshModule(), semver?: string): Promise<Plugin> {
  const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/${name}`;
  const query = semver === undefined ? '' : `?semver=${encodeURIComponent(semver)}`;
  return ok(service, 'PUT', path + query, {
    token: world.guest.token,
    ...formOf([{ name: 'artifact', content }]),
  });
}

function repositoryOf(name: string, extensionPointId = world.extensionPointId): string {
  return ociRepositoryOf(world.appId, extensionPointId, world.guest.id, name);
}

function get(name: string, rest: string, token = world.guest.token, headers = {}, method = 'GET'): Promise<Response> {
  return service.call(method, `/v2/${repositoryOf(name)}/${rest}`, { token, headers });
}

function versionOf(name: string, at = world.extensionPointId): Promise<Version> {
  const path = `${api}/artifacts/${at}/plugin/${world.guest.id}/${name}/versions/1`;
  return ok(service, 'GET', path, { token: world.guest.token });
}

function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}

async function tagsOf(name: string, token = world.guest.token, query = ''): Promise<readonly string[]> {
  const response = await get(name, `tags/list${query}`, token);
  assert.equal(response.statusCode, 200, response.payload);
  return response.json().tags;
}

function assertError(response: Response, status: number, code: string): void {
  assert.equal(response.statusCode, status, response.payload);
  assert.equal(response.headers['content-type'], 'application/json');
  assert.equal(response.json().errors[0].code, code);
}

function basic(password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}` };
}

describe('GET /v2/', () => {
  it('leads to the token endpoint, whose token it accepts', async () => {
    const refused = await service.call('GET', '/v2/');
    assertError(refused, 401, 'UNAUTHORIZED');
    assert.equal(
      refused.headers['www-authenticate'],
      `Bearer realm="${base}/v2/token",service="${new URL(base).host}"`,
    );
    const query = '/v2/token?service=x&scope=repository:a/b:pull&account=anyone';
    const answer = await service.call('GET', query, { headers: basic(world.guest.token) });
    assert.equal(answer.statusCode, 200, answer.payload);
    const { token, access_token, expires_in } = answer.json();
    assert.equal(token, access_token);
    assert.ok(expires_in > 3000 && expires_in <= 3600);
    const accepted = await service.call('GET', '/v2/', { token });
    assert.equal(accepted.statusCode, 200);
    assert.equal(accepted.headers['docker-distribution-api-version'], 'registry/2.0');
  });

  it('refuses wrong credentials', async () => {
    const apiKey = await service.apiKey(world.owner.id);
    const expired = await service.token(world.guest.id, { lifetimeMs: -1000 });
    for (const password of ['', 'tnn_wrong', apiKey, expired]) {
      assertError(await service.call('GET', '/v2/token', { headers: basic(password) }), 401, 'UNAUTHORIZED');
    }
    const without = await service.call('GET', '/v2/token');
    assertError(without, 401, 'UNAUTHORIZED');
    assert.equal(without.headers['www-authenticate'], 'Basic realm="tenon"');
    assertError(await service.call('GET', '/v2/', { headers: basic(world.guest.token) }), 401, 'UNAUTHORIZED');
    assertError(await service.call('GET', '/v2/', { token: 'tnn_wrong' }), 401, 'UNAUTHORIZED');
  });
});

describe('manifests and blobs', () => {
  it('are the same by tag and by digest, and have the digests that they name', async () => {
    const content = freshModule();
    await publish('Median--2', content, '1.0.0+build.5');
    const answers = await Promise.all(
      ['1', '1.0.0_build.5', 'latest'].map((tag) => get('Median--2', `manifests/${tag}`)),
    );
    const [first] = answers;
    assert.ok(first);
    const digest = digestOf(first.payload);
    for (const answer of [...answers, await get('Median--2', `manifests/${digest}`)]) {
      assert.equal(answer.payload, first.payload);
      assert.equal(answer.headers['docker-content-digest'], digest);
      assert.equal(answer.headers['content-type'], 'application/vnd.oci.image.manifest.v1+json');
    }
    const repository = `${new URL(base).host}/${repositoryOf('Median--2')}`;
    assert.deepEqual((await versionOf('Median--2')).oci, { repository, tag: '1.0.0_build.5', digest });
    const { config, layers } = first.json<Manifest>();
    assert.equal(layers[0].digest, digestOf(content));
    const blob = await get('Median--2', `blobs/${layers[0].digest}`);
    assert.deepEqual(blob.rawPayload, content);
    assert.equal(blob.headers['docker-content-digest'], layers[0].digest);
    const configBlob = await get('Median--2', `blobs/${config.digest}`);
    assert.equal(digestOf(configBlob.rawPayload), config.digest);
    assert.equal(configBlob.rawPayload.length, config.size);
    assert.deepEqual(configBlob.json(), {
      architecture: 'wasm',
      created: '1970-01-01T00:00:00Z',
      layerDigests: [layers[0].digest],
      os: 'wasip1',
    });
  });

  it('answer HEAD, ranges, and conditions', async () => {
    const content = freshModule();
    await publish('ranges', content);
    const manifest = await get('ranges', 'manifests/1');
    const head = await get('ranges', 'manifests/1', undefined, {}, 'HEAD');
    assert.equal(head.payload, '');
    for (const name of ['content-length', 'content-type', 'docker-content-digest', 'etag']) {
      assert.equal(head.headers[name], manifest.headers[name], name);
    }
    const etag = String(manifest.headers.etag);
    const unchanged = await get('ranges', 'manifests/1', undefined, { 'if-none-match': etag });
    assert.equal(unchanged.statusCode, 304);
    const { digest } = manifest.json<Manifest>().layers[0];
    const part = await get('ranges', `blobs/${digest}`, undefined, { range: 'bytes=2-5' });
    assert.equal(part.statusCode, 206);
    assert.deepEqual(part.rawPayload, content.subarray(2, 6));
    const size = await get('ranges', `blobs/${digest}`, undefined, {}, 'HEAD');
    assert.equal(size.headers['content-length'], String(content.length));
    assertError(await get('ranges', `blobs/${digest}`, undefined, { range: 'bytes=999999-' }), 416, 'UNSUPPORTED');
  });

  it('answer HEAD as GET without the body, whatever the request accepts', async () => {
    const content = freshModule();
    await publish('heads', content);
    const { digest } = (await get('heads', 'manifests/1')).json<Manifest>().config;
    for (const [rest, status] of [
      ['manifests/latest', 200],
      ['manifests/none', 404],
      [`blobs/${digestOf(content)}`, 200],
      [`blobs/${digest}`, 200],
      [`blobs/${digestOf('none')}`, 404],
      ['blobs/sha512:0', 400],
      ['tags/list?n=1', 200],
      ['tags/list?n=x', 400],
      [`referrers/${digestOf('none')}?artifactType=text/x`, 200],
    ] as const) {
      for (const headers of [{}, { accept: 'application/vnd.docker.distribution.manifest.v2+json' }]) {
        const [found, head] = await Promise.all(
          (['GET', 'HEAD'] as const).map((method) => get('heads', rest, undefined, headers, method)),
        );
        const fieldsOf = ({ date: _, 'x-request-id': __, ...fields }: Response['headers'] = {}) => fields;
        assert.deepEqual([found?.statusCode, head?.statusCode], [status, status], rest);
        assert.deepEqual(fieldsOf(head?.headers), fieldsOf(found?.headers), rest);
        assert.equal(head?.payload, '');
      }
    }
  });

  it('are unknown for other digests, and for those of another plugin', async () => {
    await publish('mine');
    const other = await get('median', 'manifests/1', world.owner.token);
    assertError(await get('mine', `manifests/${digestOf(other.payload)}`), 404, 'MANIFEST_UNKNOWN');
    assertError(await get('mine', `blobs/${other.json<Manifest>().layers[0].digest}`), 404, 'BLOB_UNKNOWN');
    for (const tag of ['2', '0', '01', '1.0.0', 'Latest', 'bound-', 'bound-x', '-1', '__proto__']) {
      assertError(await get('mine', `manifests/${tag}`), 404, 'MANIFEST_UNKNOWN');
    }
    for (const digest of ['sha256:1', `sha256:${'A'.repeat(64)}`, `sha512:${'a'.repeat(128)}`, 'x:y']) {
      assertError(await get('mine', `manifests/${digest}`), 400, 'DIGEST_INVALID');
      assertError(await get('mine', `blobs/${digest}`), 400, 'DIGEST_INVALID');
      assertError(await get('mine', `referrers/${digest}`), 400, 'DIGEST_INVALID');
    }
  });
});

describe('unknown digests', () => {
  it('cost no query per version', async () => {
    for (const semver of ['1.0.0', '2.0.0', '3.0.0']) await publish('unknown', freshModule(), semver);
    const { read } = service.services.deps.store;
    const queries = (['versions', 'ociImages', 'attestationsOfVersions', 'attestationBundle'] as const).map((name) =>
      mock.method(read, name),
    );
    const countOf = async (salt: string) => {
      assertError(await get('unknown', `manifests/${digestOf(salt)}`), 404, 'MANIFEST_UNKNOWN');
      assertError(await get('unknown', `blobs/${digestOf(salt)}`), 404, 'BLOB_UNKNOWN');
      assertError(await get('unknown', 'manifests/4.0.0'), 404, 'MANIFEST_UNKNOWN');
      return queries.reduce((sum, each) => sum + each.mock.callCount(), 0);
    };
    try {
      const first = await countOf('a');
      assert.ok(first > 0);
      for (const salt of ['b', 'c', 'd']) assert.equal(await countOf(salt), first);
    } finally {
      for (const each of queries) each.mock.restore();
    }
  });
});

describe('tags', () => {
  it('name published versions only, and digests name all', async () => {
    await publish('states', freshModule(), '1.0.0');
    const first = await get('states', 'manifests/1');
    await publish('states', freshModule(), '2.0.0');
    assert.deepEqual(await tagsOf('states'), ['1', '1.0.0', '2', '2.0.0', 'latest']);
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/states`;
    const yanked = { token: world.owner.token, json: { reason: 'wrong' } };
    await ok(service, 'POST', `${path}/versions/2/yank`, yanked);
    assert.deepEqual(await tagsOf('states'), ['1', '1.0.0', 'latest']);
    assert.equal((await get('states', 'manifests/latest')).payload, first.payload);
    await ok(service, 'POST', `${path}/versions/1/yank`, yanked);
    assert.deepEqual(await tagsOf('states'), []);
    const { oci } = await versionOf('states');
    assert.deepEqual([oci.tag, oci.digest], [null, digestOf(first.payload)]);
    assertError(await get('states', 'manifests/latest'), 404, 'MANIFEST_UNKNOWN');
    assert.equal((await get('states', `manifests/${digestOf(first.payload)}`)).payload, first.payload);
  });

  it('are absent while the plugin is blocked, or awaits approval', async () => {
    await publish('blocked');
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/blocked`;
    await ok(service, 'PUT', `${path}/block`, { token: world.owner.token, json: { reason: 'no' } });
    assert.deepEqual(await tagsOf('blocked', world.owner.token), []);
    const at = await makeExtensionPoint(service, world.owner, world.appId);
    const json = { requiresApproval: true };
    await ok(service, 'PUT', `${api}/extension-points/${at}`, { token: world.owner.token, json });
    await publishAs(service, world.guest, at, 'awaits', freshModule());
    const list = await service.call('GET', `/v2/${repositoryOf('awaits', at)}/tags/list`, { token: world.guest.token });
    assert.deepEqual(list.json().tags, []);
  });

  it('of guests are for the team alone', async () => {
    await publish('bound');
    const tag = `bound-${world.guestId}`;
    assert.deepEqual(await tagsOf('bound', world.viewer.token), ['1', tag, 'latest']);
    assert.deepEqual(await tagsOf('bound'), ['1', 'latest']);
    const found = await get('bound', `manifests/${tag}`, world.viewer.token);
    assert.equal(found.payload, (await get('bound', 'manifests/1')).payload);
    assertError(await get('bound', `manifests/${tag}`), 404, 'MANIFEST_UNKNOWN');
  });

  it('come in pages', async () => {
    for (const semver of ['1.0.0', '1.10.0', '1.9.0-rc.1+x']) await publish('pages', freshModule(), semver);
    const all = await tagsOf('pages', world.viewer.token);
    assert.deepEqual(all, ['1', '1.0.0', '1.10.0', '1.9.0-rc.1_x', '2', '3', `bound-${world.guestId}`, 'latest']);
    for (const n of [1, 2, 3, 7, 8]) {
      const tags: string[] = [];
      let target: string | undefined = `/v2/${repositoryOf('pages')}/tags/list?n=${n}`;
      while (target !== undefined) {
        const page: Response = await service.call('GET', target, { token: world.viewer.token });
        tags.push(...page.json().tags);
        target = /^<(.*)>; rel="next"$/.exec(String(page.headers.link))?.[1];
      }
      assert.deepEqual(tags, all, `n=${n}`);
    }
    assert.deepEqual(await tagsOf('pages', undefined, '?n=0'), []);
    assert.deepEqual(await tagsOf('pages', undefined, '?last=zzz'), []);
    for (const query of ['?n=-1', '?n=x', `?last=${'x'.repeat(201)}`]) {
      assertError(await get('pages', `tags/list${query}`), 400, 'UNSUPPORTED');
    }
  });
});

describe('referrers', () => {
  it('are attestations and test results, with the digests that they name', async () => {
    const at = await makeExtensionPoint(service, world.owner, world.appId);
    await putSimulation(service, at);
    const plugin = await publishAs(service, world.guest, at, 'tested', freshModule());
    const path = `/v2/${repositoryOf('tested', at)}`;
    const read = async (rest: string) => {
      const response = await service.call('GET', `${path}/${rest}`, { token: world.guest.token });
      assert.equal(response.statusCode, 200, response.payload);
      return response;
    };
    const attestations = `${api}/artifacts/${plugin.id}/versions/1/attestations`;
    const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'library', name: 'ünï' }] };
    await ok(service, 'POST', attestations, { token: world.guest.token, json: sbom });

    await until(async () => {
      service.simulationRuns.wake();
      return (await versionOf('tested', at)).state === 'published';
    });
    const version = await versionOf('tested', at);
    const content = ociDigestOf(version.contentAddress as ContentAddress);
    const { digest } = version.oci;
    const index = await read(`referrers/${digest}`);
    assert.equal(index.headers['content-type'], 'application/vnd.oci.image.index.v1+json');
    const { manifests } = index.json<{ manifests: Descriptor[] }>();
    const bundle = 'application/vnd.dev.sigstore.bundle.v0.3+json';
    const testResult = 'application/vnd.in-toto+json';
    assert.deepEqual(
      manifests.map(({ artifactType }) => artifactType),
      [bundle, bundle, testResult],
    );
    for (const one of manifests) {
      const manifest = await read(`manifests/${one.digest}`);
      assert.equal(digestOf(manifest.payload), one.digest);
      assert.equal(manifest.rawPayload.length, one.size);
      const { config, layers, subject } = manifest.json<Manifest>();
      assert.equal(subject.digest, digest);
      for (const each of [config, ...layers]) {
        const blob = await read(`blobs/${each.digest}`);
        assert.equal(digestOf(blob.rawPayload), each.digest);
        assert.equal(blob.rawPayload.length, each.size);
      }
      const blob = await read(`blobs/${layers[0].digest}`);
      if (one.artifactType === testResult) {
        assert.equal(blob.json().subject[0].digest.sha256, content.slice('sha256:'.length));
      } else assert.equal(blob.json().mediaType, bundle);
    }
    const filtered = await read(`referrers/${digest}?artifactType=${encodeURIComponent(testResult)}`);
    assert.equal(filtered.headers['oci-filters-applied'], 'artifactType');
    assert.deepEqual(filtered.json().manifests, manifests.slice(2));
    assert.deepEqual((await read(`referrers/${digestOf('other')}`)).json().manifests, []);
  });

  it('of versions with the same module are those of each', async () => {
    const content = freshModule();
    for (const module of [content, freshModule(), content]) await publish('alike', module);
    const [first, other, third] = await Promise.all([1, 2, 3].map((tag) => get('alike', `manifests/${tag}`)));
    assert.equal(first?.payload, third?.payload);
    for (const [manifest, count] of [
      [first, 2],
      [other, 1],
    ] as const) {
      const digest = manifest?.headers['docker-content-digest'];
      const { manifests } = (await get('alike', `referrers/${digest}`)).json<{ manifests: Descriptor[] }>();
      assert.equal(manifests.length, count);
      for (const one of manifests) assert.equal((await get('alike', `manifests/${one.digest}`)).statusCode, 200);
    }
  });

  it('are found by their digests as soon as they are attached', async () => {
    const { id } = await publish('attached');
    const manifest = (await get('attached', 'manifests/1')).headers['docker-content-digest'];
    const list = async () =>
      (await get('attached', `referrers/${manifest}`)).json<{ manifests: Descriptor[] }>().manifests;
    for (const count of [1, 2, 3]) {
      const manifests = await list();
      assert.equal(manifests.length, count);
      for (const { digest } of manifests) assert.equal((await get('attached', `manifests/${digest}`)).statusCode, 200);
      const json = { bomFormat: 'CycloneDX', specVersion: '1.6', version: count, components: [] };
      await ok(service, 'POST', `${api}/artifacts/${id}/versions/1/attestations`, { token: world.guest.token, json });
    }
  });
});

describe('repositories', () => {
  it('that the caller may not see do not exist', async () => {
    await publish('hidden');
    const { otherGuest, stranger, guest, appId, extensionPointId } = world;
    const elsewhere = await service.token(guest.id, { appId: await makeApp(service, world.owner) });
    const unknown = await service.call('GET', '/v2/no/such/name/here/manifests/latest', { token: stranger.token });
    assertError(unknown, 404, 'NAME_UNKNOWN');
    const names = [
      'hidden',
      'absent',
      'Hidden',
      'a--b',
      'x--hidden',
      '..%2F..%2Fetc%2Fpasswd',
      '%2e%2e',
      '%00',
      `${'a'.repeat(300)}`,
    ];
    for (const [token, name] of [
      ...names.map((one) => [stranger.token, one] as const),
      ...names.map((one) => [otherGuest.token, one] as const),
      ...names.slice(1).map((one) => [guest.token, one] as const),
      [elsewhere, 'hidden'] as const,
    ]) {
      for (const rest of ['manifests/latest', `blobs/${digestOf('')}`, 'tags/list', `referrers/${digestOf('')}`]) {
        const path = `/v2/${appId}/${extensionPointId}/${guest.id}/${name}/${rest}`;
        const response = await service.call('GET', path, { token });
        assertError(response, 404, 'NAME_UNKNOWN');
        assert.equal(response.payload, unknown.payload);
      }
    }
    const otherApp = `/v2/app_01j29hxk3mfpq8ad68ha6hbsex/${extensionPointId}/${guest.id}/hidden/tags/list`;
    assert.equal((await service.call('GET', otherApp, { token: guest.token })).payload, unknown.payload);
  });

  it('accept no deletions', async () => {
    const blob = `blobs/${digestOf('')}`;
    for (const [rest, allow] of [
      ['manifests/1', 'GET, HEAD, OPTIONS, PUT'],
      [blob, 'GET, HEAD, OPTIONS'],
      ['tags/list', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const response = await get('median', rest, undefined, {}, 'DELETE');
      assertError(response, 405, 'UNSUPPORTED');
      assert.equal(response.headers.allow, allow);
    }
  });

  it('are named by a well-known document', async () => {
    const response = await service.call('GET', '/.well-known/wasm-pkg/registry.json');
    assert.deepEqual(response.json(), { preferredProtocol: 'oci', oci: { registry: new URL(base).host } });
  });
});

describe('skopeo', { skip: noOciClients }, () => {
  const skopeo = (...options: readonly string[]) => runSkopeo(folder, ...options);
  const credentials = (side = '') => [`--${side}tls-verify=false`, `--${side}creds=ci:${world.guest.token}`];
  const referenceOf = (name: string, tag: string) => `docker://${new URL(base).host}/${repositoryOf(name)}:${tag}`;

  it('copies versions into a registry, an archive, and a folder, with equal digests', async () => {
    const content = freshModule();
    for (const [at, name] of ['plain', 'Upper.--Case'].entries()) {
      await publish(name, content, `1.${at}.0+x`);
      const source = referenceOf(name, `1.${at}.0_x`);
      const raw = await skopeo('inspect', '--raw', ...credentials(), source);
      assert.equal(raw, (await get(name, 'manifests/1')).payload);
      const { byTag, byDigest } = ociReferencesOf((await versionOf(name)).oci, false);
      assert.equal(`docker://${byTag}`, source);
      assert.equal(await skopeo('inspect', '--raw', ...credentials(), `docker://${byDigest}`), raw);
      assert.match(await skopeo('list-tags', ...credentials(), source.replace(/:[^:]*$/, '')), /"latest"/);

      await skopeo('copy', ...credentials('src-'), source, `oci:${folder}/oci-${at}:v1`);
      const index = JSON.parse(await readFile(join(folder, `oci-${at}`, 'index.json'), 'utf8'));
      assert.equal(index.manifests[0].digest, digestOf(raw));
      const layer = await readFile(join(folder, `oci-${at}`, 'blobs', 'sha256', hash('sha256', content, 'hex')));
      assert.deepEqual(layer, content);

      await skopeo('copy', ...credentials('src-'), source, `oci-archive:${folder}/archive-${at}.tar:v1`);
      assert.equal(await skopeo('inspect', '--raw', `oci-archive:${folder}/archive-${at}.tar:v1`), raw);

      await withRegistry(folder, async (host) => {
        const target = `docker://${host}/copies/${at}:v1`;
        await skopeo('copy', '--dest-tls-verify=false', ...credentials('src-'), source, target);
        assert.equal(await skopeo('inspect', '--raw', '--tls-verify=false', target), raw);
      });
    }
  });

  it('reports a missing tag, and a token without rights', async () => {
    await assert.rejects(
      skopeo('inspect', '--raw', ...credentials(), referenceOf('plain', 'none')),
      /no such manifest/,
    );
    const stranger = ['--tls-verify=false', `--creds=ci:${world.stranger.token}`];
    await assert.rejects(skopeo('inspect', '--raw', ...stranger, referenceOf('plain', '1')), /no such repository/);
    const wrong = ['--tls-verify=false', '--creds=ci:wrong'];
    await assert.rejects(
      skopeo('inspect', '--raw', ...wrong, referenceOf('plain', '1')),
      /unauthorized|invalid username/i,
    );
  });
});
