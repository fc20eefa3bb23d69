import type { SimulationReport } from '@tenon/protocol';
import { printable, printableLines } from '../text.ts';
import { type TestRun, unexplained } from './test-run.ts';

/** One `<testcase>`. */
interface Case {
  readonly group: string | null;
  readonly name: string;
  readonly seconds?: string;
  readonly fault?: { readonly tag: 'failure' | 'error'; readonly type: string; readonly message: string } | undefined;
}

/** The results as JUnit XML, as CI systems read it: a `<testsuite>` per simulation, a `<testcase>` per assertion. */
export function formatJunit({ simulations }: TestRun): string {
  const suites = simulations.map((report) => ({ report, cases: casesOf(report) }));
  const durationMs = simulations.reduce((sum, report) => sum + report.durationMs, 0);
  const all = attributes({
    name: 'tenon plugin test',
    ...counts(suites.flatMap(({ cases }) => cases)),
    time: seconds(durationMs),
  });
  const body = suites.map(({ report, cases }) => formatSuite(report, cases)).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${all}>\n${body}</testsuites>\n`;
}

function casesOf(report: SimulationReport): Case[] {
  const { name, verdict, assertions, durationMs } = report;
  const cases: Case[] = assertions.map(({ group, name, passed, reason }) => ({
    group,
    name,
    fault: passed ? undefined : { tag: 'failure', type: 'assertion', message: reason ?? 'The assertion failed.' },
  }));
  const message = unexplained(report);
  if (message === undefined && cases.length > 0) return cases;
  const tag = verdict === 'errored' ? 'error' : 'failure';
  const fault = message === undefined ? undefined : ({ tag, type: verdict, message } as const);
  return [...cases, { group: null, name, seconds: seconds(durationMs), fault }];
}

function formatSuite({ name, durationMs, log }: SimulationReport, cases: readonly Case[]): string {
  const lines = cases.map(({ group, name: ofCase, seconds: time, fault }) => {
    const classname = group === null ? name : `${name}.${group}`;
    const tag = `    <testcase${attributes({ name: ofCase, classname, time })}`;
    if (fault === undefined) return `${tag}/>\n`;
    const inner = `<${fault.tag}${attributes({ message: fault.message, type: fault.type })}>${content(fault.message)}</${fault.tag}>`;
    return `${tag}>\n      ${inner}\n    </testcase>\n`;
  });
  const logged = log.map(({ from, level, text }) => `${from} ${level}: ${text}`).join('\n');
  const output = logged === '' ? '' : `    <system-out>${content(logged)}</system-out>\n`;
  return `  <testsuite${attributes({ name, ...counts(cases), time: seconds(durationMs) })}>\n${lines.join('')}${output}  </testsuite>\n`;
}

function counts(cases: readonly Case[]) {
  const ofTag = (tag: string) => String(cases.filter(({ fault }) => fault?.tag === tag).length);
  return { tests: String(cases.length), failures: ofTag('failure'), errors: ofTag('error'), skipped: '0' };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

function attributes(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${xml(printable(value))}"`))
    .join('');
}

function content(text: string): string {
  return xml(printableLines(text));
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text. XML can't have U+FFFE, U+FFFF and half of a surrogate pair, not even as entities. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (character) => entities[character] ?? '');
}
