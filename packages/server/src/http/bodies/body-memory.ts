const firstBytes = 64 * 1024;

/**
 * The memory of one body. It grows as the body comes, whatever a client announces, and is given back when it is no longer needed,
 * not when somebody collects garbage: bodies are large, and come faster than that.
 */
export interface BodyMemory {
  add(chunk: Uint8Array): void;
  /** What was added, without a copy. */
  bytes(): Buffer<ArrayBuffer>;
  /** Frees it: what `bytes` returned is empty from now on. */
  free(): void;
}

/** @param announcedBytes how much is to come, as far as that is known; no more is taken before more has come */
export function createBodyMemory(announcedBytes = 0): BodyMemory {
  let buffer = new ArrayBuffer(0);
  let length = 0;
  return {
    add(chunk) {
      const needed = length + chunk.length;
      if (needed > buffer.byteLength) {
        const doubled = Math.max(firstBytes, 2 * buffer.byteLength, needed);
        buffer = buffer.transfer(announcedBytes >= needed ? Math.min(announcedBytes, doubled) : doubled);
      }
      new Uint8Array(buffer).set(chunk, length);
      length = needed;
    },
    bytes() {
      if (length < buffer.byteLength) buffer = buffer.transfer(length);
      return Buffer.from(buffer);
    },
    free() {
      buffer = buffer.transfer(0);
      length = 0;
    },
  };
}
