import type { CallTotals, RollOutHalt } from '@tenon/protocol';
import type { CallSums } from '../db/call-report-records.ts';
import { percentile } from './durations.ts';

const p95 = 0.95;

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
 * memory are not compared.
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
  const [rate, rateBefore] = [version.errorRate ?? 0, before?.errorRate ?? 0];
  if (errorRate !== null && rate > rateBefore + errorRate) {
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

function exceeds(value: number | null, before: number | null | undefined, ratio: number | null): boolean {
  return ratio !== null && value !== null && before != null && value > before * ratio;
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;
const milliseconds = (seconds: number | null | undefined): string =>
  `${Number(((seconds ?? 0) * 1000).toPrecision(3))} ms`;
const mebibytes = (bytes: number | null | undefined): string =>
  `${Number(((bytes ?? 0) / 2 ** 20).toPrecision(3))} MiB`;
