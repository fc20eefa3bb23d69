import { createHash } from 'node:crypto';
import type { ContentAddress } from '@tenon/protocol';
import { formatVersion, type Manifest } from '../../src/backup/manifest.ts';
import { blockBytes, endBytes, paddingBytes, tarHeader } from '../../src/backup/tar.ts';
import { writeArchive } from '../../src/backup/write-archive.ts';
import { addressOfBytes } from './bytes.ts';

export async function* chunksOf(bytes: Uint8Array, length = bytes.length): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

export function manifestOf(database: Uint8Array, blobs: readonly Uint8Array[], schemaVersion = 1): Manifest {
  return {
    format: 'tenon-backup',
    formatVersion,
    tenonVersion: '0.1.0',
    createdAt: '2026-05-17T09:30:15.123Z',
    schemaVersion,
    database: { size: database.length, sha256: createHash('sha256').update(database).digest('hex') },
    blobs: blobs
      .map((bytes) => ({ address: addressOfBytes(bytes), size: bytes.length }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

/** A backup as it is written. */
export async function archiveOf(
  database: Uint8Array,
  blobs: readonly Uint8Array[],
  manifest: Manifest = manifestOf(database, blobs),
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const byAddress = new Map<ContentAddress, Uint8Array>(blobs.map((bytes) => [addressOfBytes(bytes), bytes]));
  await writeArchive(async (bytes) => void pieces.push(bytes), manifest, {
    database: () => chunksOf(database),
    async blob({ address }) {
      const bytes = byAddress.get(address);
      return bytes && chunksOf(bytes);
    },
  });
  return new Uint8Array(Buffer.concat(pieces));
}

/** An archive of any files, with the seal that belongs to it: what somebody makes who wants it to be believed. */
export function forgedArchive(files: readonly (readonly [name: string, content: Uint8Array | string])[]): Uint8Array {
  const before = Buffer.concat(files.map(([name, content]) => tarEntry(name, Buffer.from(content))));
  const seal = Buffer.from(`${createHash('sha256').update(before).digest('hex')}\n`);
  return new Uint8Array(Buffer.concat([before, tarEntry('tenon-backup/seal', seal), Buffer.alloc(endBytes)]));
}

export function tarEntry(name: string, content: Uint8Array): Uint8Array {
  return Buffer.concat([tarHeader(name, content.length), content, Buffer.alloc(paddingBytes(content.length))]);
}

/** A tar header with fields of one's own, and the sum that belongs to it. */
export function forgedHeader(name: string, size: number, change: (header: Buffer) => void): Uint8Array {
  const header = Buffer.from(tarHeader(name.slice(0, 100), size));
  change(header);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  if (header.length !== blockBytes) throw new Error('A header has one block');
  return header;
}
