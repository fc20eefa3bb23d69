import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentAddress } from '@tenon/protocol';
import { blobPath } from '../../src/blobs/folder/paths.ts';
import { writeWithBlob } from '../../src/blobs/with-blob.ts';
import { blobKey } from '../../src/db/blob-key.ts';
import type { CopyStep } from '../../src/ops/copy/copy-store.ts';
import { addressOfBytes, bytesOf } from './bytes.ts';
import { copy, embedded } from './copies.ts';
import { createRecords, versionRecord } from './records.ts';
import { openStoreFixture } from './store-fixture.ts';

/** The contents of the source. */
export const contents = [bytesOf(1, 3000), bytesOf(2, 0), bytesOf(3, 300_000)];

export type FolderCopies = Awaited<ReturnType<typeof openFolderCopies>>;

/** Opens a data folder with a version of each of the {@link contents}, and names a folder that doesn't exist yet to copy it to. */
export async function openFolderCopies() {
  const fixture = await openStoreFixture();
  const target = join(`${fixture.dataDir}-copies`, 'deep');
  const { key } = await createRecords(fixture.store).stage();
  for (const [at, bytes] of contents.entries()) {
    const [contentAddress, size] = [addressOfBytes(bytes), bytes.length];
    await writeWithBlob(fixture, contentAddress, bytes, (tx) =>
      tx.insertVersion(versionRecord(key(`plugin-${at}`), { contentAddress, size })),
    );
  }
  return {
    fixture,
    target,
    /** The file of a content in a data folder: the key is the same in both. */
    async fileOf(dataDir: string, address: ContentAddress): Promise<string> {
      const row = await fixture.store.read.blob(address);
      assert.ok(row);
      return join(dataDir, 'blobs', blobPath(blobKey(row)) ?? '');
    },
    /** Makes a copy that fails with an error of the test before a step. */
    async failBefore(step: CopyStep, to = target): Promise<void> {
      const failing = copy(embedded(fixture.dataDir), embedded(to), {
        onStep(at) {
          if (at === step) throw new Error('enough');
        },
      });
      await assert.rejects(failing, /enough/);
    },
    async close(): Promise<void> {
      await fixture.close();
      await rm(`${fixture.dataDir}-copies`, { recursive: true, force: true });
    },
  };
}
