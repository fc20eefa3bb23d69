import { crc32, deflateRawSync } from 'node:zlib';

/** An entry of a ZIP archive, which can contradict itself. */
export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Uint8Array;
  /** The file type and permissions of Unix. */
  readonly mode?: number;
  readonly isStored?: boolean;
  readonly isEncrypted?: boolean;
  /** What the directory says instead of the truth. */
  readonly claims?: {
    readonly size?: number;
    readonly checksum?: number;
    readonly method?: number;
    readonly name?: string;
  };
}

/** Packs a ZIP archive. */
export function zip(entries: readonly ZipEntry[], comment = ''): Buffer {
  const [locals, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const {
    name: given,
    content = '',
    mode = 0o100_644,
    isStored = false,
    isEncrypted = false,
    claims = {},
  } of entries) {
    const bytes = Buffer.from(content);
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const name = Buffer.from(given);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(isEncrypted ? 1 : 0x800, 2);
    fields.writeUInt16LE(claims.method ?? (isStored ? 0 : 8), 4);
    fields.writeUInt32LE(claims.checksum ?? crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(claims.size ?? bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]);
    const claimed = Buffer.from(claims.name ?? name);
    fields.writeUInt16LE(claimed.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(mode * 65_536, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), fields, rest, claimed);
    locals.push(local);
    offset += local.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...locals, ...directory, Buffer.from('PK\x05\x06'), end, Buffer.from(comment)]);
}
