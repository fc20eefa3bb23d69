import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dummyDatabase } from '../../../test/helpers/dummy-database.ts';
import { parseScrape } from '../../../test/helpers/prometheus-text.ts';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { ConflictError, StorageFullError, type Store, type Transaction, UnavailableError } from '../../db/store.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { contentAddressOf } from '../../plugins/publish.ts';
import { transaction } from '../../queries.ts';
import { withEffects } from '../../with-effects.ts';
import { instrumentBlobs } from './instrument-blobs.ts';
import { createRegistry } from './registry.ts';
import { createStoreMetrics } from './store-metrics.ts';

describe('createStoreMetrics()', () => {
  /** A store that runs each transaction so many times, as others overtake it; what it is handed does nothing. */
  function overtakenStore(runs: number): Store {
    const write: Store['write'] = async (work) => {
      for (let run = 1; run < runs; run++) await work(transaction(dummyDatabase()));
      return work(transaction(dummyDatabase()));
    };
    return { write } as Store;
  }

  it('counts a transaction once, independent of its attempts, and its changes', async () => {
    const registry = createRegistry();
    const store = withEffects(overtakenStore(3), { metrics: createStoreMetrics(registry) });
    const result = await store.write(async (tx) => {
      await tx.insertAuditEvent({ action: 'plugin.publish' } as Parameters<Transaction['insertAuditEvent']>[0]);
      return 'done';
    });
    assert.equal(result, 'done');
    const { samples } = parseScrape(registry.text());
    assert.equal(samples.get('tenon_store_transactions_total{outcome="committed"}'), 1);
    assert.equal(samples.get('tenon_store_transaction_retries_total'), 2);
    assert.equal(samples.get('tenon_changes_total{action="plugin.publish"}'), 1);
    assert.equal(samples.get('tenon_store_transaction_duration_seconds_count'), 1);
  });

  for (const [outcome, error] of [
    ['refused', new DomainError('not_found', 'It is not there.')],
    ['conflict', new ConflictError('It is taken')],
    ['unavailable', new UnavailableError('Others write')],
    ['full', new StorageFullError('No room')],
    ['failed', new TypeError('A fault')],
  ] as const) {
    it(`counts ${error.name} as ${outcome}, rethrows it, and counts no change`, async () => {
      const registry = createRegistry();
      const work = withEffects(overtakenStore(1), { metrics: createStoreMetrics(registry) }).write(async (tx) => {
        await tx.insertAuditEvent({ action: 'plugin.publish' } as Parameters<Transaction['insertAuditEvent']>[0]);
        throw error;
      });
      await assert.rejects(work, error);
      const { samples } = parseScrape(registry.text());
      assert.equal(samples.get(`tenon_store_transactions_total{outcome="${outcome}"}`), 1);
      assert.equal(samples.get('tenon_store_transactions_total{outcome="committed"}'), 0);
      assert.equal(samples.get('tenon_changes_total{action="plugin.publish"}'), 0);
    });
  }
});

describe('instrumentBlobs()', () => {
  const address = contentAddressOf(Buffer.from('any'));
  const requests = (text: string, operation: string, outcome: string) =>
    parseScrape(text).samples.get(`tenon_blob_requests_total{operation="${operation}",outcome="${outcome}"}`);

  it('counts a read at its end, with its bytes', async () => {
    const registry = createRegistry();
    async function* chunks() {
      yield new Uint8Array(10);
      yield new Uint8Array(5);
    }
    const blobs = instrumentBlobs({ open: async () => chunks() } as unknown as BlobStore, registry);
    const opened = await blobs.open(address);
    assert.equal(requests(registry.text(), 'open', 'done'), 0);
    const read = await Array.fromAsync(opened ?? []);
    assert.deepEqual(
      read.map(({ length }) => length),
      [10, 5],
    );
    assert.equal(requests(registry.text(), 'open', 'done'), 1);
    assert.equal(parseScrape(registry.text()).samples.get('tenon_blob_read_bytes_total'), 15);
  });

  it('counts a read that fails in the middle by its error', async () => {
    const registry = createRegistry();
    async function* chunks() {
      yield new Uint8Array(10);
      throw new UnavailableError('Gone');
    }
    const blobs = instrumentBlobs({ open: async () => chunks() } as unknown as BlobStore, registry);
    await assert.rejects(async () => Array.fromAsync((await blobs.open(address)) ?? []), UnavailableError);
    assert.equal(requests(registry.text(), 'open', 'unavailable'), 1);
    assert.equal(requests(registry.text(), 'open', 'done'), 0);
  });

  it('distinguishes missing blobs from failures, and counts only stored bytes', async () => {
    const registry = createRegistry();
    const put = () => Promise.reject(new StorageFullError('No room'));
    const missing: Partial<BlobStore> = { put, size: async () => undefined, open: async () => undefined };
    const blobs = instrumentBlobs(missing as BlobStore, registry);
    assert.equal(await blobs.size(address), undefined);
    assert.equal(await blobs.open(address), undefined);
    await assert.rejects(blobs.put(address, new Uint8Array(9)), StorageFullError);
    const text = registry.text();
    assert.equal(requests(text, 'size', 'missing'), 1);
    assert.equal(requests(text, 'open', 'missing'), 1);
    assert.equal(requests(text, 'put', 'full'), 1);
    assert.equal(parseScrape(text).samples.get('tenon_blob_written_bytes_total'), 0);
  });
});
