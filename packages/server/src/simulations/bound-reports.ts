import { setImmediate } from 'node:timers/promises';
import type { SimulationReport } from '@tenon/protocol';

/** The maximum size of the stored reports of one run, in bytes of JSON. */
export const maxReportsBytes = 256 * 1024;

/**
 * Shortens reports so that all of them together fit into a row. A shortened report says so. Other work of the server runs between two
 * reports.
 */
export async function boundReports(
  reports: readonly SimulationReport[],
  maxBytes = maxReportsBytes,
): Promise<SimulationReport[]> {
  const each = Math.floor(maxBytes / Math.max(1, reports.length));
  const bounded: SimulationReport[] = [];
  for (const report of reports) {
    bounded.push(boundReport(report, each));
    await setImmediate();
  }
  return bounded;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The maximum length of the detail of a report that is cut. */
const maxDetail = 1000;

function boundReport(report: SimulationReport, maxBytes: number): SimulationReport {
  if (sizeOf(report) <= maxBytes) return report;
  const detail = report.detail?.slice(0, maxDetail).toWellFormed() ?? null;
  const bare = { ...report, detail, assertions: [], calls: [], log: [], isCut: true };
  let left = maxBytes - sizeOf(bare);
  /** Returns the beginning of a list: as much as fits. */
  const take = <Item>(list: readonly Item[]): Item[] => {
    const end = list.findIndex((item) => {
      const size = sizeOf(item) + 1;
      if (size > left) return true;
      left -= size;
      return false;
    });
    return end === -1 ? [...list] : list.slice(0, end);
  };
  // The assertions say most, above all the failed ones, and calls are the largest.
  const failed = take(report.assertions.filter(({ passed }) => !passed));
  const passed = take(report.assertions.filter((assertion) => assertion.passed));
  const kept = new Set([...failed, ...passed]);
  const assertions = report.assertions.filter((assertion) => kept.has(assertion));
  return { ...bare, assertions, log: take(report.log), calls: take(report.calls) };
}
