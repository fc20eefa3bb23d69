import type { SimulationReport } from '@tenon/protocol';
import { printable, printableJson } from '../text.ts';
import { type TestRun, unexplained } from './test-run.ts';

/** The results as TAP 14 (https://testanything.org/tap-version-14-specification.html), with a subtest per simulation. */
export function formatTap({ simulations }: TestRun): string {
  const points = simulations.map((report, at) => subtest(report) + parentPoint(report, at + 1));
  return `TAP version 14\n${points.join('')}1..${simulations.length}\n`;
}

function subtest({ name, assertions }: SimulationReport): string {
  if (assertions.length === 0) return '';
  const points = assertions.map(({ group, name, passed, reason }, at) => {
    const description = group === null ? name : `${group}: ${name}`;
    return point(passed, at + 1, description, passed || reason === null ? {} : { message: reason });
  });
  const lines = `${points.join('')}1..${assertions.length}\n`;
  return `# Subtest: ${escaped(name)}\n${indent(lines, '    ')}`;
}

function parentPoint(report: SimulationReport, number: number): string {
  const { verdict, durationMs } = report;
  const message = unexplained(report);
  return point(verdict === 'passed', number, report.name, {
    ...(verdict !== 'passed' && { verdict }),
    ...(message !== undefined && { message }),
    duration_ms: Math.round(durationMs * 1000) / 1000,
  });
}

function point(
  isOk: boolean,
  number: number,
  description: string,
  diagnostic: Readonly<Record<string, unknown>>,
): string {
  const line = `${isOk ? 'ok' : 'not ok'} ${number} - ${escaped(description)}\n`;
  const entries = Object.entries(diagnostic);
  if (entries.length === 0) return line;
  // A JSON value is a YAML value.
  const yaml = entries.map(([key, value]) => `${key}: ${printableJson(value)}\n`).join('');
  return `${line}${indent(`---\n${yaml}...\n`, '  ')}`;
}

/** A description on one line. A `#` would begin a directive such as `# SKIP`. */
function escaped(text: string): string {
  return printable(text).replace(/[\\#]/g, '\\$&').trim();
}

function indent(lines: string, by: string): string {
  return lines.replace(/^(?=.)/gm, by);
}
