import type { CallTotals, RollOutHalt } from '@tenon/protocol';
import type { CallSums } from '../db/call-report-records.ts';
import { percentile } from './durations.ts';

const p95 = 0.95;

/** The standard score of a confidence of 95 %, one-sided. */
const z = 1.645;

/** Returns what members see of summed reports. */
export function toCallTotals({ calls, errors, durations, memoryBytes }: CallSums): CallTotals {
  return {
    calls,
    errors,
    errorRate: calls === 0 ? null : errors / calls,
    p95Seconds: percentile(durations, p95),
    memoryBytes,
  };
}

/**
 * Compares the reports of a version with those of the version before, since the step began.
 *
 * A version with too few calls is not judged. If the version before has too few, its error rate counts as 0, and its durations and
 * memory are not compared. The error rate exceeds its limit if that is so with a confidence of 95 %: one failed call of 20 shows little.
 *
 * @returns why the roll-out must halt; `undefined` if it may go on
 */
export function judgeReports(
  { minCalls, errorRate, p95Ratio, memoryRatio }: RollOutHalt,
  version: CallTotals,
  previous: CallTotals | undefined,
): string | undefined {
  if (version.calls < minCalls) return undefined;
  const before = previous !== undefined && previous.calls >= minCalls ? previous : undefined;
  const reasons: string[] = [];
  if (errorRate !== null && leastIncrease(version, before) > errorRate) {
    const [rate, rateBefore] = [version.errorRate ?? 0, before?.errorRate ?? 0];
    const limit = `${percent(rateBefore)} before, at most ${percent(errorRate)} more`;
    reasons.push(`${percent(rate)} of ${version.calls} calls failed (${limit})`);
  }
  if (exceeds(version.p95Seconds, before?.p95Seconds, p95Ratio)) {
    const limit = `${milliseconds(before?.p95Seconds)} before, at most ${p95Ratio} times`;
    reasons.push(`95 % of the calls took up to ${milliseconds(version.p95Seconds)} (${limit})`);
  }
  if (exceeds(version.memoryBytes, before?.memoryBytes, memoryRatio)) {
    const limit = `${mebibytes(before?.memoryBytes)} before, at most ${memoryRatio} times`;
    reasons.push(`the memory grew to ${mebibytes(version.memoryBytes)} (${limit})`);
  }
  return reasons.length === 0 ? undefined : `Hosts report: ${reasons.join('; ')}.`;
}

/**
 * Returns how much greater an error rate is than that of the version before, at least, with a confidence of 95 %. It is Newcombe's hybrid
 * score interval (https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10).
 */
function leastIncrease(version: CallTotals, before: CallTotals | undefined): number {
  const [rate, rateBefore] = [version.errorRate ?? 0, before?.errorRate ?? 0];
  const mostBefore = before === undefined ? 0 : wilsonBound(before, 1);
  return rate - rateBefore - Math.hypot(rate - wilsonBound(version, -1), mostBefore - rateBefore);
}

/** Returns the lower (-1) or upper (1) bound of Wilson's score interval of an error rate. */
function wilsonBound({ calls, errors }: CallTotals, side: -1 | 1): number {
  const rate = errors / calls;
  const half = z * Math.sqrt((rate * (1 - rate)) / calls + (z / calls) ** 2 / 4);
  return (rate + z ** 2 / calls / 2 + side * half) / (1 + z ** 2 / calls);
}

function exceeds(value: number | null, before: number | null | undefined, ratio: number | null): boolean {
  return ratio !== null && value !== null && before != null && value > before * ratio;
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;
const milliseconds = (seconds: number | null | undefined): string =>
  `${Number(((seconds ?? 0) * 1000).toPrecision(3))} ms`;
const mebibytes = (bytes: number | null | undefined): string =>
  `${Number(((bytes ?? 0) / 2 ** 20).toPrecision(3))} MiB`;
