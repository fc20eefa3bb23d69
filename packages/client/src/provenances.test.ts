import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CacheStore, ClientEvents, ClientOptions } from '@tenon/client';
import { attest, attestationsResponse, createSigner, published } from '../test/helpers/attestations.ts';
import {
  addressOfBytes,
  createFakeServer,
  type FakeRequest,
  key,
  listResponse,
  noConnection,
  openClient,
  problemResponse,
} from '../test/helpers/fake-server.ts';
import { until } from '../test/helpers/manual-clock.ts';

/** Modules that differ in a custom section. */
const [bytes, otherBytes] = [1, 2].map((number) =>
  Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, 3, 1, 0x61, number]),
) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
const [address, otherAddress] = [addressOfBytes(bytes), addressOfBytes(otherBytes)];

const signer = createSigner();
const id = 'ext_1/plugin/usr_1/greet';
const plugin = { id, extensionPointId: 'ext_1', contentAddress: address };
const good = attest(signer, plugin);
const forged = { ...good, verificationMaterial: attest(createSigner(), plugin).verificationMaterial };

interface Served {
  readonly contentAddress?: string;
  readonly id?: string;
  readonly attestations?: (request: FakeRequest) => Response | Promise<Response>;
}

function serve({
  contentAddress = address,
  id: bound = id,
  attestations = () => attestationsResponse(good),
}: Served = {}) {
  return (request: FakeRequest) => {
    if (request.path.includes('/bindings/')) {
      return listResponse({ greet: { id: bound, contentAddress, updatedAt: '2026-05-01T00:00:00.000Z' } });
    }
    if (request.path.includes('/attestations?')) return attestations(request);
    return new Response(request.path.endsWith(address) ? bytes : otherBytes);
  };
}

function open(served: Served, options: Partial<ClientOptions> = {}, server = createFakeServer(serve(served))) {
  const opened = openClient(server, { verify: 'require', trustedKeys: [published(signer)], maxAgeMs: 0, ...options });
  const events: ClientEvents['provenance'][] = [];
  opened.client.on('provenance', (event) => events.push(event));
  return { ...opened, server, events };
}

const asked = ({ requests }: { readonly requests: readonly FakeRequest[] }) =>
  requests.filter(({ path }) => path.includes('/attestations?')).length;

function mapStore() {
  const entries = new Map<string, Uint8Array<ArrayBuffer>>();
  const store: CacheStore = {
    get: async (at) => entries.get(at)?.slice(),
    set: async (at, value) => void entries.set(at, value.slice()),
    delete: async (at) => void entries.delete(at),
  };
  return { entries, store };
}

/** What is not verified, and why. */
const faults: readonly (readonly [state: 'failed' | 'absent', reason: string, served: Served])[] = [
  ['absent', 'no_attestation', { attestations: () => attestationsResponse() }],
  ['absent', 'no_attestation', { attestations: () => problemResponse(404, 'not_found') }],
  ['absent', 'not_fetched', { attestations: noConnection }],
  ['absent', 'not_fetched', { attestations: () => new Response('Not Found', { status: 404 }) }],
  [
    'absent',
    'not_fetched',
    { attestations: () => new Response('{"objects":[]}', { headers: { 'repr-digest': 'sha-256=:AAAA:' } }) },
  ],
  ['absent', 'not_fetched', { attestations: () => problemResponse(503, 'unavailable') }],
  ['absent', 'not_fetched', { attestations: () => problemResponse(403, 'forbidden') }],
  ['absent', 'not_fetched', { attestations: () => new Response('<html>') }],
  ['absent', 'not_fetched', { attestations: () => new Response('{"objects":3}') }],
  ['absent', 'not_fetched', { attestations: () => new Response(new Uint8Array(2_000)) }],
  ['failed', 'unknown_key', { attestations: () => attestationsResponse(forged) }],
  ['failed', 'malformed', { attestations: () => attestationsResponse(null) }],
  ['failed', 'malformed', { attestations: () => attestationsResponse(JSON.stringify(good)) }],
  ['failed', 'subject', { contentAddress: otherAddress }],
  ['failed', 'plugin', { id: 'ext_1/plugin/usr_1/other' }],
  [
    'failed',
    'plugin',
    {
      id: 'ext_1/plugin/usr_1/other',
      attestations: () => attestationsResponse(attest(signer, { ...plugin, id: 'ext_1/plugin/usr_1/other' })),
    },
  ],
  ['failed', 'plugin', { id: 'ext_2/plugin/usr_1/greet' }],
  ['failed', 'plugin', { id: 'ext_1/plugin/../greet' }],
  ['failed', 'plugin', { id: 'ext_1/plugin/usr_2/greet' }],
];

describe('createClient() with `verify`', () => {
  it('loads verified plugins, and asks once for each content', async () => {
    for (const verify of ['warn', 'require'] as const) {
      const { client, server, events } = open({}, { verify });
      for (let time = 0; time < 3; time++) await client.load(key);
      const { provenance } = await client.loadPlugin(key);
      assert.ok(provenance?.state === 'verified');
      assert.equal(provenance.keyId, signer.keyId);
      assert.equal(provenance.publication.version, 3);
      assert.equal(asked(server), 1);
      assert.deepEqual(events, []);
    }
  });

  it('asks for nothing by default', async () => {
    const server = createFakeServer(serve());
    const { client } = openClient(server);
    assert.equal((await client.loadPlugin(key)).provenance, undefined);
    assert.equal(asked(server), 0);
  });

  it('refuses with "require", and loads with "warn", what is not verified', async () => {
    for (const [state, reason, served] of faults) {
      const what = `${state} ${reason} ${served.id ?? ''}`;
      const strict = open(served, { limits: { maxListBytes: 1_900 } });
      const refused = { name: 'ClientError', code: `provenance_${state}`, reason };
      await assert.rejects(strict.client.load(key), refused, what);
      await assert.rejects(strict.client.loadPlugin(key), refused, what);
      const report = await strict.client.warmUp([key], { compile: false });
      assert.deepEqual([report.plugins, report.failures[0]?.error.code], [0, refused.code], what);
      assert.ok(
        strict.server.requests.every(({ path }) => !path.includes('/c/')),
        what,
      );

      const lenient = open(served, { verify: 'warn', limits: { maxListBytes: 1_900 } });
      await lenient.client.load(key);
      const { provenance, isStale } = await lenient.client.loadPlugin(key);
      assert.deepEqual([provenance?.state, isStale], [state, false], what);
      assert.equal((await lenient.client.warmUp([key])).plugins, 1, what);
      for (const { events } of [strict, lenient]) {
        assert.deepEqual(
          events.map(({ name, provenance }) => [name, provenance.state]),
          [['greet', state]],
          what,
        );
      }
    }
  });

  it('finds the valid one among the attestations of several versions', async () => {
    const other = attest(createSigner(), plugin);
    const { client } = open({ attestations: () => attestationsResponse(other, good, other) });
    assert.equal((await client.loadPlugin(key)).provenance?.state, 'verified');
    const many = Array.from({ length: 64 }, () => other);
    const hostile = open({ attestations: () => attestationsResponse(...many, good) });
    await assert.rejects(hostile.client.load(key), { code: 'provenance_failed' });
  });

  it('ignores attestations of other kinds', async () => {
    const attestations = async () => {
      const { objects } = (await attestationsResponse(good).json()) as { objects: object[] };
      return Response.json({
        objects: objects.map((each) => ({ ...each, kind: 'sbom', predicateType: 'https://cyclonedx.org/bom' })),
      });
    };
    await assert.rejects(open({ attestations }).client.load(key), {
      code: 'provenance_absent',
      reason: 'no_attestation',
    });
  });

  it('continues with the last verified version if the bound one is not verified', async () => {
    const { client, server, events } = open({});
    assert.equal((await client.loadPlugin(key)).contentAddress, address);
    server.respond(serve({ contentAddress: otherAddress }));
    const { contentAddress, isStale, error, provenance } = await client.loadPlugin(key);
    assert.deepEqual(
      [contentAddress, isStale, error?.code, error?.reason],
      [address, true, 'provenance_failed', 'subject'],
    );
    assert.equal(provenance?.state, 'verified');
    assert.equal(events.length, 1);
    const other = attest(signer, { ...plugin, contentAddress: otherAddress });
    server.respond(serve({ contentAddress: otherAddress, attestations: () => attestationsResponse(other) }));
    assert.equal((await client.loadPlugin(key)).contentAddress, address);
    const next = open({ contentAddress: otherAddress, attestations: () => attestationsResponse(other) });
    assert.equal((await next.client.loadPlugin(key)).contentAddress, otherAddress);
  });

  it('asks again after a minute', async () => {
    const { client, clock, server } = open({ attestations: () => attestationsResponse() });
    for (let time = 0; time < 3; time++) await assert.rejects(client.load(key));
    assert.equal(asked(server), 1);
    server.respond(serve());
    clock.pass(60_000);
    assert.equal((await client.loadPlugin(key)).provenance?.state, 'verified');
  });

  it('verifies from the store while the server is down, and offline', async () => {
    for (const options of [{}, { offline: true }]) {
      const { store } = mapStore();
      const first = open({}, { store });
      await first.client.load(key);
      await first.client.close();
      const second = open({}, { store, ...options }, createFakeServer(noConnection));
      const { provenance, isStale } = await second.client.loadPlugin(key);
      assert.deepEqual([provenance?.state, isStale], ['verified', true]);
    }
  });

  it('fetches the attestation of content that was cached without it', async () => {
    const { store } = mapStore();
    const before = open({}, { store, verify: 'off' });
    await before.client.load(key);
    await before.client.close();
    const offline = open({}, { store, offline: true });
    await assert.rejects(offline.client.load(key), { code: 'provenance_absent', reason: 'not_fetched' });
    assert.equal(
      (await open({}, { store, offline: true, verify: 'warn' }).client.loadPlugin(key)).provenance?.state,
      'absent',
    );
    const { client, server } = open({}, { store });
    assert.equal((await client.loadPlugin(key)).provenance?.state, 'verified');
    assert.equal(server.requests.filter(({ path }) => path.includes('/c/')).length, 0);
  });

  it('never turns failed into absent', async () => {
    const { store } = mapStore();
    const first = open({ attestations: () => attestationsResponse(forged) }, { store, verify: 'warn' });
    await first.client.load(key);
    await first.client.close();
    const down = open({}, { store, verify: 'warn' }, createFakeServer(noConnection));
    assert.equal((await down.client.loadPlugin(key)).provenance?.state, 'failed');
    const removed = open({ attestations: () => attestationsResponse() }, { store });
    await assert.rejects(removed.client.load(key), { code: 'provenance_failed' });
    const repaired = open({}, { store });
    assert.equal((await repaired.client.loadPlugin(key)).provenance?.state, 'verified');
  });

  it('deletes a damaged attestation from the store and fetches it again', async () => {
    const { store, entries } = mapStore();
    const first = open({}, { store });
    await first.client.load(key);
    await first.client.close();
    const [at] = [...entries.keys()].filter((each) => each.includes('/attestations/'));
    assert.ok(at);
    const entry = entries.get(at) as Uint8Array<ArrayBuffer>;
    for (let position = 0; position < entry.length; position += 97) {
      const damaged = entry.slice();
      damaged[position] = (damaged[position] ?? 0) ^ 1;
      entries.set(at, damaged);
      const { client, server } = open({}, { store });
      const codes: string[] = [];
      client.on('error', ({ error }) => codes.push(error.code));
      assert.equal((await client.loadPlugin(key)).provenance?.state, 'verified');
      await client.close();
      assert.deepEqual([codes, asked(server)], [['damaged_entry'], 1]);
    }
  });

  it('does not trust a store that others write', async () => {
    const { store, entries } = mapStore();
    const evil = createSigner();
    const evilServer = { attestations: () => attestationsResponse(attest(evil, plugin)) };
    const first = open(evilServer, { store, trustedKeys: [published(evil)] });
    await first.client.load(key);
    await first.client.close();
    assert.ok([...entries.keys()].some((each) => each.includes('/attestations/')));
    await assert.rejects(open(evilServer, { store }).client.load(key), {
      code: 'provenance_failed',
      reason: 'unknown_key',
    });
  });

  it('with "warn", does not wait for retries or for a server that is down', async () => {
    const served = { attestations: noConnection };
    const { client, server } = open(served, { verify: 'warn', retry: { maxRetries: 3, baseDelayMs: 10 } });
    for (let time = 0; time < 3; time++) await client.load(key);
    assert.ok(asked(server) <= 3);
    server.respond(serve(served));
  });

  it('fails the call if the token is rejected and `staleOnUnauthorized` is false', async () => {
    const served = { attestations: () => problemResponse(401, 'invalid_token') };
    const { client } = open(served, { verify: 'warn', staleOnUnauthorized: false });
    await assert.rejects(client.load(key), { code: 'invalid_token' });
  });

  it('ends with its caller and with the client', async () => {
    const { client, server } = open({ attestations: () => new Promise<never>(() => {}) });
    const controller = new AbortController();
    const call = client.load(key, { signal: controller.signal });
    await until(() => asked(server) === 1);
    controller.abort();
    await assert.rejects(call, { code: 'aborted' });
    const other = client.load(key);
    await until(() => asked(server) === 2);
    await client.close();
    await assert.rejects(other, { code: 'closed' });
  });

  it('says so where the engine has no Ed25519', async (test) => {
    const error = new DOMException('Unrecognized name.', 'NotSupportedError');
    test.mock.method(crypto.subtle, 'importKey', async () => Promise.reject(error));
    await assert.rejects(open({}).client.load(key), {
      code: 'provenance_failed',
      reason: 'unsupported_runtime',
      message: /Node\.js 20/,
    });
    assert.equal((await open({}, { verify: 'warn' }).client.loadPlugin(key)).provenance?.state, 'failed');
  });
});
