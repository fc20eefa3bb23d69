/*
 * The little of the tar format that backups use, so that any `tar` lists and unpacks them: regular files in the POSIX form
 * (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06), one after the other. A header follows
 * from the name and the size alone. That makes reading strict: a header is right if it is byte for byte the one that would
 * have been written, so links, paths that lead elsewhere, and fields that readers understand differently are never looked at.
 */

/** Headers take a block, and files fill whole ones. */
export const blockBytes = 512;

/** The largest size that eleven octal digits hold: 8 GiB less one byte. */
const maxOctalSize = 8 ** 11 - 1;

const sizeField = { at: 124, length: 12 } as const;
const checksumField = { at: 148, length: 8 } as const;

/**
 * The header of a regular file that only its owner may read.
 *
 * @param name 100 bytes of ASCII at the most
 */
export function tarHeader(name: string, size: number): Uint8Array {
  if (name.length > 100) throw new RangeError(`Cannot name a file in an archive "${name}": that is too long`);
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 'latin1');
  header.write('0000600\0', 100, 'latin1'); // mode
  header.write('0000000\0', 108, 'latin1'); // user
  header.write('0000000\0', 116, 'latin1'); // group
  writeSize(header, size);
  header.write('00000000000\0', 136, 'latin1'); // time of modification
  header.fill(' ', checksumField.at, checksumField.at + checksumField.length);
  header.write('0', 156, 'latin1'); // a regular file
  header.write('ustar\0', 257, 'latin1');
  header.write('00', 263, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, checksumField.at, 'latin1');
  return new Uint8Array(header);
}

/** The size that a header tells; `undefined` where it is none that {@link tarHeader} writes. */
export function sizeInHeader(header: Uint8Array): number | undefined {
  const field = Buffer.from(header.subarray(sizeField.at, sizeField.at + sizeField.length));
  if (field[0] === 0x80) {
    const size = field.readBigUInt64BE(4);
    return size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : undefined;
  }
  const digits = field.toString('latin1');
  return /^[0-7]{11}\0$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

/** How many zeros follow a file of a size. */
export function paddingBytes(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** How many bytes of an archive a file takes, header and padding included. */
export function entryBytes(size: number): number {
  return blockBytes + size + paddingBytes(size);
}

/** What ends an archive. */
export const endBytes = 2 * blockBytes;

/** Sizes beyond 8 GiB are binary, marked by the first bit, as GNU's and all others' `tar` reads them. */
function writeSize(header: Buffer, size: number): void {
  if (size <= maxOctalSize) {
    header.write(`${size.toString(8).padStart(11, '0')}\0`, sizeField.at, 'latin1');
  } else {
    header[sizeField.at] = 0x80;
    header.writeBigUInt64BE(BigInt(size), sizeField.at + 4);
  }
}
