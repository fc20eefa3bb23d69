import { open } from 'node:fs/promises';

/** The maximum size of a chunk. */
const chunkBytes = 256 * 1024;

/**
 * Reads a byte range of a file, chunk by chunk. The generator opens the file when the consumer requests the first chunk, and closes it
 * after the last chunk or when the consumer stops.
 *
 * @param first offset of the first byte
 * @param end offset after the last byte
 * @param scratch a buffer to reuse for all chunks; without it, each chunk has a new buffer
 */
export async function* readChunks(
  path: string,
  first: number,
  end: number,
  scratch?: Uint8Array,
): AsyncGenerator<Uint8Array, void> {
  if (first >= end) return;
  const handle = await open(path, 'r');
  try {
    for (let offset = first; offset < end; ) {
      const length = Math.min(scratch?.length ?? chunkBytes, end - offset);
      const { buffer, bytesRead } = await handle.read(scratch ?? Buffer.allocUnsafe(length), 0, length, offset);
      if (bytesRead === 0) {
        throw new Error(`Cannot read the blob at ${path}: the file ends at byte ${offset}, expected at least ${end}`);
      }
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
