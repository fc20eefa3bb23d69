/** A seeded random number generator: the same seed gives the same numbers. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number;
  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  /** True with this probability, a number from 0 to 1. */
  chance(probability: number): boolean;
  shuffle<T>(items: readonly T[]): T[];
  /** An independent generator, seeded by this one. */
  fork(): Random;
}

/** Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (min, max) => min + below(max - min + 1),
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    chance: (probability) => next() < probability,
    shuffle<T>(items: readonly T[]) {
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = below(last + 1);
        [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
      }
      return shuffled;
    },
    fork: () => createRandom(below(2 ** 32)),
  };
}
