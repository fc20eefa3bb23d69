import type { Assertion, SimulatedCall, SimulationReport, SimulationVerdict } from '@tenon/protocol';
import { maxNameLength, maxTextLength, shorten } from './text.ts';

export type LogLine = SimulationReport['log'][number];

/** Collects what a simulation reports, up to limits. What is beyond is counted for the verdict, and left out. */
export interface ReportBuilder {
  readonly assert: (assertion: Assertion) => void;
  /** Adds a call. Describes it only if the list is not full. */
  readonly call: (describe: () => SimulatedCall) => void;
  readonly log: (from: LogLine['from'], level: string, text: string) => void;
  /** Notes that a value was cut. */
  readonly cut: () => void;
  /** How many assertions were made, and how many of them failed. */
  readonly assertions: () => { readonly total: number; readonly failed: number };
  readonly finish: (
    verdict: SimulationVerdict,
    detail: string | undefined,
    coverage?: SimulationReport['coverage'],
  ) => SimulationReport;
}

/** The maximum number of passed assertions, failed assertions, calls, and lines of the log. */
const maxListed = 1_000;

/** The shares of a report of 256 KiB, in bytes of JSON. Failed assertions have a share that passed ones can't use up. */
const budgets = { passed: 64 * 1024, failed: 64 * 1024, calls: 80 * 1024, log: 40 * 1024 };

export function createReport(name: string, revision: number | null): ReportBuilder {
  const startMs = performance.now();
  const left = { ...budgets };
  const listed = { passed: 0, failed: 0, calls: 0, log: 0 };
  const encoder = new TextEncoder();
  const lists = { assertions: [] as Assertion[], calls: [] as SimulatedCall[], log: [] as LogLine[] };
  let isCut = false;
  let [total, failed] = [0, 0];
  const isFull = (share: keyof typeof budgets) => listed[share] >= maxListed || left[share] === 0;
  const add = <Item>(list: Item[], share: keyof typeof budgets, item: Item): void => {
    const size = isFull(share) ? Number.POSITIVE_INFINITY : encoder.encode(JSON.stringify(item)).length + 1;
    if (size > left[share]) {
      // Later items are left out too, so that a list has no gaps.
      left[share] = 0;
      isCut = true;
      return;
    }
    left[share] -= size;
    listed[share] += 1;
    list.push(item);
  };
  const shortened = (text: string, maxLength: number): string => {
    if (text.length > maxLength) isCut = true;
    return shorten(text, maxLength);
  };
  return {
    assert({ group, name, passed, reason }) {
      total += 1;
      if (!passed) failed += 1;
      add(lists.assertions, passed ? 'passed' : 'failed', {
        group: group === null ? null : shortened(group, maxNameLength),
        name: shortened(name, maxNameLength),
        passed,
        reason: passed || reason === null ? null : shortened(reason, maxTextLength),
      });
    },
    call(describe) {
      if (isFull('calls')) {
        isCut = true;
        return;
      }
      const call = describe();
      add(lists.calls, 'calls', {
        ...call,
        export: shortened(call.export, maxNameLength),
        error: call.error === null ? null : shortened(call.error, maxTextLength),
      });
    },
    log: (from, level, text) => add(lists.log, 'log', { from, level, text: shortened(text, maxTextLength) }),
    cut() {
      isCut = true;
    },
    assertions: () => ({ total, failed }),
    finish: (verdict, detail, coverage) => ({
      name,
      revision,
      verdict,
      detail: detail === undefined ? null : shortened(detail, maxTextLength),
      ...lists,
      durationMs: Math.round((performance.now() - startMs) * 1e3) / 1e3,
      isCut,
      ...(coverage !== undefined && { coverage }),
    }),
  };
}
