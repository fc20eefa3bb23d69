import type { SimulationReport } from '@tenon/protocol';

/** The maximum size of the stored reports of one run, in bytes of JSON. */
export const maxReportsBytes = 256 * 1024;

/** Shortens reports so that all of them together fit into a row. A shortened report says so. */
export function boundReports(reports: readonly SimulationReport[], maxBytes = maxReportsBytes): SimulationReport[] {
  const each = Math.floor(maxBytes / Math.max(1, reports.length));
  return reports.map((report) => boundReport(report, each));
}

const sizeOf = (report: SimulationReport): number => Buffer.byteLength(JSON.stringify(report));

function boundReport(report: SimulationReport, maxBytes: number): SimulationReport {
  let cut = report;
  // Calls are the largest, and the assertions say most. Failed assertions stay the longest.
  for (const list of ['calls', 'log', 'assertions'] as const) {
    if (sizeOf(cut) <= maxBytes) return cut;
    if (list === 'assertions') cut = { ...cut, assertions: cut.assertions.toSorted(failedFirst) };
    cut = cutList(cut, list, maxBytes);
  }
  if (sizeOf(cut) <= maxBytes) return cut;
  return { ...cut, detail: cut.detail?.slice(0, 1000).toWellFormed() ?? null, isCut: true };
}

function failedFirst(a: { readonly passed: boolean }, b: { readonly passed: boolean }): number {
  return Number(a.passed) - Number(b.passed);
}

/** Removes the end of a list: as little as is necessary. */
function cutList(report: SimulationReport, list: 'calls' | 'log' | 'assertions', maxBytes: number): SimulationReport {
  const withFirst = (count: number): SimulationReport => ({
    ...report,
    [list]: report[list].slice(0, count),
    isCut: true,
  });
  let [fits, tooMany] = [0, report[list].length];
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (sizeOf(withFirst(middle)) <= maxBytes) fits = middle;
    else tooMany = middle;
  }
  return withFirst(fits);
}
