/** What happened during a chaos test. */
export interface Report {
  /** The number of times that each event happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Broken promises, each with its time; empty after a successful test. */
  readonly violations: readonly string[];
  /** The longest duration of each timed operation, in milliseconds. */
  readonly longestMs: ReadonlyMap<string, number>;
  count(event: string): void;
  time(operation: string, ms: number): void;
  violation(description: string): void;
}

const maxViolations = 30;

export function createReport(now: () => number): Report {
  const counts = new Map<string, number>();
  const longestMs = new Map<string, number>();
  const violations: string[] = [];
  const count = (event: string): void => void counts.set(event, (counts.get(event) ?? 0) + 1);
  return {
    counts,
    longestMs,
    violations,
    count,
    time: (operation, ms) => void longestMs.set(operation, Math.max(ms, longestMs.get(operation) ?? 0)),
    violation(description) {
      count('violation');
      if (violations.length < maxViolations) violations.push(`${Math.round(now())} ms: ${description}`);
    },
  };
}
