import { InvalidArgumentError, Option } from 'commander';
import type { ConformanceCase } from '../client-conformance/case.ts';
import { conformanceCases } from '../client-conformance/cases/all.ts';
import { type Feature, features } from '../client-conformance/client-setting.ts';
import { protocolHelp } from '../client-conformance/protocol.ts';
import { type CaseResult, runCases } from '../client-conformance/run-cases.ts';
import { type Command, collect, parseCount, withJson } from '../command.ts';
import { formatDuration, parseTimeout } from '../duration.ts';
import { CliError, usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { count, printable, printableLines } from '../text.ts';

interface Options {
  readonly case?: readonly string[];
  readonly list?: boolean;
  readonly without?: readonly Feature[];
  readonly timeout: number;
  readonly concurrency: number;
  readonly json?: boolean;
}

/** Longer than clients wait for a response or a stream, with a backoff before and after. */
const defaultTimeoutMs = 60_000;

export function addClientConformanceCommand(program: Command, io: Io): void {
  program
    .command('client-conformance')
    .argument('[command]', 'the program of a client')
    .argument('[args...]', 'its arguments, after "--"')
    .description('test a client in any language against a server that misbehaves')
    .option('--case <name>', 'run only this case; repeat it, or separate several with commas', collect)
    .option('--without <feature>', 'skip the cases of what the client lacks: cache, streaming', parseFeatures)
    .addOption(
      new Option('--timeout <duration>', 'how long a case waits for a state')
        .argParser(parseTimeout)
        .default(defaultTimeoutMs, formatDuration(defaultTimeoutMs)),
    )
    .option('--concurrency <number>', 'run this many cases at once', parseCount, 8)
    .option('--list', 'list the cases and what they expect')
    .use(withJson)
    .examples(
      'tenon client-conformance ./my-host',
      'tenon client-conformance --case list,events -- python3 host.py --verbose',
      'tenon client-conformance --json ./my-host | jq -r \'.cases[] | select(.result == "failed").name\'',
    )
    .addHelpText('after', protocolHelp)
    .action((command: string | undefined, args: readonly string[], options: Options) =>
      testClient(io, command, args, options),
    );
}

function parseFeatures(text: string, before: readonly Feature[] = []): readonly Feature[] {
  const chosen = collect(text).map((name) => features.find((feature) => feature === name));
  const known = chosen.filter((feature) => feature !== undefined);
  if (known.length !== chosen.length) throw new InvalidArgumentError(`Expected one of: ${features.join(', ')}.`);
  return [...before, ...known];
}

async function testClient(
  io: Io,
  program: string | undefined,
  args: readonly string[],
  options: Options,
): Promise<void> {
  const out = createReporter(io, options.json === true);
  const cases = chooseCases(options.case);
  if (options.list) {
    const listed = cases.map(({ name, expected, needs }) => ({ name, expected, needs: needs ?? null }));
    out.result({ cases: listed }, () =>
      out.table(
        ['CASE', 'THE CLIENT …'],
        listed.map(({ name, expected }) => [name, expected]),
        '',
      ),
    );
    return;
  }
  if (program === undefined)
    throw usageError('A command is missing.', 'To list the cases: tenon client-conformance --list');
  const results = await io.interruptible((signal) =>
    runCases(
      cases,
      {
        io,
        command: { program, args, folder: io.workingFolder, environment: io.environment },
        timeoutMs: options.timeout,
        without: new Set(options.without),
        concurrency: options.concurrency,
      },
      signal,
      (result) => {
        if (!out.isJson) out.write(textOfResult(out, result));
      },
    ),
  );
  out.result({ cases: results }, () => {});
  finish(out, results);
}

function chooseCases(names: readonly string[] | undefined): readonly ConformanceCase[] {
  for (const name of names ?? []) {
    if (!conformanceCases.some((each) => each.name === name)) {
      throw usageError(
        `No case is named ${JSON.stringify(name)}.`,
        'To list the cases: tenon client-conformance --list',
      );
    }
  }
  return names === undefined ? conformanceCases : conformanceCases.filter(({ name }) => names.includes(name));
}

function textOfResult({ style }: Reporter, { name, expected, result, reason, stderr, durationMs }: CaseResult): string {
  const time = style.dim(`(${durationMs} ms)`);
  switch (result) {
    case 'passed':
      return `${style.good('passed')}   ${name} ${time}\n`;
    case 'skipped':
      return `${style.warning('skipped')}  ${name}: ${printable(reason ?? '')}\n`;
    case 'failed': {
      const output = stderr?.trim() ? `\n  stderr:\n${indented(printableLines(stderr.trim()))}` : '';
      return `${style.error('failed')}   ${name} ${time}\n  expected: it ${expected}\n  but: ${printable(reason ?? '')}${output}\n`;
    }
  }
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

/** @throws CliError `cases_failed` */
function finish(out: Reporter, results: readonly CaseResult[]): void {
  const named = (result: CaseResult['result']) => results.filter((each) => each.result === result);
  const [failed, skipped] = [named('failed'), named('skipped')];
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name).join(', ');
    throw new CliError('cases_failed', `${failed.length} of ${count(results.length, 'case')} failed: ${names}.`);
  }
  out.note(`${count(named('passed').length, 'case')} passed, ${skipped.length} skipped.`);
}
