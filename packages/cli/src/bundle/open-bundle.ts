import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { fileError } from '../files.ts';
import type { Io } from '../io.ts';
import { createProgress } from '../progress.ts';
import { type Catalog, parseJson, readCatalog } from './catalog.ts';
import { blobFile, catalogAnnotation, createLayout, indexFile, layoutFile, layoutText } from './layout.ts';
import { invalidBundle, type ReadAt, readTar, type TarEntry } from './tar.ts';

/** A bundle whose form and digests are checked. Its signatures are not. */
export interface Bundle {
  readonly catalog: Catalog;
  /** The size of the file. */
  readonly bytes: number;
  /** Reads a blob of the catalog, and checks its digest again: the file may have changed. */
  readonly read: (digest: string) => Promise<Buffer>;
}

/** The largest catalog and index, in bytes. */
const maxJsonBytes = 64 * 1024 * 1024;

const maxEntries = 200_000;

/** The largest blob, in bytes. An import holds one in memory. */
const maxBlobBytes = 1024 * 1024 * 1024;

const chunkBytes = 1024 * 1024;

/**
 * Opens a bundle for the time of `work`, and checks it whole: the form of the archive, the digest of each blob, and that there are exactly the
 * files that the catalog requires. Memory is bounded by the catalog, not by the modules.
 *
 * @throws CliError `invalid_bundle`; `file` if it can't be read
 */
export async function withBundle<T>(
  io: Pick<Io, 'stderr' | 'nowMs'>,
  isShown: boolean,
  path: string,
  signal: AbortSignal,
  work: (bundle: Bundle) => Promise<T>,
): Promise<T> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const progress = createProgress(io, isShown, 'Verifying', size);
    const bundle = await readBundle(file, size, signal, progress.advance).finally(progress.end);
    return await work(bundle);
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (cause) {
    throw fileError(`Cannot read the bundle from ${path}`, cause);
  }
  throw fileError(`Cannot read the bundle from ${path}`, new Error('it is no regular file'));
}

async function readBundle(
  file: FileHandle,
  totalBytes: number,
  signal: AbortSignal,
  onRead: (bytes: number) => void,
): Promise<Bundle> {
  const readAt: ReadAt = async (offset, length) => {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  };
  const entries = await readEntries(readAt, totalBytes, signal, onRead);
  const content = async ({ name, size, offset }: TarEntry, maxBytes: number) => {
    if (size > maxBytes) throw invalidBundle(`${name} has ${size} bytes, of at most ${maxBytes}`);
    return readAt(offset, size);
  };
  const find = (name: string): TarEntry => {
    const entry = entries.get(name);
    if (entry === undefined) throw invalidBundle(`the file ${name} is missing`);
    return entry;
  };
  const layout = await content(find(layoutFile), layoutText.length);
  if (layout.toString() !== layoutText) throw invalidBundle(`${layoutFile} does not say ${layoutText}`);
  const index = await content(find(indexFile), maxJsonBytes);
  const catalogBytes = await content(find(blobFile(catalogDigest(index))), maxJsonBytes);
  const catalog = readCatalog(catalogBytes);
  requireLayout(catalog, catalogBytes, index, entries);
  const read = async (digest: string) => {
    const entry = find(blobFile(digest));
    const bytes = await content(entry, maxBlobBytes);
    if (createHash('sha256').update(bytes).digest('hex') !== digest) throw otherDigest(entry.name);
    return bytes;
  };
  return { catalog, bytes: totalBytes, read };
}

/** The files of the archive, whose names, order, and digests are checked. */
async function readEntries(
  readAt: ReadAt,
  totalBytes: number,
  signal: AbortSignal,
  onRead: (bytes: number) => void,
): Promise<ReadonlyMap<string, TarEntry>> {
  const entries = new Map<string, TarEntry>();
  let last = '';
  for await (const entry of readTar(readAt, totalBytes)) {
    signal.throwIfAborted();
    const { name, size } = entry;
    const expected = [layoutFile, indexFile][entries.size];
    const digest = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(name)?.[1];
    const isExpected = expected === undefined ? digest !== undefined && name > last : name === expected;
    if (!isExpected) {
      throw invalidBundle(
        `the file ${JSON.stringify(name)} is unknown, duplicate, or out of order. The files are ${layoutFile}, ${indexFile}, and blobs by digest`,
      );
    }
    if (entries.size >= maxEntries) throw invalidBundle(`it has more than ${maxEntries} files`);
    if (size > maxBlobBytes) throw invalidBundle(`${name} has ${size} bytes, of at most ${maxBlobBytes}`);
    if (digest !== undefined && (await digestOf(readAt, entry, signal, onRead)) !== digest) throw otherDigest(name);
    entries.set(name, entry);
    last = digest === undefined ? '' : name;
  }
  return entries;
}

async function digestOf(
  readAt: ReadAt,
  { size, offset }: TarEntry,
  signal: AbortSignal,
  onRead: (bytes: number) => void,
): Promise<string> {
  const digest = createHash('sha256');
  for (let at = 0; at < size; at += chunkBytes) {
    signal.throwIfAborted();
    const chunk = await readAt(offset + at, Math.min(chunkBytes, size - at));
    digest.update(chunk);
    onRead(chunk.length);
  }
  return digest.digest('hex');
}

function otherDigest(name: string) {
  return invalidBundle(`the bytes of ${name} have another digest`);
}

function catalogDigest(index: Buffer): string {
  const { annotations } = Object(parseJson(index, indexFile)) as { readonly annotations?: Record<string, unknown> };
  const digest = /^sha256:([0-9a-f]{64})$/.exec(String(Object(annotations)[catalogAnnotation]))?.[1];
  if (digest === undefined) throw invalidBundle(`${indexFile} has no annotation ${catalogAnnotation} with a digest`);
  return digest;
}

/** Requires exactly the index and the blobs that the catalog leads to. */
function requireLayout(
  catalog: Catalog,
  catalogBytes: Buffer,
  index: Buffer,
  entries: ReadonlyMap<string, TarEntry>,
): void {
  const layout = createLayout(catalog, catalogBytes);
  if (!layout.index.equals(index)) throw invalidBundle(`${indexFile} is not that of its catalog`);
  const required = new Map(layout.blobs.map(({ digest, size }) => [blobFile(digest), size]));
  for (const [name, size] of required) {
    const entry = entries.get(name);
    if (entry === undefined) throw invalidBundle(`the file ${name} is missing`);
    if (entry.size !== size) throw invalidBundle(`${name} has ${entry.size} bytes, and its catalog says ${size}`);
  }
  for (const name of entries.keys()) {
    if (name.startsWith('blobs/') && !required.has(name)) {
      throw invalidBundle(`no entry of its catalog leads to the file ${name}`);
    }
  }
}
