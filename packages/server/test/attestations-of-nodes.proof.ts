import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Attestation, SigningKey } from '@tenon/protocol';
import { openOwnBundle } from '../src/attestations/dsse.ts';
import { verifyAttestations } from '../src/attestations/read-attestations.ts';
import { ensureSigningKey, rotateSigningKey } from '../src/attestations/signing-keys.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { type List, ok, tinyModule } from './helpers/world.ts';

const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [] };

describe('attestations of two nodes on one PostgreSQL', { skip: noPostgres }, () => {
  let nodes: readonly TestService[];
  let workshop: Workshop;
  let dropDatabase: () => Promise<void>;

  before(async () => {
    const { url, drop } = await (await sharedPostgres()).createDatabase();
    dropDatabase = drop;
    const open = () => openService({ config: { databaseUrl: url, databaseConnections: 4 } });
    nodes = [await open(), await open()];
    workshop = await openWorkshop(nodes[0] as TestService);
  });
  after(async () => {
    await Promise.allSettled(nodes.map((node) => node.close()));
    await dropDatabase();
  });

  const keysOf = async (node: TestService) =>
    (await node.call('GET', '/.well-known/tenon-signing-keys.json')).json<{ keys: SigningKey[] }>().keys;

  /** Publishes a plugin on a node. */
  async function publish(node: TestService, name: string, number: number) {
    const headers = { 'content-type': 'application/wasm' };
    const { token } = workshop.publisher;
    type Published = { readonly id: string };
    return ok<Published>(node, 'PUT', workshop.path(name), { token, body: tinyModule(number), headers });
  }

  async function attestationsOf(node: TestService, name: string): Promise<Attestation[]> {
    const { token } = workshop.publisher;
    return (await ok<List<Attestation>>(node, 'GET', `${workshop.path(name)}/versions/1/attestations`, { token }))
      .objects;
  }

  it('have one first key, when both start and publish at once', async () => {
    const starts = nodes.flatMap(({ services }) => Array.from({ length: 4 }, () => ensureSigningKey(services.deps)));
    const publishes = nodes.flatMap((node, at) =>
      [1, 2, 3].map((number) => publish(node, `first-${at}-${number}`, number)),
    );
    const [plugins] = await Promise.all([Promise.all(publishes), Promise.all(starts)]);
    const [here, there] = await Promise.all(nodes.map(keysOf));
    assert.ok(here);
    assert.equal(here.length, 1);
    assert.deepEqual(there, here);
    const pemOf = (id: string) => here.find(({ keyId }) => keyId === id)?.publicKey;
    for (const { id } of plugins) {
      for (const node of nodes) {
        const [attestation] = await attestationsOf(node, id.split('/').at(-1) ?? '');
        assert.equal(attestation?.state, 'verified');
        assert.ok('statement' in openOwnBundle(JSON.stringify(attestation.bundle), pemOf));
      }
    }
  });

  it('sign with the next key on both nodes after a rotation of one', async () => {
    const [here, there] = nodes;
    assert.ok(here && there);
    const rotations = await Promise.allSettled(nodes.map(({ services }) => rotateSigningKey(services.deps, 60_000)));
    const done = rotations.filter((each) => each.status === 'fulfilled');
    assert.equal(done.length, 1, JSON.stringify(rotations));
    for (const node of nodes) node.advance(60_001);
    for (const [at, node] of nodes.entries()) {
      await publish(node, `rotated-${at}`, 1);
      const [attestation] = await attestationsOf(node, `rotated-${at}`);
      assert.equal(attestation?.signer?.keyId, done[0]?.value.key.id);
    }
  });

  it('attach a document once that both get at once, within the limit of a version', async () => {
    await publish(nodes[0] as TestService, 'attached', 1);
    const path = `${workshop.path('attached')}/versions/1/attestations`;
    const { token } = workshop.publisher;
    const attach = (node: TestService, json: object) => node.call('POST', path, { token, json });
    const same = await Promise.all([...nodes, ...nodes].map((node) => attach(node, sbom)));
    // The unique digest refuses those that lose the race. They may try again.
    const [first, ...others] = same.filter(({ statusCode }) => statusCode === 201);
    assert.ok(first);
    for (const response of same) if (response.statusCode !== 201) assertProblem(response, 409, 'conflict');
    const again = await Promise.all(nodes.map((node) => attach(node, sbom)));
    for (const response of [...others, ...again]) {
      assert.equal(response.json<Attestation>().id, first.json<Attestation>().id);
    }
    const documents = Array.from({ length: 12 }, (_, number) => ({ ...sbom, serialNumber: String(number) }));
    const all = await Promise.all(documents.map((json, at) => attach(nodes[at % 2] as TestService, json)));
    assert.equal(
      all.filter(({ statusCode }) => statusCode === 201).length,
      9,
      JSON.stringify(all.map((each) => each.statusCode)),
    );
    assert.equal((await attestationsOf(nodes[1] as TestService, 'attached')).length, 11);
    for (const node of nodes) assert.deepEqual(await node.store.check(), []);
  });

  it('are all valid', async () => {
    for (const { services } of nodes) {
      const { attestations, faults } = await verifyAttestations(services.deps);
      assert.deepEqual(faults, []);
      assert.ok(attestations >= 9);
    }
  });
});
