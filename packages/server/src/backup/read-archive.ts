import { createHash } from 'node:crypto';
import { BackupError } from './errors.ts';
import {
  archiveBytes,
  damaged,
  fileNames,
  formatSeal,
  type Manifest,
  maxManifestBytes,
  parseManifest,
} from './manifest.ts';
import { blockBytes, endBytes, paddingBytes, sizeInHeader, tarHeader } from './tar.ts';

/** Takes what is in a backup. Nothing of it is to be relied on before {@link readArchive} has resolved. */
export interface ArchiveTarget {
  /** Called first. */
  readonly begin: (manifest: Manifest) => Promise<void>;
  /** Takes the database. The chunks are to be read to their end. */
  readonly database: (chunks: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly blob: (blob: Manifest['blobs'][number], chunks: AsyncIterable<Uint8Array>) => Promise<void>;
}

/**
 * Reads a backup from its beginning to its end, and holds every byte of it to what can only have been written: see `tar.ts` and
 * `manifest.ts` for the layout.
 *
 * @param totalBytes how many there are, where that is known: a backup that was cut off is then refused at once
 * @throws BackupError `not_a_backup`, `damaged_backup`, `newer_backup`
 */
export async function readArchive(
  source: AsyncIterable<Uint8Array>,
  target: ArchiveTarget,
  totalBytes?: number,
): Promise<Manifest> {
  const reader = createReader(source);
  const text = await readManifest(reader);
  const manifest = parseManifest(text);
  const expected = archiveBytes(text.length, manifest);
  if (totalBytes !== undefined && totalBytes !== expected) {
    throw damaged(`it has ${totalBytes} bytes, and should have ${expected}`);
  }
  await target.begin(manifest);
  const { size, sha256 } = manifest.database;
  await readFile(reader, fileNames.database, size, sha256, target.database);
  for (const blob of manifest.blobs) {
    const sha256 = Buffer.from(blob.address, 'base64url').toString('hex');
    await readFile(reader, fileNames.blob(blob.address), blob.size, sha256, (chunks) => target.blob(blob, chunks));
  }
  const seal = formatSeal(reader.digest());
  await demand(reader, tarHeader(fileNames.seal, seal.length), 'its seal is missing');
  await demand(reader, seal, 'its seal is broken: some byte of it was changed');
  await demand(reader, new Uint8Array(paddingBytes(seal.length) + endBytes), 'it does not end as it should');
  await reader.demandEnd();
  return manifest;
}

async function readManifest(reader: Reader): Promise<Uint8Array> {
  const header = await reader.take(blockBytes).catch(() => undefined);
  const size = header && sizeInHeader(header);
  if (header === undefined || size === undefined || !isSame(header, tarHeader(fileNames.manifest, size))) {
    throw new BackupError('not_a_backup', 'Cannot use the backup: it is none that `tenon admin backup` made.');
  }
  if (size > maxManifestBytes) throw damaged(`its manifest is longer than ${maxManifestBytes} bytes`);
  const text = await reader.take(size);
  await demand(reader, new Uint8Array(paddingBytes(size)), 'its manifest is followed by something else');
  return text;
}

async function readFile(
  reader: Reader,
  name: string,
  size: number,
  sha256: string,
  take: (chunks: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  await demand(reader, tarHeader(name, size), `${name} is not where it should be`);
  const hash = createHash('sha256');
  let length = 0;
  const chunks = async function* () {
    for await (const chunk of reader.chunks(size)) {
      hash.update(chunk);
      length += chunk.length;
      yield chunk;
    }
  };
  await take(chunks());
  if (length !== size) throw new Error(`${name} was not read to its end`);
  if (hash.digest('hex') !== sha256) throw damaged(`${name} has other bytes than it should`);
  await demand(reader, new Uint8Array(paddingBytes(size)), `${name} is followed by something else`);
}

async function demand(reader: Reader, expected: Uint8Array, otherwise: string): Promise<void> {
  if (!isSame(await reader.take(expected.length), expected)) throw damaged(otherwise);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

interface Reader {
  /** The next so many bytes. */
  take(length: number): Promise<Uint8Array>;
  /** The next so many bytes, in chunks. */
  chunks(length: number): AsyncGenerator<Uint8Array>;
  /** The SHA-256 of all that was read so far, in hexadecimal. */
  digest(): string;
  demandEnd(): Promise<void>;
}

function createReader(source: AsyncIterable<Uint8Array>): Reader {
  const incoming = source[Symbol.asyncIterator]();
  const all = createHash('sha256');
  let rest: Uint8Array = new Uint8Array(0);

  /** The next bytes, as many as there are at hand and no more than wanted; `undefined` at the end. */
  const next = async (wanted: number): Promise<Uint8Array | undefined> => {
    while (rest.length === 0) {
      const { done, value } = await incoming.next();
      if (done) return undefined;
      rest = value;
    }
    const piece = rest.subarray(0, wanted);
    rest = rest.subarray(piece.length);
    return piece;
  };
  async function* chunks(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0; ) {
      const piece = await next(left);
      if (piece === undefined) throw damaged('it was cut off');
      all.update(piece);
      left -= piece.length;
      yield piece;
    }
  }
  return {
    chunks,
    async take(length) {
      const pieces: Uint8Array[] = [];
      for await (const piece of chunks(length)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
    digest: () => all.copy().digest('hex'),
    async demandEnd() {
      if ((await next(1)) !== undefined) throw damaged('something follows its end');
    },
  };
}
