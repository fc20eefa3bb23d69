/** What a storm came to. */
export interface Notes {
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** What must never be, in words, with the moment. */
  readonly faults: readonly string[];
  count(what: string): void;
  wrong(what: string): void;
}

/** More are not kept: the first ones tell. */
const maxFaults = 30;

export function createNotes(now: () => number): Notes {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  return {
    counts,
    faults,
    count,
    wrong(what) {
      count('FAULT');
      if (faults.length < maxFaults) faults.push(`${Math.round(now())} ms: ${what}`);
    },
  };
}
