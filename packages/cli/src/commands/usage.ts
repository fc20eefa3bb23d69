import { defaultUsageDays, maxHourlyUsageDays, type UsageReport, usageReport } from '@tenon/protocol';
import { InvalidArgumentError, Option } from 'commander';
import { path } from '../api.ts';
import { type Command, parseCount, withApp, withServer } from '../command.ts';
import { saveCsv } from '../csv.ts';
import { CliError, usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { findPlugin } from '../project/plugin-reference.ts';
import { callingForPlugin, type PluginSession, withProject } from '../project/plugin-session.ts';
import { resolveApp, resolveExtensionPoint, resolveGuest } from '../resolve.ts';
import { count, formatNumber, formatTime, printable } from '../text.ts';

interface UsageOptions {
  readonly app?: string;
  readonly extensionPoint?: string;
  readonly plugin?: string;
  readonly guest?: string;
  readonly days?: number;
  readonly from?: string;
  readonly to?: string;
  readonly by?: 'day' | 'hour';
  readonly csv?: string;
}

export function addUsageCommand(program: Command, io: Io): void {
  program
    .command('usage')
    .description('show how often hosts list and fetch plugins, and which versions they run')
    .option('--plugin <plugin>', 'show this plugin and its versions, by name or id')
    .option('--guest <guest>', 'show this guest, by guest key or id')
    .option('--days <number>', `the number of days up to today (default: ${defaultUsageDays})`, parseCount)
    .option('--from <day>', 'the first day, such as 2026-03-01 (UTC)', parseDay)
    .option('--to <day>', 'the last day (default: today)', parseDay)
    .addOption(
      new Option('--by <unit>', `show numbers per day, or per hour for at most ${maxHourlyUsageDays} days`).choices([
        'day',
        'hour',
      ]),
    )
    .option('--csv <file>', 'write the numbers as CSV to this file; "-" is stdout')
    .use(withApp, withProject, withServer)
    .examples(
      'tenon usage',
      'tenon usage --plugin greet --days 7',
      'tenon usage --guest customers/42 --by hour --days 2',
      'tenon usage --extension-point Formulas --from 2026-01-01 --to 2026-03-31 --csv first-quarter.csv',
    )
    .addHelpText(
      'after',
      `Without --plugin, --guest, or --extension-point, the command shows the usage of the application. Guests see the usage of
their own plugins. The server updates the numbers once a minute.`,
    )
    .action(callingForPlugin(io, showUsage));
}

function parseDay(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return text;
  throw new InvalidArgumentError('It takes a day such as 2026-03-01.');
}

async function showUsage(session: PluginSession, options: UsageOptions): Promise<void> {
  const { api, out } = session;
  const { days, from, to, by, csv } = options;
  if (days !== undefined && (from !== undefined || to !== undefined)) {
    throw usageError('Use either --days, or --from and --to.');
  }
  const query = new URLSearchParams(
    Object.entries({ days, from, to, by }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  );
  const usage = `${await subjectPath(session, options)}/usage`;
  if (csv !== undefined) return saveCsv(session, `${usage}?${query}&format=csv`, csv);
  const report = await refusingGuests(options, api.get(`${usage}?${query}`, usageReport));
  out.result(report, () => showReport(out, report, options));
}

async function subjectPath(session: PluginSession, options: UsageOptions): Promise<string> {
  const { app, extensionPoint, plugin, guest } = options;
  if (plugin !== undefined && guest !== undefined) throw usageError('Use either --plugin or --guest.');
  if (plugin !== undefined) return (await findPlugin(session, options, plugin, 'team')).path;
  if (guest === undefined && extensionPoint !== undefined) {
    return path`/api/v1/extension-points/${await resolveExtensionPoint(session, extensionPoint, app)}`;
  }
  const appId = await resolveApp(session, app);
  if (guest === undefined) return path`/api/v1/apps/${appId}`;
  return path`/api/v1/apps/${appId}/guests/${await resolveGuest(session, appId, guest)}`;
}

/** Says what guests may see where only the team sees the usage. */
async function refusingGuests<T>({ plugin }: UsageOptions, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'forbidden' && plugin === undefined)) throw error;
    const { exitCode, problem, requestId } = error;
    const hint = 'As a guest you see the usage of your own plugins: tenon usage --plugin <name>';
    throw new CliError(error.code, error.message, { exitCode, problem, requestId, hint, cause: error });
  }
}

function showReport(out: Reporter, report: UsageReport, { guest }: UsageOptions): void {
  const { by, points, totals, lastUsedAt, versions, userAgents } = report;
  const daysLong = Math.round((Date.parse(report.to) - Date.parse(report.from)) / 86_400_000);
  out.fields([
    ['Last use', lastUsedAt === null ? 'never (updated once a minute)' : formatTime(lastUsedAt)],
    ['Period', `${report.from.slice(0, 10)}, ${count(daysLong, 'day')}`],
    ['List requests', `${formatNumber(totals.listRequests)}  ${sparkline(points.map((point) => point.listRequests))}`],
    [
      'Content fetches',
      `${formatNumber(totals.contentFetches)}  ${sparkline(points.map((point) => point.contentFetches))}`,
    ],
    ...(totals.tokens === null ? [] : [['Tokens', `about ${formatNumber(totals.tokens)}`] as const]),
  ]);
  const used = points.filter(({ listRequests, contentFetches }) => listRequests + contentFetches > 0);
  const section = (headings: string[], rows: string[][]) => {
    if (rows.length === 0) return;
    out.write('\n');
    out.table(headings, rows, '');
  };
  section(
    [
      by === 'day' ? 'DAY (UTC)' : 'HOUR (UTC)',
      'LIST REQUESTS',
      'CONTENT FETCHES',
      ...(by === 'day' ? ['TOKENS'] : []),
    ],
    used.map(({ at, listRequests, contentFetches, tokens }) => [
      by === 'day' ? at.slice(0, 10) : at.slice(0, 16).replace('T', ' '),
      formatNumber(listRequests),
      formatNumber(contentFetches),
      ...(by === 'day' ? [tokens === null ? '-' : formatNumber(tokens)] : []),
    ]),
  );
  section(
    [
      'VERSION',
      ...(guest === undefined ? ['LIST REQUESTS', 'CONTENT FETCHES'] : []),
      'LOADED BY CLIENTS',
      'LAST LOADED',
    ],
    versions.map((version) => [
      `${printable(version.pluginId.split('/').at(-1) ?? '')}@${version.number}`,
      // The server counts requests of a guest without the versions.
      ...(guest === undefined ? [formatNumber(version.listRequests), formatNumber(version.contentFetches)] : []),
      formatNumber(version.loadReports),
      formatTime(version.lastReportedAt),
    ]),
  );
  section(
    ['PROGRAM', 'REQUESTS'],
    userAgents.map(({ userAgent, requests }) => [printable(userAgent), formatNumber(requests)]),
  );
}

const bars = '▁▂▃▄▅▆▇█';

/** Draws numbers as bars, relative to the largest one. A zero is a dot. */
export function sparkline(numbers: readonly number[]): string {
  const max = Math.max(...numbers, 1);
  return numbers.map((number) => (number === 0 ? '·' : bars[Math.ceil((number / max) * bars.length) - 1])).join('');
}
