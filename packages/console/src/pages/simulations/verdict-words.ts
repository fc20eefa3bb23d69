import type { SimulationReport, Verdict } from '@tenon/protocol';
import { counted } from '../../components/count.ts';

/** The verdict of a version, or that it is not known yet. */
export type KnownVerdict = Verdict | 'testing';

/** A verdict in a few words that make sense without a heading. */
export const verdictWords: Readonly<Record<KnownVerdict, string>> = {
  passed: 'simulations passed',
  failed: 'simulations failed',
  errored: 'simulations could not run',
  timed_out: 'simulations timed out',
  none_configured: 'no simulations',
  testing: 'testing',
};

/** The verdict of one simulation. */
export const simulationVerdictWords: Readonly<Record<SimulationReport['verdict'], string>> = {
  passed: 'passed',
  failed: 'failed',
  errored: 'could not run',
  timed_out: 'timed out',
};

export const verdictBadges = {
  passed: 'good',
  failed: 'bad',
  errored: 'waiting',
  timed_out: 'bad',
  none_configured: 'plain',
  testing: 'waiting',
} as const satisfies Readonly<Record<KnownVerdict, string>>;

/** What a report holds, in a line: "5 assertions, 2 failed · 3 calls · 41 % of the code · 12 ms". */
export function reportFacts({ assertions, calls, coverage, durationMs, revision }: SimulationReport): string {
  const failed = assertions.filter(({ passed }) => !passed).length;
  return [
    ...(revision === null ? [] : [`revision ${revision}`]),
    counted(assertions.length, 'assertion') + (failed === 0 ? '' : `, ${failed} failed`),
    counted(calls.length, 'call'),
    ...(coverage === undefined ? [] : [`${coveredPercent(coverage)} % of the code`]),
    durationWords(durationMs),
  ].join(' · ');
}

/** Rounded down, so that only complete coverage is 100. */
function coveredPercent({ blocks: { total, covered } }: NonNullable<SimulationReport['coverage']>): number {
  return total === 0 ? 100 : Math.floor((100 * covered) / total);
}

const shortDuration = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** A duration: "840 ns", "1.25 ms", "2.4 s". */
export function durationWords(ms: number): string {
  if (ms >= 1000) return `${shortDuration.format(ms / 1000)} s`;
  if (ms >= 1) return `${shortDuration.format(ms)} ms`;
  if (ms >= 0.001) return `${shortDuration.format(ms * 1000)} µs`;
  return `${shortDuration.format(ms * 1e6)} ns`;
}

/** Those that did not pass first; otherwise in their order. */
export function failuresFirst<T extends { readonly passed: boolean }>(items: readonly T[]): readonly T[] {
  return items.toSorted((a, b) => Number(a.passed) - Number(b.passed));
}
