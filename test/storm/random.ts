/** Chance that is the same for the same seed. */
export interface Chance {
  /** From 0 up to, and without, 1. */
  number(): number;
  /** A whole number from `from` up to, and with, `to`. */
  between(from: number, to: number): number;
  pick<T>(from: readonly T[]): T;
  shuffled<T>(from: readonly T[]): T[];
  /** Another one, which goes its own way from here on. */
  fork(): Chance;
}

/** Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const number = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(number() * (to - from + 1));
  return {
    number,
    between,
    pick: <T>(from: readonly T[]) => from[between(0, from.length - 1)] as T,
    shuffled(from) {
      const left = [...from];
      return left.map((_, at) => {
        const other = between(at, left.length - 1);
        [left[at], left[other]] = [left[other] as never, left[at] as never];
        return left[at] as never;
      });
    },
    fork: () => createChance(between(0, 2 ** 32 - 1)),
  };
}
