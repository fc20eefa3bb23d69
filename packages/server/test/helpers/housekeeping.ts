import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContentAddress } from '@tenon/protocol';
import { openFolderBlobStore } from '../../src/blobs/fs/folder-blob-store.ts';
import { type Collected, collect } from '../../src/domain/housekeeping/collect.ts';
import type { BlobStore, Store } from '../../src/domain/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { addressOfBytes } from './bytes.ts';
import { someTimeMs } from './records.ts';

/** What housekeeping works with, on a folder of its own, with a clock that stands still. */
export interface House {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
  readonly dataDir: string;
  /** Moves the clock. */
  advance(ms: number): void;
  /** Collects with a grace; none by default. */
  collect(graceMs?: number): Promise<Collected | undefined>;
  /** Puts bytes without telling the store, as releases before there were rows did. */
  putUnknown(bytes: Uint8Array): Promise<ContentAddress>;
  /** Opens the same data once more, as another process has it. */
  again(): Promise<House>;
  close(): Promise<void>;
}

export async function openHouse(at?: string): Promise<House> {
  const dataDir = at ?? (await mkdtemp(join(tmpdir(), 'tenon-house-')));
  const store = await openSqliteStore({ file: join(dataDir, 'tenon.db') });
  const blobs = await openFolderBlobStore({ folder: join(dataDir, 'blobs') });
  const opened: House[] = [];
  let nowMs = someTimeMs;
  const house: House = {
    store,
    blobs,
    clock: () => nowMs,
    random: (length) => new Uint8Array(randomBytes(length)),
    dataDir,
    advance(ms) {
      nowMs += ms;
    },
    collect: (graceMs = 0) => collect(house, { graceMs }),
    async putUnknown(bytes) {
      const address = addressOfBytes(bytes);
      await blobs.put(address, bytes);
      return address;
    },
    async again() {
      const other = await openHouse(dataDir);
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
  return house;
}
