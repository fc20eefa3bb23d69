import { percentOf } from '@tenon/instrument/coverage';
import type { Excerpt, HostValue, SimulatedCall, SimulationReport } from '@tenon/protocol';
import type { Reporter } from '../output.ts';
import { count, formatSize, printable, printableLines, type Style } from '../text.ts';
import { groupsOf, type TestRun, unexplained, verdictInWords } from './test-run.ts';

const maxCalls = 20;
const maxLogLines = 50;
const maxShown = 160;

/** Writes the results for people to stdout. */
export function showReport(out: Reporter, { simulations, verdict }: Pick<TestRun, 'simulations' | 'verdict'>): void {
  for (const report of simulations) out.write(formatSimulation(report, out.style));
  if (simulations.length < 2) return;
  const passed = simulations.filter((report) => report.verdict === 'passed').length;
  const style = verdict === 'passed' ? out.style.good : out.style.error;
  out.write(`${style(`${passed} of ${count(simulations.length, 'simulation')} passed`)}\n`);
}

/** One simulation: its assertions in their groups, and, unless it passed, its calls and its log. */
export function formatSimulation(report: SimulationReport, style: Style): string {
  const { name, verdict, durationMs, assertions, coverage } = report;
  const mark = verdict === 'passed' ? style.good('✔') : style.error('✖');
  const covered = coverage === undefined ? [] : [`${percentOf(coverage.blocks).toFixed(1)} % of the code`];
  const facts = [`${formatMs(durationMs)} ms`, count(assertions.length, 'assertion'), ...covered].join(', ');
  const state = verdict === 'passed' ? '' : ` ${style.error(verdictInWords(verdict))}`;
  const lines = [`${mark} ${style.bold(printable(name))}${state} ${style.dim(`(${facts})`)}`];
  for (const [group, members] of groupsOf(report)) {
    if (group !== null) lines.push(`  ${printable(group)}`);
    const indent = group === null ? '  ' : '    ';
    for (const { name, passed, reason } of members) {
      lines.push(`${indent}${passed ? style.good('✔') : style.error('✖')} ${printable(name)}`);
      if (!passed && reason !== null) lines.push(...block(reason, `${indent}    `));
    }
  }
  const why = unexplained(report);
  if (why !== undefined) lines.push(...block(why, '  '));
  if (verdict !== 'passed') lines.push(...formatCalls(report.calls, style), ...formatLog(report.log, style));
  if (report.isCut) lines.push(style.dim('  The report was too large: parts of it are left out.'));
  return `${lines.join('\n')}\n`;
}

function formatCalls(calls: readonly SimulatedCall[], style: Style): string[] {
  const shown = calls.slice(-maxCalls);
  const earlier = calls.length - shown.length;
  return [
    ...(calls.length === 0 ? [] : [style.dim('  calls')]),
    ...(earlier === 0 ? [] : [style.dim(`    … ${count(earlier, 'earlier call')}`)]),
    ...shown.flatMap((call) => {
      const result = call.output === null ? style.error('failed') : `→ ${formatExcerpt(call.output)}`;
      const time = style.dim(`${formatMs(call.timeNano / 1e6)} ms`);
      return [
        `    ${printable(call.export)}(${formatExcerpt(call.input)}) ${result} ${time}`,
        ...(call.error === null ? [] : block(call.error, '      ')),
        ...call.hostCalls.map(({ name, args, returns }) => {
          const returned = returns === null ? '' : ` → ${formatHostValue(returns)}`;
          return style.dim(`      host ${printable(name)}(${args.map(formatHostValue).join(', ')})${returned}`);
        }),
      ];
    }),
  ];
}

function formatLog(log: SimulationReport['log'], style: Style): string[] {
  const shown = log.slice(-maxLogLines);
  return [
    ...(log.length === 0 ? [] : [style.dim('  log')]),
    ...(log.length === shown.length ? [] : [style.dim(`    … ${count(log.length - shown.length, 'earlier message')}`)]),
    ...shown.flatMap(({ from, level, text }) => block(`${from} ${level}: ${text}`, '    ')),
  ];
}

function block(text: string, indent: string): string[] {
  return printableLines(text.trimEnd())
    .split('\n')
    .map((line) => indent + line);
}

function formatExcerpt({ text, base64, size }: Excerpt): string {
  if (size === 0) return '""';
  const shown = text === null ? `base64 ${shorten(base64 ?? '')}` : JSON.stringify(shorten(text));
  const isCut = size > maxShown;
  return printable(shown) + (isCut ? ` (${formatSize(size)})` : '');
}

function formatHostValue(value: HostValue): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return printable(JSON.stringify(shorten(value)));
  return 'i64' in value ? value.i64 : printable(`base64 ${shorten(value.base64)}`);
}

function shorten(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

function formatMs(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
}
