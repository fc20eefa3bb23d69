import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/*
 * Tar archives of regular files in one canonical form (POSIX ustar): fixed mode, owner, and time, no links, no extensions. The reader
 * rebuilds each header from its name and size and compares the bytes, so that it accepts no other archive. That is why this is no library:
 * libraries accept many forms.
 */

export const blockBytes = 512;

/** The largest size that a header can have, in bytes. */
export const maxFileBytes = 8 ** 11 - 1;

/** Of a name, which is ASCII. */
const maxNameBytes = 100;

/** The canonical header of a regular file. */
export function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, '0'), at, 'ascii');
  header.write(name, 0, maxNameBytes, 'ascii');
  octal(0o644, 100, 7);
  octal(0, 108, 7); // user id
  octal(0, 116, 7); // group id
  octal(size, 124, 11);
  octal(0, 136, 11); // time of the last change
  header.fill(' ', 148, 156); // the checksum counts itself as spaces
  header.write('0', 156, 'ascii'); // a regular file
  header.write('ustar\u000000', 257, 'ascii');
  octal(0, 329, 7); // device
  octal(0, 337, 7);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header.write('\0 ', 154, 'ascii');
  return header;
}

/** The zeros after a file's content. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
}

/** The end of an archive. */
export const tarEnd = Buffer.alloc(2 * blockBytes);

/** A file in an archive. */
export interface TarEntry {
  readonly name: string;
  readonly size: number;
  /** Where the content starts in the archive. */
  readonly offset: number;
}

/** Reads `length` bytes at `offset`, or fewer at the end. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/**
 * Reads the headers of an archive in canonical form. The contents are not read.
 *
 * @param totalBytes the size of the archive
 * @throws CliError `invalid_bundle`
 */
export async function* readTar(read: ReadAt, totalBytes: number): AsyncGenerator<TarEntry> {
  for (let offset = 0; ; ) {
    const header = await read(offset, blockBytes);
    if (header.length < blockBytes) throw invalidBundle(`it ends within the header at byte ${offset}`);
    if (isZero(header)) return requireEnd(read, offset, totalBytes);
    const entry = readHeader(header, offset);
    const end = entry.offset + entry.size;
    const padding = tarPadding(entry.size).length;
    if (end + padding + tarEnd.length > totalBytes) throw invalidBundle(`it ends within the file ${entry.name}`);
    if (!isZero(await read(end, padding))) throw invalidBundle(`there are bytes behind the file ${entry.name}`);
    yield entry;
    offset = end + padding;
  }
}

async function requireEnd(read: ReadAt, offset: number, totalBytes: number): Promise<void> {
  const isEnd = offset + tarEnd.length === totalBytes && isZero(await read(offset, tarEnd.length));
  if (!isEnd)
    throw invalidBundle(`its end at byte ${offset} is not that of an archive: two blocks of zeros, and nothing else`);
}

function readHeader(header: Buffer, offset: number): TarEntry {
  const name = header.toString('latin1', 0, maxNameBytes).replace(/\0.*$/s, '');
  const digits = header.toString('latin1', 124, 135);
  const size = /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : 0;
  if (/^[\x21-\x7e]+$/.test(name) && tarHeader(name, size).equals(header)) {
    return { name, size, offset: offset + blockBytes };
  }
  throw invalidBundle(
    `the header at byte ${offset} (${JSON.stringify(name.slice(0, maxNameBytes))}) is not that of a regular file, as tenon bundle export writes it`,
  );
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** A bundle that is refused whole. */
export function invalidBundle(why: string, cause?: unknown): CliError {
  return new CliError('invalid_bundle', `The bundle is refused: ${why}. Nothing was imported.`, {
    exitCode: exitCodes.refused,
    cause,
  });
}
