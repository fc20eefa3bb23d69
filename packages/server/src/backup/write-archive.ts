import { createHash } from 'node:crypto';
import { BackupError } from './errors.ts';
import { archiveBytes, fileNames, formatManifest, formatSeal, type Manifest } from './manifest.ts';
import { endBytes, paddingBytes, tarHeader } from './tar.ts';

/** Takes the archive, a piece after the other. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

/** Where the files come from that a manifest lists. */
export interface ArchiveSources {
  readonly database: () => AsyncIterable<Uint8Array>;
  readonly blob: (blob: Manifest['blobs'][number]) => Promise<AsyncIterable<Uint8Array> | undefined>;
}

/**
 * Writes a backup. What the manifest says of a file is demanded of its bytes, so that no backup is made that could not be
 * restored.
 *
 * @returns how many bytes were written
 * @throws BackupError `damaged_data` when a blob is not there or not as listed
 */
export async function writeArchive(sink: Sink, manifest: Manifest, sources: ArchiveSources): Promise<number> {
  const all = createHash('sha256');
  let written = 0;
  const put = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length === 0) return;
    all.update(bytes);
    written += bytes.length;
    await sink(bytes);
  };
  const putFile = async (name: string, size: number, sha256: string, chunks: AsyncIterable<Uint8Array>) => {
    await put(tarHeader(name, size));
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of chunks) {
      hash.update(chunk);
      length += chunk.length;
      await put(chunk);
    }
    if (length !== size || hash.digest('hex') !== sha256) throw notWhole(`${name} has other bytes than it should`);
    await put(new Uint8Array(paddingBytes(size)));
  };

  const text = formatManifest(manifest);
  await put(tarHeader(fileNames.manifest, text.length));
  await put(text);
  await put(new Uint8Array(paddingBytes(text.length)));
  const { size, sha256 } = manifest.database;
  await putFile(fileNames.database, size, sha256, sources.database());
  for (const blob of manifest.blobs) {
    const chunks = await sources.blob(blob);
    if (chunks === undefined) throw notWhole(`content ${blob.address} is missing`);
    await putFile(fileNames.blob(blob.address), blob.size, hexOf(blob.address), chunks);
  }
  const seal = formatSeal(all.copy().digest('hex'));
  await put(tarHeader(fileNames.seal, seal.length));
  await put(seal);
  await put(new Uint8Array(paddingBytes(seal.length) + endBytes));
  if (written !== archiveBytes(text.length, manifest)) throw new Error(`The backup has ${written} bytes`);
  return written;
}

function hexOf(address: string): string {
  return Buffer.from(address, 'base64url').toString('hex');
}

function notWhole(what: string): BackupError {
  return new BackupError('damaged_data', `Cannot back up: ${what}. tenon admin verify tells what else is not whole.`);
}
