/** A bounded amount of memory that many requests share. */
export interface ByteBudget {
  /** Takes so many bytes; `false`, and nothing is taken, when they aren't there. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  readonly used: number;
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > maxBytes) return false;
      used += bytes;
      return true;
    },
    give(bytes) {
      used -= bytes;
    },
    get used() {
      return used;
    },
  };
}
