import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContentAddress } from '@tenon/protocol';
import { addressOf, createRecords, simulationRecord, someHash, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** The simulations of extension points, and the bytes that they reference. */
export function simulationsContract(backend: Backend): void {
  describe('simulations', () => {
    const store = opened(backend, backend.openStore);
    const point = async () => (await createRecords(store.it).stage()).extensionPoint;
    const lease = (address: ContentAddress) =>
      store.it.write((tx) => tx.leaseBlob({ address, size: 8, generation: 'first', leaseUntilMs: 0 }));
    const mark = () =>
      store.it.writeLocking(async (tx) => {
        const marked = await tx.markForDeletion({ unusedSinceMs: someTimeMs, nowMs: someTimeMs, limit: 1000 });
        return marked.map(({ address }) => address);
      });

    it('are listed by name, replaced by name, and belong to one extension point', async () => {
      const [one, other] = [await point(), await point()];
      const basics = simulationRecord(one.id, { mockInputBase64: null });
      const fixtures = simulationRecord(one.id, {
        name: 'Fixtures',
        testModule: null,
        testModuleSize: null,
        mockHost: null,
        mockHostSize: null,
        fixturesJson: '[{"export":"greet","expect":{"equals":"日本語 \\u0001"}}]',
        revision: 2,
      });
      for (const simulation of [basics, fixtures]) await store.it.write((tx) => tx.putSimulation(simulation));
      assert.deepEqual(await store.it.read.simulations(one.id), [fixtures, basics]);
      assert.deepEqual(await store.it.read.simulations(other.id), []);
      assert.equal(await store.it.read.simulation(other.id, 'basics'), undefined);
      assert.equal((await store.it.read.extensionPoint(one.id))?.simulationsRevision, 2);

      const replacement = simulationRecord(one.id, { revision: 3, updatedAtMs: someTimeMs + 1, createdAtMs: 5 });
      await store.it.write((tx) => tx.putSimulation(replacement));
      const kept = { id: basics.id, createdAtMs: basics.createdAtMs };
      assert.deepEqual(await store.it.read.simulation(one.id, 'basics'), { ...replacement, ...kept });
      await store.it.write((tx) => tx.deleteSimulation({ extensionPointId: one.id, name: 'basics', revision: 4 }));
      assert.deepEqual(await store.it.read.simulations(one.id), [fixtures]);
      assert.equal((await store.it.read.extensionPoint(one.id))?.simulationsRevision, 4);
      assert.equal((await store.it.read.extensionPoint(other.id))?.simulationsRevision, 0);
    });

    it('invalidate the cached extension point, and require an audit event', async () => {
      const { id } = await point();
      await store.it.write(async (tx) => {
        await tx.putSimulation(simulationRecord(id));
        assert.deepEqual([...tx.effects.invalidated], [id]);
        assert.throws(() => tx.effects.requireAuditEvent(), { name: 'UnrecordedChangeError' });
      });
    });

    it('keep the bytes of their test module and mock host from deletion, until they are deleted', async () => {
      const { id } = await point();
      const [testModule, mockHost, other] = [addressOf(someHash()), addressOf(someHash()), addressOf(someHash())];
      const addresses = [testModule, mockHost, other];
      for (const address of addresses) await lease(address);
      await store.it.write((tx) => tx.putSimulation(simulationRecord(id, { testModule, mockHost })));
      assert.equal(await store.it.writeLocking((tx) => tx.markUnused(addresses, someTimeMs)), 1);
      assert.deepEqual(await mark(), [other]);
      for (const address of [testModule, mockHost]) {
        assert.equal(await store.it.read.isContentReferenced(address), true);
        const found = (await store.it.read.referencedContents({ limit: 1000 })).find((one) => one.address === address);
        assert.deepEqual([found?.versions, found?.simulations, found?.generation], [0, 1, 'first']);
      }
      await store.it.write((tx) => tx.deleteExtensionPoint(id));
      assert.deepEqual(await store.it.read.simulations(id), []);
      assert.equal(await store.it.read.isContentReferenced(testModule), false);
      assert.equal(await store.it.writeLocking((tx) => tx.markUnused(addresses, someTimeMs)), 2);
      assert.deepEqual((await mark()).sort(), [testModule, mockHost].sort());
    });

    it('are counted with versions of the same bytes, also across pages', async () => {
      const { key, extensionPoint } = await createRecords(store.it).stage();
      const shared = addressOf(someHash());
      await createRecords(store.it).version(key('shared'), { contentAddress: shared, size: 8 });
      const both = { testModule: shared, mockHost: shared, mockHostSize: 8 };
      await store.it.write((tx) => tx.putSimulation(simulationRecord(extensionPoint.id, both)));
      const all = await store.it.read.referencedContents({ limit: 1000 });
      const expected = { address: shared, generation: null, versions: 1, simulations: 2, minSize: 8, maxSize: 8 };
      assert.deepEqual(
        all.find(({ address }) => address === shared),
        expected,
      );
      const paged: typeof all = [];
      for (;;) {
        const page = await store.it.read.referencedContents({ after: paged.at(-1)?.address, limit: 2 });
        if (page.length === 0) break;
        paged.push(...page);
      }
      assert.deepEqual(paged, all);
    });
  });
}
