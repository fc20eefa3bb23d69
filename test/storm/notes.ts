/** What a storm came to. */
export interface Notes {
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** What must never be, in words, with the moment. */
  readonly faults: readonly string[];
  /** How long what took at the most, in milliseconds. */
  readonly longest: ReadonlyMap<string, number>;
  count(what: string): void;
  time(what: string, ms: number): void;
  wrong(what: string): void;
}

/** More are not kept: the first ones tell. */
const maxFaults = 30;

export function createNotes(now: () => number): Notes {
  const counts = new Map<string, number>();
  const longest = new Map<string, number>();
  const faults: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  return {
    counts,
    longest,
    faults,
    count,
    time: (what, ms) => void longest.set(what, Math.max(ms, longest.get(what) ?? 0)),
    wrong(what) {
      count('FAULT');
      if (faults.length < maxFaults) faults.push(`${Math.round(now())} ms: ${what}`);
    },
  };
}
