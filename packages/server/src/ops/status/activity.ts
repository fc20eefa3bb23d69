import { type MinuteLoad, type RequestKind, type RequestLoad, requestKinds } from '@tenon/protocol';
import { secondsBuckets } from '../metrics/definitions.ts';

/** The upper bounds of the buckets for durations, in milliseconds. */
export const boundsMs: readonly number[] = secondsBuckets.map((seconds) => seconds * 1000);

/** The requests of a kind since the start of the process. */
export interface RequestTotals {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /** The number of requests in each bucket of durations. The last bucket has no upper bound. */
  readonly bucketCounts: readonly number[];
}

export type TotalsByKind = { readonly [Kind in RequestKind]: RequestTotals };

/** The load of the last minute, and of each minute of the last hour. */
export type Activity = ReturnType<typeof createActivity>;

const minuteMs = 60_000;
const minutesKept = 60;

/** How early a tick may come. */
const tickToleranceMs = 2_000;

export const kinds = Object.keys(requestKinds) as readonly RequestKind[];

/**
 * @param read returns the totals
 * @param boundsMs the upper bounds of the buckets, ascending
 * @param now a monotonic clock, in milliseconds
 */
export function createActivity(read: () => TotalsByKind, boundsMs: readonly number[], now: () => number) {
  const window = createWindow(read(), now);
  const minutes: MinuteLoad[] = [];
  let minute = { startedAtMs: now(), totals: sumOf(read()) };
  return {
    /** Call every few seconds. */
    tick(): void {
      const totals = read();
      window.add(totals);
      if (now() - minute.startedAtMs < minuteMs - tickToleranceMs) return;
      const next = { startedAtMs: now(), totals: sumOf(totals) };
      const { p50Ms, ...load } = loadSince(minute.totals, next.totals, boundsMs);
      minutes.push(load);
      if (minutes.length > minutesKept) minutes.shift();
      minute = next;
    },
    /** The load of about the last minute. */
    recent(): { readonly seconds: number; readonly kinds: { [Kind in RequestKind]: RequestLoad } } {
      const totals = read();
      const { value, agoMs } = window.first();
      const loads = kinds.map((kind) => [kind, loadSince(value[kind], totals[kind], boundsMs)] as const);
      const byKind = Object.fromEntries(loads) as { [Kind in RequestKind]: RequestLoad };
      return { seconds: agoMs / 1000, kinds: byKind };
    },
    /** The minutes of the last hour, over all kinds; `untilMsAgo` is the time since the end of the last minute. */
    history: (): { readonly untilMsAgo: number; readonly minutes: MinuteLoad[] } => ({
      untilMsAgo: now() - minute.startedAtMs,
      minutes: [...minutes],
    }),
  };
}

export function noTotals(bounds: number): RequestTotals {
  return { requests: 0, refused: 0, failed: 0, bucketCounts: new Array<number>(bounds + 1).fill(0) };
}

/** @param sign -1 subtracts `b` */
export function addTotals(a: RequestTotals, b: RequestTotals, sign: 1 | -1 = 1): RequestTotals {
  return {
    requests: a.requests + sign * b.requests,
    refused: a.refused + sign * b.refused,
    failed: a.failed + sign * b.failed,
    bucketCounts: a.bucketCounts.map((count, bucket) => count + sign * (b.bucketCounts[bucket] ?? 0)),
  };
}

function sumOf(totals: TotalsByKind): RequestTotals {
  return kinds.map((kind) => totals[kind]).reduce((sum, one) => addTotals(sum, one));
}

function loadSince(before: RequestTotals, totals: RequestTotals, boundsMs: readonly number[]): RequestLoad {
  const { bucketCounts, ...counts } = addTotals(totals, before, -1);
  return { ...counts, p50Ms: quantile(bucketCounts, boundsMs, 0.5), p99Ms: quantile(bucketCounts, boundsMs, 0.99) };
}

/** Returns the upper bound of the bucket that contains a quantile; the largest bound for the last bucket. */
function quantile(bucketCounts: readonly number[], boundsMs: readonly number[], share: number): number | null {
  const all = bucketCounts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let cumulative = 0;
  for (const [bucket, boundMs] of boundsMs.entries()) {
    cumulative += bucketCounts[bucket] ?? 0;
    if (cumulative >= share * all) return boundMs;
  }
  return boundsMs.at(-1) ?? null;
}

/** Keeps the values of about the last minute. */
export type Window<T> = ReturnType<typeof createWindow<T>>;

/** @param now a monotonic clock, in milliseconds */
export function createWindow<T>(initial: T, now: () => number) {
  const values = [{ value: initial, atMs: now() }];
  return {
    /** Adds a value, and drops older ones, except the last that is at least a minute old. */
    add(value: T): void {
      const atMs = now();
      values.push({ value, atMs });
      while ((values[1]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs - minuteMs) values.shift();
    },
    /** Returns the value of a minute ago, or the oldest, and its age in milliseconds. */
    first(): { readonly value: T; readonly agoMs: number } {
      const { value, atMs } = values[0] ?? { value: initial, atMs: now() };
      return { value, agoMs: now() - atMs };
    },
  };
}
