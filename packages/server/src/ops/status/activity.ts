import { type MinuteLoad, type RequestKind, type RequestLoad, requestKinds } from '@tenon/protocol';
import { secondsBuckets } from '../metrics/definitions.ts';

/** The bounds between which it is counted how long requests took, in milliseconds. */
export const boundsMs: readonly number[] = secondsBuckets.map((seconds) => seconds * 1000);

/** Requests since the start of the process, of one kind. */
export interface RequestTotals {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /** How many took how long: one number for each of the bounds, and one for what took longer. */
  readonly spread: readonly number[];
}

export type TotalsByKind = { readonly [Kind in RequestKind]: RequestTotals };

/** What requests came of late. */
export type Activity = ReturnType<typeof createActivity>;

const minuteMs = 60_000;
const minutesKept = 60;

/** Ticks come a little early or late. */
const tickSlackMs = 2_000;

export const kinds = Object.keys(requestKinds) as readonly RequestKind[];

/**
 * @param read what was counted so far
 * @param boundsMs the bounds of the spreads, in ascending order
 * @param now any clock that goes on alone, in milliseconds
 */
export function createActivity(read: () => TotalsByKind, boundsMs: readonly number[], now: () => number) {
  const window = createWindow(read(), now);
  const minutes: MinuteLoad[] = [];
  let minute = { startedAtMs: now(), totals: sumOf(read()) };
  return {
    /** To be called every few seconds. */
    tick(): void {
      const totals = read();
      window.note(totals);
      if (now() - minute.startedAtMs < minuteMs - tickSlackMs) return;
      const next = { startedAtMs: now(), totals: sumOf(totals) };
      const { p50Ms, ...load } = loadOf(difference(next.totals, minute.totals), boundsMs);
      minutes.push(load);
      if (minutes.length > minutesKept) minutes.shift();
      minute = next;
    },
    /** About the last minute. */
    recent(): { readonly seconds: number; readonly kinds: { [Kind in RequestKind]: RequestLoad } } {
      const totals = read();
      const { value, agoMs } = window.first();
      const loads = kinds.map((kind) => [kind, loadOf(difference(totals[kind], value[kind]), boundsMs)] as const);
      const byKind = Object.fromEntries(loads) as { [Kind in RequestKind]: RequestLoad };
      return { seconds: agoMs / 1000, kinds: byKind };
    },
    /** The last hour, of all kinds together; `untilMsAgo` is how long ago the last of the minutes ended. */
    history: (): { readonly untilMsAgo: number; readonly minutes: MinuteLoad[] } => ({
      untilMsAgo: now() - minute.startedAtMs,
      minutes: [...minutes],
    }),
  };
}

/** Totals before anything has come. */
export function noTotals(bounds: number): RequestTotals {
  return { requests: 0, refused: 0, failed: 0, spread: new Array<number>(bounds + 1).fill(0) };
}

export function addTotals(a: RequestTotals, b: RequestTotals): RequestTotals {
  return {
    requests: a.requests + b.requests,
    refused: a.refused + b.refused,
    failed: a.failed + b.failed,
    spread: a.spread.map((count, at) => count + (b.spread[at] ?? 0)),
  };
}

function sumOf(totals: TotalsByKind): RequestTotals {
  return kinds.map((kind) => totals[kind]).reduce(addTotals);
}

function difference(now: RequestTotals, before: RequestTotals): RequestTotals {
  return {
    requests: now.requests - before.requests,
    refused: now.refused - before.refused,
    failed: now.failed - before.failed,
    spread: now.spread.map((count, at) => count - (before.spread[at] ?? 0)),
  };
}

function loadOf({ spread, ...counts }: RequestTotals, boundsMs: readonly number[]): RequestLoad {
  return { ...counts, p50Ms: quantile(spread, boundsMs, 0.5), p99Ms: quantile(spread, boundsMs, 0.99) };
}

/** The bound below which that share of them is; the last one for what is above all. */
function quantile(spread: readonly number[], boundsMs: readonly number[], share: number): number | null {
  const all = spread.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let below = 0;
  for (const [at, boundMs] of boundsMs.entries()) {
    below += spread[at] ?? 0;
    if (below >= share * all) return boundMs;
  }
  return boundsMs.at(-1) ?? null;
}

/** What something was at several moments of about the last minute. */
export type Window<T> = ReturnType<typeof createWindow<T>>;

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
