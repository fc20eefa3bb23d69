import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import process from 'node:process';
import type { CaseResult, Row } from './compare.ts';

/** What was measured, and on what. */
export interface Report {
  readonly machine: string;
  readonly secondsARound: number;
  readonly rounds: number;
  readonly cases: readonly CaseResult[];
}

/** Above this the rate is the load generator's rather than the server's. */
const busyLimit = 0.95;

const columns: readonly (readonly [title: string, width: number, show: (row: Row) => string])[] = [
  ['requests/s', 12, (row) => `${amount(row.requestsPerSecond)}${row.generatorBusy > busyLimit ? '*' : ' '}`],
  ['ratio', 7, ({ ratio }) => ratio?.toFixed(2) ?? '–'],
  ['p50', 10, ({ p50Ms }) => milliseconds(p50Ms)],
  ['p99', 10, ({ p99Ms }) => milliseconds(p99Ms)],
  ['CPU a request', 15, ({ cpuUsPerRequest }) => microseconds(cpuUsPerRequest)],
  ['ratio', 7, ({ cpuRatio }) => cpuRatio?.toFixed(2) ?? '–'],
  ['stores’ CPU', 13, ({ storeCpuUsPerRequest }) => microseconds(storeCpuUsPerRequest)],
];

const nameWidth = 28;

/** A case as a table. */
export function formatCase({ title, connections, rows }: CaseResult): string {
  const head = columns.map(([name, width]) => name.padStart(width)).join('');
  const lines = rows.map((row) => {
    const cells = columns.map(([, width, show]) => show(row).padStart(width));
    return `  ${row.name.padEnd(nameWidth - 2)}${cells.join('')}`;
  });
  const notes = rows.some(({ generatorBusy }) => generatorBusy > busyLimit)
    ? ['  * The load generator was at its limit: the server could do more.']
    : [];
  return [`${title} (${connections} connections)`, `${' '.repeat(nameWidth)}${head}`, ...lines, ...notes, ''].join(
    '\n',
  );
}

/** The machine, in a line. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() || process.arch;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${availableParallelism()} × ${model}, ${memory}, ${platform()} ${release()}, Node.js ${process.versions.node}`;
}

function amount(value: number): string {
  if (value >= 100) return value.toLocaleString('en', { maximumFractionDigits: 0 });
  return value.toFixed(value >= 10 ? 1 : 2);
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? '–' : `${value >= 100 ? value.toFixed(0) : value.toPrecision(2)} ms`;
}

function microseconds(value: number | undefined): string {
  if (value === undefined) return '–';
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} ms` : `${value.toFixed(value >= 100 ? 0 : 1)} µs`;
}
