import { crc32, inflateRawSync } from 'node:zlib';

/** A file of a ZIP archive. */
export interface ZipFile {
  /** As the archive has it: it can be any path. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ZipLimits {
  readonly maxEntries: number;
  /** Of all files together. */
  readonly maxTotalBytes: number;
  /** The size of a file above 1 MiB, divided by its compressed size. */
  readonly maxRatio: number;
}

/** An archive that can't be read. The message completes "the archive …". */
export class ZipError extends Error {
  override readonly name = 'ZipError';
}

const signatures = { local: 0x0403_4b50, central: 0x0201_4b50, end: 0x0605_4b50 };
const sizes = { local: 30, central: 46, end: 22, maxComment: 0xff_ff };
const ratioAppliesFrom = 1024 ** 2;
const fileTypes = { mask: 0o170_000, unknown: 0, regular: 0o100_000 };

/**
 * Reads the files of a ZIP archive: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT. Folders are left out. Archives of several
 * parts, ZIP64, encryption, links, and other methods than deflate are refused.
 *
 * @throws ZipError
 */
export function readZip(archive: Uint8Array, limits: ZipLimits): ZipFile[] {
  try {
    return readEntries(Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength), limits);
  } catch (error) {
    if (error instanceof RangeError) throw new ZipError('is cut off, or damaged');
    throw error;
  }
}

function readEntries(archive: Buffer, limits: ZipLimits): ZipFile[] {
  const end = findEnd(archive);
  const [parts, entries, start] = [archive.readUInt32LE(end + 4), archive.readUInt16LE(end + 10), end + 16];
  if (parts !== 0 || archive.readUInt16LE(end + 8) !== entries) throw new ZipError('has several parts');
  const directory = archive.readUInt32LE(start);
  if (entries === 0xff_ff || directory === 0xffff_ffff)
    throw new ZipError('is a ZIP64 archive, which is not supported');
  if (entries > limits.maxEntries) throw new ZipError(`has ${entries} entries; the limit is ${limits.maxEntries}`);
  const files: ZipFile[] = [];
  let totalBytes = 0;
  let at = directory;
  for (let index = 0; index < entries; index++) {
    const entry = readEntry(archive, at);
    at = entry.next;
    if (entry.name.endsWith('/')) continue;
    totalBytes += entry.size;
    if (totalBytes > limits.maxTotalBytes) {
      throw new ZipError(`has files of more than ${limits.maxTotalBytes} bytes together`);
    }
    if (entry.size > ratioAppliesFrom && entry.size > limits.maxRatio * entry.compressedSize) {
      throw new ZipError(`compresses ${shown(entry.name)} by more than 1:${limits.maxRatio}`);
    }
    files.push({ name: entry.name, bytes: contentOf(archive, entry) });
  }
  return files;
}

function findEnd(archive: Buffer): number {
  const last = archive.length - sizes.end;
  for (let at = last; at >= Math.max(0, last - sizes.maxComment); at--) {
    if (archive.readUInt32LE(at) === signatures.end && archive.readUInt16LE(at + 20) === last - at) return at;
  }
  throw new ZipError('is not a ZIP archive, or is cut off');
}

type Entry = ReturnType<typeof readEntry>;

/** Reads an entry of the central directory. */
function readEntry(archive: Buffer, at: number) {
  if (archive.readUInt32LE(at) !== signatures.central) throw new ZipError('has a damaged directory');
  const lengths = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
  const [nameLength = 0, extraLength = 0, commentLength = 0] = lengths;
  const name = nameAt(archive, at + sizes.central, nameLength);
  const isUnix = archive.readUInt8(at + 5) === 3;
  const type = isUnix ? (archive.readUInt32LE(at + 38) >>> 16) & fileTypes.mask : fileTypes.unknown;
  if (!name.endsWith('/') && type !== fileTypes.unknown && type !== fileTypes.regular) {
    throw new ZipError(`has ${shown(name)}, which is a link or a device`);
  }
  if ((archive.readUInt16LE(at + 8) & 1) === 1) throw new ZipError(`has ${shown(name)}, which is encrypted`);
  return {
    name,
    method: archive.readUInt16LE(at + 10),
    checksum: archive.readUInt32LE(at + 16),
    compressedSize: archive.readUInt32LE(at + 20),
    size: archive.readUInt32LE(at + 24),
    offset: archive.readUInt32LE(at + 42),
    next: at + sizes.central + nameLength + extraLength + commentLength,
  };
}

function contentOf(archive: Buffer, { name, method, checksum, compressedSize, size, offset }: Entry): Uint8Array {
  const nameLength = archive.readUInt16LE(offset + 26);
  if (archive.readUInt32LE(offset) !== signatures.local || nameAt(archive, offset + sizes.local, nameLength) !== name) {
    throw new ZipError(`has ${shown(name)} only in its directory`);
  }
  const start = offset + sizes.local + nameLength + archive.readUInt16LE(offset + 28);
  const compressed = archive.subarray(start, start + compressedSize);
  const bytes = method === 0 ? compressed : method === 8 ? inflated(compressed, size) : undefined;
  if (bytes === undefined) throw new ZipError(`compresses ${shown(name)} by a method that is not supported`);
  if (bytes.length !== size || crc32(bytes) !== checksum) throw new ZipError(`has a damaged ${shown(name)}`);
  return new Uint8Array(bytes);
}

/** @returns nothing for damaged bytes, or for more than `size` */
function inflated(bytes: Buffer, size: number): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) });
  } catch {
    return Buffer.alloc(0);
  }
}

function nameAt(archive: Buffer, start: number, length: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(archive.subarray(start, start + length));
  } catch {
    throw new ZipError('has a name that is not UTF-8');
  }
}

function shown(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200).toWellFormed()}…` : name);
}
