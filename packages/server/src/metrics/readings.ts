import { type Definition, definitions, type MetricName } from './definitions.ts';

/** What a process has counted: by metric, the value of each series, which goes by how Prometheus writes it. */
export type Readings = { readonly [Name in MetricName]?: Readonly<Record<string, number>> };

/** What one of several processes has counted. */
export interface ProcessReadings {
  /** What it is called where each is told by itself. */
  readonly process: string;
  readonly readings: Readings;
}

/** The values in Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function formatReadings(readings: Readings): string {
  const lines: string[] = [];
  for (const [name, definition] of allDefinitions) {
    lines.push(`# HELP ${name} ${escapeHelp(definition.help)}`, `# TYPE ${name} ${definition.type}`);
    for (const [series, value] of Object.entries(readings[name] ?? {})) lines.push(`${series} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Makes one of several: each metric as its definition says. */
export function gatherReadings(all: readonly ProcessReadings[]): Readings {
  const gathered: { [Name in MetricName]?: Record<string, number> } = {};
  for (const [name, { together = 'sum' }] of allDefinitions) {
    for (const { process, readings } of all) {
      for (const [series, value] of Object.entries(readings[name] ?? {})) {
        gathered[name] ??= {};
        const into = gathered[name];
        if (together === 'each') into[withLabel(series, 'worker', process)] = value;
        else into[series] = together === 'sum' ? (into[series] ?? 0) + value : Math.min(into[series] ?? value, value);
      }
    }
  }
  return gathered;
}

/** What must not fall when a process ends: Prometheus would take that for a start from zero, and count all the rest again. */
export function lastingReadings(readings: Readings): Readings {
  const lasting: { [Name in MetricName]?: Readonly<Record<string, number>> } = {};
  for (const [name, { type, together }] of allDefinitions) {
    const series = readings[name];
    if (type !== 'gauge' && together !== 'each' && series !== undefined) lasting[name] = series;
  }
  return lasting;
}

const allDefinitions = Object.entries(definitions) as [MetricName, Definition][];

function withLabel(series: string, name: string, value: string): string {
  const label = `${name}="${value}"`;
  return series.endsWith('}') ? `${series.slice(0, -1)},${label}}` : `${series}{${label}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
