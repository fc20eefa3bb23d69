/** Counts of how long things took, in steps of one hundredth, so that those of several processes can be added. */
export interface Latencies {
  note(us: number): void;
  /** Adds what another one has counted. */
  add(counts: Readonly<Record<number, number>>): void;
  readonly counts: Readonly<Record<number, number>>;
  readonly total: number;
  /**
   * The time, in milliseconds, within which so many of all lie; `undefined` when there are none.
   *
   * @param share of all, above 0 and at most 1: 0.99 for p99
   */
  percentileMs(share: number): number | undefined;
}

const step = Math.log(1.01);

export function createLatencies(): Latencies {
  const counts: Record<number, number> = {};
  let total = 0;
  const count = (at: number, times: number): void => {
    counts[at] = (counts[at] ?? 0) + times;
    total += times;
  };
  return {
    note: (us) => count(Math.ceil(Math.log(Math.max(us, 1)) / step), 1),
    add(others) {
      for (const [at, times] of Object.entries(others)) count(Number(at), times);
    },
    counts,
    get total() {
      return total;
    },
    percentileMs(share) {
      let left = Math.ceil(share * total);
      for (const at of Object.keys(counts)
        .map(Number)
        .sort((a, b) => a - b)) {
        left -= counts[at] ?? 0;
        if (left <= 0) return Math.exp(at * step) / 1000;
      }
      return undefined;
    },
  };
}
