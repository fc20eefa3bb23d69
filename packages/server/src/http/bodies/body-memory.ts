const initialBytes = 64 * 1024;

/**
 * A buffer for one request body. It grows with the received bytes, not with the announced length, and is freed explicitly. Bodies are
 * large and arrive faster than the garbage collector would free them.
 */
export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** @param announcedBytes the `content-length`, if known: the buffer doesn't grow beyond it before more bytes arrive */
export function createBodyMemory(announcedBytes = 0) {
  let buffer = new ArrayBuffer(0);
  let length = 0;
  return {
    add(chunk: Uint8Array): void {
      const needed = length + chunk.length;
      if (needed > buffer.byteLength) {
        const doubled = Math.max(initialBytes, 2 * buffer.byteLength, needed);
        buffer = buffer.transfer(announcedBytes >= needed ? Math.min(announcedBytes, doubled) : doubled);
      }
      new Uint8Array(buffer).set(chunk, length);
      length = needed;
    },
    /** Returns the received bytes without copying them. */
    bytes(): Buffer<ArrayBuffer> {
      if (length < buffer.byteLength) buffer = buffer.transfer(length);
      return Buffer.from(buffer);
    },
    /** Frees the memory and detaches the result of `bytes()`. */
    free(): void {
      buffer = buffer.transfer(0);
      length = 0;
    },
  };
}
