import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContentAddress } from '@tenon/protocol';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { type CollectResult, collect } from '../../src/blobs/collect.ts';
import { openFolderBlobStore } from '../../src/blobs/folder/folder-blob-store.ts';
import { type BlobKey, blobKey, newGeneration } from '../../src/db/blob-key.ts';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import type { Store } from '../../src/db/store.ts';
import { statements } from '../../src/queries.ts';
import { addressOfBytes } from './bytes.ts';
import { placeMigratedDatabase } from './migrated-database.ts';
import { someTimeMs } from './records.ts';

/** Stores in a temporary folder, with a clock that the test moves. */
export interface StoreFixture {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
  readonly dataDir: string;
  /** Moves the clock. */
  advance(ms: number): void;
  /** Collects with a grace; none by default. */
  collect(graceMs?: number): Promise<CollectResult | undefined>;
  /** The key of the object that an address has now; `undefined` when it has no row. */
  keyOf(address: ContentAddress): Promise<BlobKey | undefined>;
  /** The size of that object; `undefined` when it, or the row, isn't there. */
  sizeOf(address: ContentAddress): Promise<number | undefined>;
  /** The bytes of that object. */
  open(address: ContentAddress): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Puts bytes without telling the store, as if the commit of their row was lost. */
  putUnknown(bytes: Uint8Array): Promise<ContentAddress>;
  /** Stores bytes that no version names, so long ago that the lease of their publish has ended. */
  putUnused(bytes: Uint8Array): Promise<ContentAddress>;
  /** Opens the same data once more, as another process has it. */
  again(): Promise<StoreFixture>;
  close(): Promise<void>;
}

export async function openStoreFixture(at?: string): Promise<StoreFixture> {
  const dataDir = at ?? (await mkdtemp(join(tmpdir(), 'tenon-fixture-')));
  if (at === undefined) await placeMigratedDatabase(dataDir);
  const store = await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') });
  const blobs = await openFolderBlobStore({ folder: join(dataDir, 'blobs') });
  const opened: StoreFixture[] = [];
  let nowMs = someTimeMs;
  const fixture: StoreFixture = {
    store,
    blobs,
    clock: () => nowMs,
    random: (length) => new Uint8Array(randomBytes(length)),
    dataDir,
    advance(ms) {
      nowMs += ms;
    },
    collect: (graceMs = 0) => collect(fixture, { graceMs }),
    async keyOf(address) {
      const row = await store.read.blob(address);
      return row && blobKey(row);
    },
    async sizeOf(address) {
      const key = await fixture.keyOf(address);
      return key && blobs.size(key);
    },
    async open(address) {
      const key = await fixture.keyOf(address);
      return key && blobs.open(key);
    },
    async putUnused(bytes) {
      const address = addressOfBytes(bytes);
      const held = { address, size: bytes.length, generation: newGeneration(fixture.random), leaseUntilMs: 0 };
      await blobs.put(blobKey(held), bytes);
      await store.write((tx) => tx.leaseBlob(held));
      return address;
    },
    async putUnknown(bytes) {
      const address = addressOfBytes(bytes);
      await blobs.put(address, bytes);
      return address;
    },
    async again() {
      const other = await openStoreFixture(dataDir);
      opened.push(other);
      return other;
    },
    async close() {
      for (const other of opened) await other.close();
      await blobs.close();
      await store.close();
      if (at === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
  return fixture;
}
