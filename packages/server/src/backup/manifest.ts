import { type ContentAddress, isContentAddress } from '@tenon/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { BackupError } from './errors.ts';
import { endBytes, entryBytes } from './tar.ts';

/*
 * A backup is a tar archive of these files, in this order:
 *
 *   tenon-backup/manifest.json      what is in it
 *   tenon-backup/tenon.db           the metadata, a SQLite database
 *   tenon-backup/blobs/<SHA-256>    the bytes of plugins, by address as in the manifest
 *   tenon-backup/seal               the SHA-256 of everything before it
 */

/** The version of the archive's layout. It is counted up when an older release could not read a newer one's. */
export const formatVersion = 1;

/** No manifest is longer than this, in bytes: it has room for two million blobs. */
export const maxManifestBytes = 256 * 1024 * 1024;

export const fileNames = {
  manifest: 'tenon-backup/manifest.json',
  database: 'tenon-backup/tenon.db',
  blob: (address: ContentAddress) => `tenon-backup/blobs/${Buffer.from(address, 'base64url').toString('hex')}`,
  seal: 'tenon-backup/seal',
} as const;

const size = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const closed = { additionalProperties: false };

const manifest = Type.Object(
  {
    format: Type.Literal('tenon-backup'),
    formatVersion: Type.Literal(formatVersion),
    /** The release that made the backup. */
    tenonVersion: Type.String({ maxLength: 100 }),
    /** ISO 8601, UTC. */
    createdAt: Type.String({ maxLength: 100 }),
    /** The number of the database's schema. */
    schemaVersion: size,
    database: Type.Object({ size, sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }, closed),
    /** By address. */
    blobs: Type.Array(Type.Object({ address: Type.Unsafe<ContentAddress>(Type.String()), size }, closed)),
  },
  closed,
);

export type Manifest = Static<typeof manifest>;

const isManifest = Compile(manifest);

/** The manifest as it is written: a line for each blob. */
export function formatManifest({ blobs, ...head }: Manifest): Uint8Array {
  const lines = blobs.map((blob) => JSON.stringify(blob)).join(',\n');
  return new TextEncoder().encode(`${JSON.stringify(head).slice(0, -1)},"blobs":[\n${lines}\n]}\n`);
}

/** @throws BackupError `newer_backup`, `damaged_backup` */
export function parseManifest(bytes: Uint8Array): Manifest {
  const value = parseJson(bytes);
  if (isNewer(value)) {
    throw new BackupError(
      'newer_backup',
      'Cannot read the backup: a newer version of Tenon made it, in a newer format.',
    );
  }
  if (!isManifest.Check(value)) throw damaged('its manifest is none');
  let last = '';
  for (const { address } of value.blobs) {
    if (!isContentAddress(address) || address <= last) throw damaged('the manifest lists what is no content, or twice');
    last = address;
  }
  return value;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw damaged('its manifest is no JSON', cause);
  }
}

function isNewer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('formatVersion' in value)) return false;
  return typeof value.formatVersion === 'number' && value.formatVersion > formatVersion;
}

/** The seal's text: one line, as `sha256sum` would write it of the archive before it. */
export function formatSeal(sha256: string): Uint8Array {
  return new TextEncoder().encode(`${sha256}\n`);
}

/** How many bytes a whole backup has. */
export function archiveBytes(manifestSize: number, { database, blobs }: Manifest): number {
  const sealBytes = entryBytes(formatSeal('0'.repeat(64)).length);
  const contents = blobs.reduce((total, blob) => total + entryBytes(blob.size), 0);
  return entryBytes(manifestSize) + entryBytes(database.size) + contents + sealBytes + endBytes;
}

/** A backup that is not what was written: `what` completes "Cannot use the backup: …". */
export function damaged(what: string, cause?: unknown): BackupError {
  return new BackupError('damaged_backup', `Cannot use the backup: ${what}.`, { cause });
}
