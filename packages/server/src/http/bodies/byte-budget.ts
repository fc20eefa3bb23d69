/** A bounded amount of memory that many requests share. */
export interface ByteBudget {
  /** One request's share of it, which begins with nothing. */
  lease(caller: string): ByteLease;
  readonly used: number;
}

export interface ByteLease {
  /** Takes so many bytes more; `false`, and nothing is taken, when they aren't there for this caller. */
  take(bytes: number): boolean;
  /** Gives all back. Nothing can be taken afterwards; called again, it does nothing. */
  end(): void;
}

/**
 * Nobody fills it alone: whoever has more than one request may take no more with them than is left free for others, which is half of
 * all for one such caller, a third for each of two, and so on. A caller's only request may take what is there.
 */
export function createByteBudget(maxBytes: number): ByteBudget {
  const byCaller = new Map<string, number>();
  let used = 0;
  return {
    lease(caller) {
      let [taken, hasEnded] = [0, false];
      return {
        take(bytes) {
          const ofCaller = byCaller.get(caller) ?? 0;
          const left = maxBytes - used - bytes;
          const isAlone = ofCaller === taken;
          if (hasEnded || left < 0 || (!isAlone && ofCaller + bytes > left)) return false;
          used += bytes;
          taken += bytes;
          byCaller.set(caller, ofCaller + bytes);
          return true;
        },
        end() {
          hasEnded = true;
          used -= taken;
          const left = (byCaller.get(caller) ?? 0) - taken;
          if (left > 0) byCaller.set(caller, left);
          else byCaller.delete(caller);
          taken = 0;
        },
      };
    },
    get used() {
      return used;
    },
  };
}
