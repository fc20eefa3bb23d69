import { open } from 'node:fs/promises';

/** How many bytes a chunk has at the most. */
const chunkBytes = 256 * 1024;

/**
 * Reads a stretch of a file, a chunk whenever one is asked for. The file is opened with the first chunk and closed after the
 * last, or when the reader stops: what is never read holds nothing open.
 *
 * @param first offset of the first byte
 * @param end offset after the last byte
 * @param scratch where each chunk is put in turn; without it each has memory of its own
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
    for (let at = first; at < end; ) {
      const wanted = Math.min(scratch?.length ?? chunkBytes, end - at);
      const { buffer, bytesRead } = await handle.read(scratch ?? Buffer.allocUnsafe(wanted), 0, wanted, at);
      if (bytesRead === 0) throw new Error(`Cannot read the blob at ${path}: it ends at byte ${at}, not at ${end}`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
