/** What something was at several moments of about the last minute. */
export type Window<T> = ReturnType<typeof createWindow<T>>;

const minuteMs = 60_000;

/** @param now any clock that goes on alone, in milliseconds */
export function createWindow<T>(initial: T, now: () => number) {
  const noted = [{ value: initial, atMs: now() }];
  return {
    /** Notes what it is now, and forgets what is older than a minute, but for one value. */
    note(value: T): void {
      const atMs = now();
      noted.push({ value, atMs });
      while ((noted[1]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs - minuteMs) noted.shift();
    },
    /** What it was a minute ago, or when it was noted first, and how long ago that is in milliseconds. */
    first(): { readonly value: T; readonly agoMs: number } {
      const { value, atMs } = noted[0] ?? { value: initial, atMs: now() };
      return { value, agoMs: now() - atMs };
    },
  };
}
