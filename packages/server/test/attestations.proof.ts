import assert from 'node:assert/strict';
import { createHash, createPublicKey, generateKeyPairSync, hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type Attestation,
  bindingLine,
  extensionPointLine,
  type Plugin,
  type ProvenancePolicyInput,
  type SigningKey,
} from '@tenon/protocol';
import { deleteUser } from '../src/apps/delete-account.ts';
import { keyIdOf, openOwnBundle, signStatement } from '../src/attestations/dsse.ts';
import { readAttestations, toAttestation, verifyAttestations } from '../src/attestations/read-attestations.ts';
import {
  currentSigningKey,
  ensureSigningKey,
  revokeSigningKey,
  rotateSigningKey,
} from '../src/attestations/signing-keys.ts';
import { attestExtensionPoint } from '../src/bundles/extension-point-attestation.ts';
import type { VersionRecord } from '../src/db/records.ts';
import type { Queries } from '../src/db/store.ts';
import { createModuleWorkers } from '../src/instrument/module-workers.ts';
import { type CiAuthority, jobClaims, openCiAuthority, provenanceOf } from './helpers/ci-authority.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { formOf, freshModule, type List, makeGuest, makeWorld, ok, publishAs, type World } from './helpers/world.ts';

const api = '/api/v1';

let service: TestService;
let authority: CiAuthority;
let world: World;
before(async () => {
  authority = await openCiAuthority();
  service = await openService({ config: { trustedRoots: [authority.trustedRoot] } });
  world = await makeWorld(service);
});
after(() => service.close());

let lastName = 0;

interface PublishOptions {
  readonly provenance?: unknown;
  readonly sbom?: unknown;
  readonly name?: string;
  readonly query?: string;
}

function tryPublish(content: Buffer, { provenance, sbom, name = `p${lastName++}`, query = '' }: PublishOptions = {}) {
  const part = (field: string, value: unknown) =>
    value === undefined ? [] : [{ name: field, content: typeof value === 'string' ? value : JSON.stringify(value) }];
  const form = formOf([{ name: 'artifact', content }, ...part('provenance', provenance), ...part('sbom', sbom)]);
  const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/${name}${query}`;
  return service.call('PUT', path, { token: world.guest.token, ...form });
}

async function publish(content: Buffer, options?: PublishOptions): Promise<Plugin> {
  const response = await tryPublish(content, options);
  assert.ok(response.statusCode < 300, response.payload);
  return response.json();
}

async function attestationsOf({ id, version }: Plugin, query = ''): Promise<Attestation[]> {
  const path = `${api}/artifacts/${id}/versions/${version.number}/attestations${query}`;
  const response = await service.call('GET', path, { token: world.guest.token });
  assert.equal(response.statusCode, 200, response.payload);
  return (response.json() as List<Attestation>).objects;
}

function attach({ id, version }: Plugin, document: unknown, token = world.guest.token) {
  const path = `${api}/artifacts/${id}/versions/${version.number}/attestations`;
  return service.call('POST', path, { token, json: document });
}

async function keys(): Promise<SigningKey[]> {
  return (await service.call('GET', '/.well-known/tenon-signing-keys.json')).json().keys;
}

async function setPolicy(provenance: ProvenancePolicyInput): Promise<void> {
  const path = `${api}/extension-points/${world.extensionPointId}`;
  const response = await service.call('PUT', path, { token: world.owner.token, json: { provenance } });
  assert.equal(response.statusCode, 200, response.payload);
}

const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'library', name: 'left-pad' }] };

describe('a publish', () => {
  it('is attested with a published key', async () => {
    const content = freshModule();
    const plugin = await publish(content);
    const [attestation] = await attestationsOf(plugin);
    const { id: _, bundle, createdAt, ...rest } = attestation as Attestation;
    const [key] = await keys();
    assert.ok(key);
    const noClaims = { issuer: null, identity: null, repository: null, workflow: null, commit: null, runUrl: null };
    assert.deepEqual(rest, {
      kind: 'publish',
      predicateType: 'urn:tenon:attestation:publish:v1',
      version: 1,
      state: 'verified',
      detail: null,
      signer: { ...noClaims, keyId: key.keyId },
    });
    const opened = openOwnBundle(JSON.stringify(bundle), (id) => (id === key.keyId ? key.publicKey : undefined));
    assert.deepEqual(opened, {
      statement: {
        _type: 'https://in-toto.io/Statement/v1',
        subject: [{ name: `${plugin.id}@1`, digest: { sha256: createHash('sha256').update(content).digest('hex') } }],
        predicateType: 'urn:tenon:attestation:publish:v1',
        predicate: {
          server: 'http://localhost:8366',
          appId: world.appId,
          extensionPointId: world.extensionPointId,
          plugin: plugin.id,
          publisher: world.guest.id,
          name: plugin.name,
          version: 1,
          versionId: plugin.version.id,
          semver: null,
          size: content.length,
          publishedAt: createdAt,
          means: 'token',
        },
      },
    });
    assert.equal(plugin.version.provenance, 'absent');
  });

  it('is not attested again with the same bytes', async () => {
    const content = freshModule();
    const plugin = await publish(content, { name: 'same' });
    await publish(content, { name: 'same' });
    assert.equal((await attestationsOf(plugin)).length, 1);
  });

  it('is shown as failed if its stored bundle is damaged, also by the check of the store', async () => {
    const { id, contentAddress } = (await publish(freshModule())).version as never as VersionRecord;
    const [stored] = await service.store.read.attestationsWithBundles(id);
    assert.ok(stored);
    for (const bundle of ['null', stored.bundle.slice(0, -1)]) {
      const damaged = { ...stored, bundle, contentAddress };
      const read: Pick<Queries, 'signingKeys' | 'publishAttestations' | 'attestationsWithBundles'> = {
        signingKeys: () => service.store.read.signingKeys(),
        publishAttestations: async () => [damaged],
        attestationsWithBundles: async () => [damaged],
      };
      const deps = { store: { ...service.store, read: read as Queries } };
      const detail = 'the bundle is damaged';
      assert.deepEqual((await verifyAttestations(deps)).faults, [{ subject: `attestation ${stored.id}`, detail }]);
      const version = { id, contentAddress, number: 1 } as VersionRecord;
      const [shown] = (await readAttestations(deps, version)).map((one) => toAttestation(one, version));
      assert.deepEqual([shown?.state, shown?.detail, shown?.bundle], ['failed', detail, {}]);
    }
  });

  it('records the claims of trusted publishing', async () => {
    const claims = { issuer: jobClaims.issuer, subject: 'repo:acme/median', repository: 'acme/median', sha: 'abc' };
    const token = await service.token(world.guest.id);
    await setClaims(token, claims);
    const form = formOf([{ name: 'artifact', content: freshModule() }]);
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/from-ci`;
    const plugin = (await service.call('PUT', path, { token, ...form })).json() as Plugin;
    assert.equal(plugin.version.provenance, 'verified');
    const [attestation] = await attestationsOf(plugin);
    assert.equal(attestation?.signer?.repository, 'acme/median');
    assert.ok(attestation);
    const { dsseEnvelope } = attestation.bundle as { readonly dsseEnvelope: { readonly payload: string } };
    const { predicate } = JSON.parse(Buffer.from(dsseEnvelope.payload, 'base64').toString());
    assert.equal(predicate.means, 'trusted_publishing');
    assert.deepEqual(predicate.claims, claims);
  });
});

describe('GET /.well-known/tenon-signing-keys.json', () => {
  it('needs no credentials, is cacheable, and shows no private key', async () => {
    const response = await service.call('GET', '/.well-known/tenon-signing-keys.json');
    assert.equal(response.statusCode, 200);
    assert.match(String(response.headers['cache-control']), /^public, max-age=\d+$/);
    assert.doesNotMatch(response.payload, /PRIVATE/);
    const headers = { 'if-none-match': String(response.headers['etag']) };
    const again = await service.call('GET', '/.well-known/tenon-signing-keys.json', { headers });
    assert.equal(again.statusCode, 304);
    for (const { keyId, publicKey } of response.json().keys as SigningKey[]) {
      const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
      assert.equal(keyId, createHash('sha256').update(der).digest('hex'));
    }
  });
});

describe('attached provenance', () => {
  it('is verified, with what the certificate says', async () => {
    const content = freshModule();
    const plugin = await publish(content, { provenance: await authority.sign(provenanceOf(content)) });
    assert.equal(plugin.version.provenance, 'verified');
    const [own, attached] = await attestationsOf(plugin);
    assert.equal(own?.kind, 'publish');
    assert.equal(attached?.state, 'verified', String(attached?.detail));
    assert.deepEqual(attached?.signer, { keyId: null, identity: jobClaims.workflow, ...jobClaims });
  });

  const failing: Readonly<Record<string, readonly [(content: Buffer) => Promise<unknown>, RegExp]>> = {
    'of another content': [() => authority.sign(provenanceOf(freshModule())), /another content/],
    'of an authority that is not trusted': [
      async (content) => (await openCiAuthority()).sign(provenanceOf(content)),
      /certificate/i,
    ],
    'with another signature': [
      async (content) => {
        const bundle = await authority.sign(provenanceOf(content));
        const other = await authority.sign(provenanceOf(content));
        return { ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, signatures: other.dsseEnvelope.signatures } };
      },
      /signature/i,
    ],
    'without an entry of the log': [
      async (content) => {
        const bundle = await authority.sign(provenanceOf(content));
        return { ...bundle, verificationMaterial: { ...bundle.verificationMaterial, tlogEntries: [] } };
      },
      /timestamps/,
    ],
    'with the entry of another bundle': [
      async (content) => {
        const bundle = await authority.sign(provenanceOf(content));
        const { verificationMaterial } = await authority.sign(provenanceOf(content));
        const { tlogEntries } = verificationMaterial;
        return { ...bundle, verificationMaterial: { ...bundle.verificationMaterial, tlogEntries } };
      },
      /signature mismatch/,
    ],
    'with a key instead of a certificate': [
      async (content) => {
        const bundle = await authority.sign(provenanceOf(content));
        const { certificate: _, ...others } = bundle.verificationMaterial;
        return { ...bundle, verificationMaterial: { ...others, publicKey: { hint: 'a' } } };
      },
      /with a key/,
    ],
    'with a certificate of garbage': [
      async (content) => {
        const bundle = await authority.sign(provenanceOf(content));
        const certificate = { rawBytes: Buffer.alloc(900, 0x30).toString('base64') };
        return { ...bundle, verificationMaterial: { ...bundle.verificationMaterial, certificate } };
      },
      /./,
    ],
  };
  for (const [what, [make, message]] of Object.entries(failing)) {
    it(`fails ${what}, and is shown as failed`, async () => {
      const content = freshModule();
      const plugin = await publish(content, { provenance: await make(content) });
      assert.equal(plugin.version.provenance, 'failed');
      const attached = (await attestationsOf(plugin, '?kind=provenance'))[0];
      assert.equal(attached?.state, 'failed');
      assert.match(String(attached?.detail), message);
      assert.equal(attached?.signer, null);
    });
  }

  it('is verified in a worker process, within a time limit', async () => {
    const content = freshModule();
    const bundle = await authority.sign(provenanceOf(content));
    const [entry] = bundle.verificationMaterial.tlogEntries;
    const envelope = `a\n1\nAA==\n\n${'\u2014 a AAAAAAAA\n'.repeat(50_000)}`;
    const slow = {
      ...bundle,
      verificationMaterial: {
        ...bundle.verificationMaterial,
        tlogEntries: [{ ...entry, inclusionProof: { ...entry.inclusionProof, checkpoint: { envelope } } }],
      },
    };
    const workers = createModuleWorkers({
      moduleWorkers: 1,
      moduleQueue: 4,
      moduleWorkerMemoryMiB: 128,
      moduleTimeoutMs: 20,
      moduleTimeoutPerMiBMs: 0,
      trustedRoots: [authority.trustedRoot],
    });
    try {
      const document = { bytes: Buffer.from(JSON.stringify(slow)), pointer: '' };
      const address = createHash('sha256').update(content).digest('base64url');
      await assert.rejects(workers.checkDocument(document, address), { code: 'invalid_field', message: /too long/ });
    } finally {
      await workers.close();
    }
    const plugin = await publish(content, { provenance: slow });
    assert.equal(plugin.version.provenance, 'failed');
  });

  it('can be attached later, by the publisher only', async () => {
    const content = freshModule();
    const plugin = await publish(content);
    const bundle = await authority.sign(provenanceOf(content));
    assertProblem(await attach(plugin, bundle, world.owner.token), 403, 'forbidden');
    const response = await attach(plugin, bundle);
    assert.equal(response.statusCode, 201, response.payload);
    assert.equal((response.json() as Attestation).state, 'verified');
    const again = (await attach(plugin, bundle)).json() as Attestation;
    assert.equal(again.id, (response.json() as Attestation).id);
    assert.equal((await attestationsOf(plugin)).length, 2);
    const path = `${api}/artifacts/${plugin.id}/versions/1`;
    assert.equal((await service.call('GET', path, { token: world.guest.token })).json().provenance, 'verified');
  });

  it('is not attached by a blocked publisher', async () => {
    const plugin = await publish(freshModule());
    const path = `${api}/apps/${world.appId}/publishers/${world.guest.id}/block`;
    const owner = { token: world.owner.token };
    assert.equal((await service.call('PUT', path, { ...owner, json: { reason: 'no' } })).statusCode, 200);
    try {
      assertProblem(await attach(plugin, sbom), 403, 'publisher_blocked');
    } finally {
      await service.call('DELETE', path, owner);
    }
    assert.equal((await attach(plugin, sbom)).statusCode, 201);
  });

  it('is listed for hosts by content, for members only', async () => {
    const content = freshModule();
    const plugin = await publish(content);
    const path = `${api}/artifacts/${plugin.id}/attestations?contentAddress=${plugin.contentAddress}`;
    const read = (token: string, query = '') => service.call('GET', path + query, { token });
    assert.equal((await read(world.viewer.token, '&kind=publish')).json().objects.length, 1);
    assert.equal((await read(world.viewer.token, '&kind=sbom')).json().objects.length, 0);
    assertProblem(await read(world.otherGuest.token), 404, 'not_found');
    const unknown = `${api}/artifacts/${plugin.id}/attestations?contentAddress=${'A'.repeat(43)}`;
    const none = await service.call('GET', unknown, { token: world.viewer.token });
    assert.deepEqual(none.json().objects, []);
  });

  it('is listed for many hosts that start together', async () => {
    const small = await openService({ config: { maxBodyMemoryBytes: 8 * 1024 * 1024 } });
    try {
      const { plugin, viewer } = await makeWorld(small);
      const path = `${api}/artifacts/${plugin.id}/attestations?contentAddress=${plugin.contentAddress}&kind=publish`;
      const all = await Promise.all(Array.from({ length: 20 }, () => small.call('GET', path, { token: viewer.token })));
      assert.deepEqual(new Set(all.map(({ statusCode }) => statusCode)), new Set([200]));
    } finally {
      await small.close();
    }
  });

  it('counts in the quotas, and a version has at most ten', async () => {
    const content = freshModule();
    const plugin = await publish(content);
    for (let number = 0; number < 10; number++) {
      const response = await attach(plugin, { ...sbom, serialNumber: String(number) });
      assert.equal(response.statusCode, 201, response.payload);
    }
    assertProblem(await attach(plugin, { ...sbom, serialNumber: 'x' }), 422, 'limit_exceeded');
    assert.deepEqual(await service.store.check(), []);
  });

  it('refuses what is malformed before it stores anything', async () => {
    const content = freshModule();
    assertProblem(await tryPublish(content, { provenance: '{"a":1,"a":2}', name: 'malformed' }), 422, 'invalid_field');
    assertProblem(await tryPublish(content, { provenance: sbom, name: 'malformed' }), 422, 'invalid_field');
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/malformed`;
    assertProblem(await service.call('GET', path, { token: world.guest.token }), 404, 'not_found');
  });
});

describe('an SBOM', () => {
  it('is signed by the server if it has no signature', async () => {
    const content = freshModule();
    const plugin = await publish(content, { sbom });
    const [, attached] = await attestationsOf(plugin);
    assert.equal(attached?.kind, 'sbom');
    assert.equal(attached?.state, 'verified');
    assert.match(String(attached?.detail), /no signature of the publisher/);
    assert.notEqual(attached?.signer?.keyId, null);
    assert.equal(plugin.version.provenance, 'absent');
  });
});

describe('the policy `require`', () => {
  const source = { issuer: jobClaims.issuer, repository: 'acme/*', workflow: '*/publish.yml@refs/tags/*' };

  before(() => setPolicy({ mode: 'require', sources: [source] }));
  after(() => setPolicy({ mode: 'none', sources: [] }));

  const refused: Readonly<Record<string, readonly [(content: Buffer) => Promise<unknown>, RegExp]>> = {
    'without provenance': [async () => undefined, /no provenance is attached/],
    'with failed provenance': [() => authority.sign(provenanceOf(freshModule())), /not valid: it is about another/],
    'from another repository': [
      (content) =>
        authority.sign(provenanceOf(content), {
          claims: { ...jobClaims, repository: 'https://github.com/evil/median' },
        }),
      /another source: issuer .*evil\/median/,
    ],
    'from another issuer': [
      (content) => authority.sign(provenanceOf(content), { claims: { ...jobClaims, issuer: 'https://gitlab.com' } }),
      /another source: issuer https:\/\/gitlab.com/,
    ],
    'without a repository': [
      (content) =>
        authority.sign(provenanceOf(content), { claims: { issuer: jobClaims.issuer, workflow: jobClaims.workflow } }),
      /another source/,
    ],
  };
  for (const [what, [make, message]] of Object.entries(refused)) {
    for (const query of ['', '?dryRun=true']) {
      it(`refuses a publish ${what}${query}, and stores nothing`, async () => {
        const content = freshModule();
        const options = { provenance: await make(content), name: 'refused', query };
        const response = await tryPublish(content, options);
        assertProblem(response, 422, 'provenance_required');
        assert.match(response.json().detail, message);
        assert.match(response.json().detail, /It accepts: issuer .*acme/);
        const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/refused`;
        assertProblem(await service.call('GET', path, { token: world.guest.token }), 404, 'not_found');
        const address = createHash('sha256').update(content).digest('base64url');
        assert.equal(await service.store.read.blob(address as never), undefined);
      });
    }
  }

  it('accepts provenance from a source', async () => {
    const content = freshModule();
    const plugin = await publish(content, { provenance: await authority.sign(provenanceOf(content)) });
    assert.equal(plugin.version.provenance, 'verified');
    // Nothing changes, and the version has its provenance already.
    assert.equal((await tryPublish(content, { name: plugin.name })).statusCode, 200);
  });

  it('accepts the claims of trusted publishing', async () => {
    const token = await service.token(world.guest.id);
    const claims = {
      issuer: jobClaims.issuer,
      subject: 'repo:acme/median',
      repository: 'acme/median',
      workflowRef: 'acme/median/.github/workflows/publish.yml@refs/tags/v2',
    };
    await setClaims(token, claims);
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}/trusted`;
    const send = () => service.call('PUT', path, { token, ...formOf([{ name: 'artifact', content: freshModule() }]) });
    assert.equal((await send()).statusCode, 201);
    await setClaims(token, { ...claims, repository: 'evil/median' });
    assertProblem(await send(), 422, 'provenance_required');
  });
});

describe('the policy `record`', () => {
  before(() => setPolicy({ mode: 'record', sources: [{ issuer: jobClaims.issuer }] }));
  after(() => setPolicy({ mode: 'none', sources: [] }));

  it('writes what `require` would refuse to the audit trail', async () => {
    const plugin = await publish(freshModule());
    const path = `${api}/apps/${world.appId}/audit?action=plugin.publish&target=${encodeURIComponent(plugin.id)}`;
    const [event] = (await service.call('GET', path, { token: world.owner.token })).json().objects;
    assert.equal(event.details.provenance, 'absent');
    assert.equal(event.details.provenanceFault, 'no provenance is attached');
  });
});

describe('signing keys', () => {
  it('rotate with an overlap, and a revoked key fails', async () => {
    const deps = service.services.deps;
    const before = await publish(freshModule());
    const { key, previous } = await rotateSigningKey(deps, 60_000);
    assert.deepEqual((await keys()).map(({ keyId }) => keyId).slice(0, 2), [key.id, previous.id]);
    const during = await publish(freshModule());
    assert.equal((await attestationsOf(during))[0]?.signer?.keyId, previous.id);
    await assert.rejects(rotateSigningKey(deps, 0), /rotation is pending/);
    service.advance(60_001);
    const afterwards = await publish(freshModule());
    assert.equal((await attestationsOf(afterwards))[0]?.signer?.keyId, key.id);
    assert.equal((await attestationsOf(before))[0]?.state, 'verified');

    await revokeSigningKey(deps, previous.id);
    assert.ok((await keys()).every(({ keyId }) => keyId !== previous.id));
    const [failed] = await attestationsOf(before);
    assert.equal(failed?.state, 'failed');
    assert.match(String(failed?.detail), /unknown or revoked/);

    await revokeSigningKey(deps, key.id);
    const last = await publish(freshModule());
    const [attestation] = await attestationsOf(last);
    assert.equal(attestation?.state, 'verified');
    assert.ok(![key.id, previous.id].includes(String(attestation?.signer?.keyId)));
    assert.deepEqual((await verifyAttestations(deps)).faults, []);
  });

  it('replace a revoked one ahead of the time of a rotation', async () => {
    const deps = service.services.deps;
    const { key, previous } = await rotateSigningKey(deps, 86_400_000);
    await revokeSigningKey(deps, previous.id);
    const [attestation] = await attestationsOf(await publish(freshModule()));
    assert.equal(attestation?.signer?.keyId, key.id);
    const published = (await keys()).find(({ keyId }) => keyId === key.id);
    assert.ok(published && attestation && published.validFrom <= attestation.createdAt, JSON.stringify(published));
  });

  it('are valid at the time that an attestation states', async () => {
    const deps = service.services.deps;
    const { key, previous } = await rotateSigningKey(deps, 1000);
    const before = deps.clock();
    service.advance(1001);
    const signerAt = (atMs: number) => service.store.write((tx) => currentSigningKey(deps, tx, atMs));
    assert.equal((await signerAt(before)).id, previous.id);
    const signer = await signerAt(deps.clock());
    assert.equal(signer.id, key.id);
    assert.equal((await signerAt(deps.clock())).privateKey, signer.privateKey, 'parsed once');
  });

  it('end when their file is replaced or not set', async () => {
    const deps = service.services.deps;
    const start = (signingKey?: object) =>
      ensureSigningKey({ ...deps, settings: { ...deps.settings, signingKey } as typeof deps.settings });
    const openKeys = async () => (await keys()).filter(({ validUntil }) => validUntil === null);
    const [first, second] = [keyFile(), keyFile()];
    const ids: (string | undefined)[] = [];
    for (const file of [first, second, first, undefined]) {
      await start(file);
      const [key, ...others] = await openKeys();
      assert.deepEqual(others, []);
      ids.push(key?.keyId);
    }
    assert.equal(ids[0], ids[2]);
    assert.equal(new Set(ids).size, 3);
    await rotateSigningKey(deps, 0);
  });

  it('come from a file if one is set', async () => {
    const signingKey = keyFile();
    const other = await openService({ config: { signingKey } });
    try {
      const own = await makeWorld(other);
      const stored = await other.store.read.signingKeys();
      assert.deepEqual(
        stored.map(({ origin }) => origin),
        ['file'],
      );
      assert.equal(own.plugin.version.number, 1);
      await assert.rejects(rotateSigningKey(other.services.deps, 0), /in a file/);
    } finally {
      await other.close();
    }
  });
});

function keyFile() {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { path: 'key.pem', privateKeyPem: pem, isExposed: false };
}

/** Makes a token one of trusted publishing. */
async function setClaims(token: string, claims: object): Promise<void> {
  const { hashSecret } = await import('../src/auth/secrets.ts');
  const found = await service.store.read.tokenByHash(hashSecret(token));
  assert.ok(found);
  const { suspendedAtMs: _, passkeyId: __, ...record } = found;
  await service.store.write(async (tx) => {
    await tx.deleteToken(record.id);
    await tx.insertToken({ ...record, claims } as never);
  });
}

describe('the attestation of an extension point', () => {
  const path = () => `${api}/extension-points/${world.extensionPointId}`;
  const plugins = () => `${api}/artifacts/${world.extensionPointId}/plugin/${world.guest.id}`;

  async function read() {
    const response = await service.call('GET', `${path()}/attestation`, { token: world.viewer.token });
    assert.equal(response.statusCode, 200, response.payload);
    const { predicate, bundle } = response.json();
    const pems = new Map((await keys()).map(({ keyId, publicKey }) => [keyId, publicKey]));
    const opened = openOwnBundle(JSON.stringify(bundle), (id) => pems.get(id));
    assert.ok('statement' in opened, JSON.stringify(opened));
    assert.deepEqual(opened.statement.predicate, predicate);
    const digest: string = Object(opened.statement.subject?.[0]).digest.sha256;
    return { ...predicate, digest, statement: opened.statement, payload: response.payload };
  }

  it('names the extension point, the server, the time of the newest change, and the digest of its state', async () => {
    const { version } = await publish(freshModule(), { name: 'attested' });
    const { statement, digest, bindings, changedAt } = await read();
    const { extensionPointId, appId } = world;
    assert.ok(changedAt >= version.createdAt, changedAt);
    assert.deepEqual(statement, {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: extensionPointId, digest: { sha256: digest } }],
      predicateType: 'urn:tenon:attestation:extension-point:v1',
      predicate: { server: 'http://localhost:8366', appId, extensionPointId, bindings, changedAt },
    });
    const point = (await service.call('GET', path(), { token: world.viewer.token })).json();
    const guests = await service.store.read.guestsToAttest(appId as never, undefined, 1000);
    const guestIds = guests.map(({ id }) => id);
    const rows = await service.store.read.bindingsToAttest(point.id, guestIds, undefined, 1000);
    const bound = rows.filter(({ number }) => number !== null);
    assert.equal(bound.length, bindings);
    const lines: string[] = [];
    for (const { userId, number, updatedAtMs: _, ...row } of bound) {
      const plugin = `${extensionPointId}/plugin/${userId}/${row.name}`;
      const documents = await digestsOf(`${api}/artifacts/${plugin}/versions/${number}`);
      lines.push(bindingLine({ ...row, plugin, version: number, documents } as never));
    }
    assert.equal(hash('sha256', [extensionPointLine(point), ...lines].join(''), 'hex'), digest);
  });

  /** The digests of the documents about a version, as its exporter reads them. */
  async function digestsOf(version: string): Promise<readonly string[]> {
    const { objects } = (await service.call('GET', `${version}/attestations`, { token: world.viewer.token })).json();
    return objects.map(({ bundle }: { bundle: object }) => hash('sha256', JSON.stringify(bundle), 'hex'));
  }

  it('has the same bytes until something that it covers changes', async () => {
    const { id } = await publish(freshModule(), { name: 'changing' });
    let last = await read();
    assert.equal((await read()).payload, last.payload);
    await ok(service, 'PUT', `${api}/apps/${world.appId}`, { token: world.owner.token, json: { name: 'Renamed' } });
    assert.equal((await read()).payload, last.payload, 'the name of the application is not covered');
    const owner = { token: world.owner.token };
    const attached = `${plugins()}/changing/versions/2/attestations`;
    const changes: readonly (() => Promise<unknown>)[] = [
      () => publish(freshModule(), { name: 'changing' }),
      () => ok(service, 'POST', attached, { token: world.guest.token, json: sbom }),
      () => ok(service, 'POST', `${plugins()}/changing/rollback`, { ...owner, json: { version: 1 } }),
      () => ok(service, 'POST', `${plugins()}/changing/versions/1/yank`, { ...owner, json: { reason: 'Wrong.' } }),
      () => ok(service, 'PUT', path(), { ...owner, json: { name: 'Other' } }),
      () => ok(service, 'PUT', path(), { ...owner, json: { schema: { exports: ['evaluate'], more: 1 } } }),
      () => ok(service, 'PUT', path(), { ...owner, json: { requiresApproval: true } }),
      () => ok(service, 'PUT', path(), { ...owner, json: { minVersionAgeSeconds: 1 } }),
      () => ok(service, 'PUT', path(), { ...owner, json: { limits: { allowWasi: false } } }),
    ];
    for (const change of changes) {
      await change();
      const { digest, changedAt } = await read();
      assert.notEqual(digest, last.digest, String(change));
      assert.ok(changedAt >= last.changedAt, String(change));
      last = await read();
    }
    const reset = { requiresApproval: false, minVersionAgeSeconds: 0, limits: { allowWasi: true } };
    await ok(service, 'PUT', path(), { ...owner, json: reset });
    const before = await read();
    service.advance(1000);
    assert.equal((await service.call('DELETE', `${api}/artifacts/${id}`, owner)).statusCode, 204);
    const { bindings, changedAt } = await read();
    assert.equal(bindings, before.bindings - 1);
    assert.ok(changedAt > before.changedAt, 'a deletion is a change');
  });

  it('is newer after a user of a guest, a guest, or an account is removed', async () => {
    const { appId, extensionPointId, owner, guest, otherGuest, guestId } = await makeWorld(service);
    const at = `${api}/extension-points/${extensionPointId}/attestation`;
    const app = `${api}/apps/${appId}`;
    await publishAs(service, otherGuest, extensionPointId, 'other', freshModule());
    const last = await makeGuest(service, owner, appId, 'customers/last', otherGuest);
    await publishAs(service, otherGuest, extensionPointId, 'last', freshModule());
    const { deps } = service.services;
    const removals: readonly (() => Promise<unknown>)[] = [
      () => service.call('DELETE', `${app}/guests/${guestId}/users/${guest.id}`, { token: owner.token }),
      () => service.call('DELETE', `${app}/guests/${last}`, { token: owner.token }),
      () => deleteUser(deps, 'operator', otherGuest.id),
    ];
    const read = async () => (await service.call('GET', at, { token: owner.token })).json().predicate;
    for (const remove of removals) {
      const before = await read();
      service.advance(1000);
      await remove();
      const { bindings, changedAt } = await read();
      assert.ok(bindings < before.bindings, String(remove));
      assert.ok(changedAt > before.changedAt, String(remove));
    }
  });

  it('of another server can be noted as imported, never one that is older', async () => {
    const owner = { token: world.owner.token };
    const extensionPointId = `ext_${'0'.repeat(26)}`;
    const note = (changedAt: string, more: object = {}) =>
      service.call('PUT', path(), { ...owner, json: { imported: { extensionPointId, changedAt, ...more } } });
    const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    assert.equal((await note(first)).statusCode, 200);
    assert.equal((await note(second)).statusCode, 200);
    assert.equal((await note(second)).statusCode, 200);
    assertProblem(await note(first), 409, 'conflict');
    assertProblem(await note('yesterday'), 422, 'invalid_field');
    assertProblem(await note(second, { more: 1 }), 422, 'invalid_field');
    const importsFor = async (token: string) => (await service.call('GET', path(), { token })).json().imports;
    assert.deepEqual(await importsFor(world.viewer.token), [{ extensionPointId, changedAt: second }]);
    assert.deepEqual(await importsFor(world.guest.token), [], 'guests see none');
    const both = await Promise.all([note('2026-01-04T00:00:00.000Z'), note('2026-01-03T00:00:00.000Z')]);
    assert.ok(both.some(({ statusCode }) => statusCode === 200));
    assert.deepEqual(await importsFor(world.viewer.token), [
      { extensionPointId, changedAt: '2026-01-04T00:00:00.000Z' },
    ]);
  });

  it('is of one state, whatever changes while it is read', async () => {
    for (const count of [1, 2]) await publish(freshModule(), { name: `moving-${count}` });
    const { digest } = await read();
    const { deps } = service.services;
    let count = 0;
    const change = async () => {
      await publish(freshModule(), { name: `moving-${++count}` });
      await ok(service, 'PUT', path(), { token: world.owner.token, json: { name: `Moved ${count}` } });
    };
    const readSnapshot: typeof deps.store.readSnapshot = (work) =>
      deps.store.readSnapshot((snapshot) => {
        const extensionPoint: typeof snapshot.extensionPoint = async (id) => {
          const found = await snapshot.extensionPoint(id);
          await change();
          return found;
        };
        return work({ ...snapshot, extensionPoint });
      });
    const access = { id: world.extensionPointId, appId: world.appId } as never;
    const changing = { ...deps, store: { ...deps.store, readSnapshot } };
    const { bundle } = await attestExtensionPoint(changing, access, new AbortController().signal);
    const statement = JSON.parse(Buffer.from(JSON.parse(bundle).dsseEnvelope.payload, 'base64').toString());
    assert.equal(statement.subject[0].digest.sha256, digest);
    assert.notEqual((await read()).digest, digest);
  });

  it('is signed with the key of now, and not with a revoked one', async () => {
    const before = await read();
    const { previous } = await rotateSigningKey(service.services.deps, 0);
    const after = await read();
    assert.equal(after.digest, before.digest);
    assert.notEqual(after.payload, before.payload);
    await revokeSigningKey(service.services.deps, previous.id);
    assert.equal((await read()).payload, after.payload);
  });

  it('ends with its client', async () => {
    const access = { id: world.extensionPointId, appId: world.appId } as never;
    const attested = attestExtensionPoint(service.services.deps, access, AbortSignal.abort());
    await assert.rejects(attested, { name: 'AbortError' });
  });
});

describe('the origin of an import', () => {
  const pair = generateKeyPairSync('ed25519');
  const pem = (key = pair.publicKey) => String(key.export({ type: 'spki', format: 'pem' }));
  const keyId = keyIdOf(pair.publicKey);
  const facts = {
    server: 'https://other.example',
    plugin: 'ext_1/plugin/usr_1/median',
    version: 3,
    publishedAt: '2026-05-01T00:00:00.000Z',
  };

  function originOf(content: Buffer, { predicate = {}, predicateType = 'urn:tenon:attestation:publish:v1' } = {}) {
    const statement = {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'median', digest: { sha256: createHash('sha256').update(content).digest('hex') } }],
      predicateType,
      predicate: { ...facts, ...predicate },
    };
    return {
      bundle: JSON.parse(signStatement({ id: keyId, privateKey: pair.privateKey }, statement)),
      publicKey: pem(),
    };
  }

  async function importAs(token: string, userId: string, content: Buffer, origin: unknown, name = `p${lastName++}`) {
    const parts = [
      { name: 'artifact', content },
      { name: 'origin', content: typeof origin === 'string' ? origin : JSON.stringify(origin) },
    ];
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${userId}/${name}`;
    return service.call('PUT', path, { token, ...formOf(parts) });
  }

  it('is attached, and named by the attestation of the publish', async () => {
    const { owner } = world;
    await makeGuest(service, owner, world.appId, 'imports', owner);
    const content = freshModule();
    const response = await importAs(owner.token, owner.id, content, originOf(content));
    assert.equal(response.statusCode, 201, response.payload);
    const plugin: Plugin = response.json();
    const path = `${api}/artifacts/${plugin.id}/versions/1/attestations`;
    const { objects } = (await service.call('GET', path, { token: owner.token })).json() as List<Attestation>;
    assert.deepEqual(
      objects.map(({ kind, state, signer }) => [kind, state, kind === 'origin' ? signer?.keyId : null]),
      [
        ['publish', 'verified', null],
        ['origin', 'verified', keyId],
      ],
    );
    assert.match(String(objects[1]?.detail), /other\.example published it as ext_1\/plugin\/usr_1\/median@3/);
    const [publish] = objects;
    const { payload } = Object(publish?.bundle).dsseEnvelope;
    assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64').toString()).predicate.import, { keyId, ...facts });
    assert.deepEqual(await service.store.check(), []);
  });

  it('is refused from guests, and if it is not valid', async () => {
    const { guest, owner } = world;
    const content = freshModule();
    assertProblem(await importAs(guest.token, guest.id, content, originOf(content), 'origin'), 403, 'forbidden');
    const valid = originOf(content);
    const stranger = generateKeyPairSync('ed25519').publicKey;
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    const cases: readonly (readonly [unknown, RegExp])[] = [
      ['{', /attestation/],
      [{ bundle: valid.bundle }, /must be a JSON object with .*publicKey/],
      [{ ...valid, publicKey: 'none' }, /not an Ed25519 key/],
      [{ ...valid, publicKey: pem(rsa) }, /not an Ed25519 key/],
      [{ ...valid, publicKey: pem(stranger) }, /unknown or revoked/],
      [originOf(freshModule()), /about another content/],
      [originOf(content, { predicateType: 'https://slsa.dev/provenance/v1' }), /it has the predicate/],
      [originOf(content, { predicate: { server: 1 } }), /does not say the server/],
    ];
    for (const [origin, why] of cases) {
      const response = await importAs(owner.token, owner.id, content, origin, 'origin');
      assertProblem(response, 422, 'invalid_field');
      assert.match(response.payload, why);
    }
    const path = `${api}/artifacts/${world.extensionPointId}/plugin/${owner.id}/origin`;
    assertProblem(await service.call('GET', path, { token: owner.token }), 404, 'not_found');
  });
});
