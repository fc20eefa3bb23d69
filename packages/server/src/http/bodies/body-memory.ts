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

export type ByteBudget = ReturnType<typeof createByteBudget>;

export interface ByteLease {
  /** Takes more bytes from the budget. Returns `false`, and takes none, if the budget doesn't allow them for this caller. */
  take(bytes: number): boolean;
  /** Returns all bytes to the budget. Later `take()` calls fail. Idempotent. */
  end(): void;
}

/**
 * Creates a budget that no caller can exhaust alone. The requests of a caller with several requests may together take at most as many bytes
 * as stay free for others: half of the budget for one such caller, a third each for two, and so on. A caller's only request may take
 * all free bytes.
 */
export function createByteBudget(maxBytes: number) {
  const usedByCaller = new Map<string, number>();
  let used = 0;
  return {
    /** Starts a lease of zero bytes for one request. */
    lease(caller: string): ByteLease {
      let [taken, hasEnded] = [0, false];
      return {
        take(bytes) {
          const callerBytes = usedByCaller.get(caller) ?? 0;
          const freeAfter = maxBytes - used - bytes;
          const isOnlyRequest = callerBytes === taken;
          if (hasEnded || freeAfter < 0 || (!isOnlyRequest && callerBytes + bytes > freeAfter)) return false;
          used += bytes;
          taken += bytes;
          usedByCaller.set(caller, callerBytes + bytes);
          return true;
        },
        end() {
          hasEnded = true;
          used -= taken;
          const remaining = (usedByCaller.get(caller) ?? 0) - taken;
          if (remaining > 0) usedByCaller.set(caller, remaining);
          else usedByCaller.delete(caller);
          taken = 0;
        },
      };
    },
    get used(): number {
      return used;
    },
  };
}
