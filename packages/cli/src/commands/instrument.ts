import { basename, dirname, join } from 'node:path';
import {
  InstrumentError,
  type InstrumentOptions,
  type InstrumentReport,
  instrument,
  parseConfig,
} from '@tenon/instrument';
import { type Command, Option } from 'commander';
import { collect, examples, withJson } from '../command.ts';
import { checkWithEngine } from '../engine-check.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { demandBinaryOutput, readInput, standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { formatNumber, printable } from '../text.ts';

interface Options {
  readonly output?: string;
  readonly allowed?: string[];
  readonly banned?: string[];
  readonly config?: string;
  readonly check: boolean;
  readonly json?: boolean;
}

export function addInstrumentCommand(program: Command, io: Io): void {
  const names = 'names between commas; may be given again';
  withJson(
    program
      .command('instrument')
      .argument('<module>', 'a compiled module; "-" reads stdin')
      .option(
        '-o, --output <file>',
        '"-" is stdout (default: <module>.instrumented.wasm beside the input; stdout for "-")',
      )
      .addOption(
        new Option('--allowed <names>', `trace these functions alone; ${names}`)
          .argParser(collect)
          .conflicts(['banned', 'config']),
      )
      .addOption(
        new Option('--banned <names>', `trace all but these functions; ${names}`)
          .argParser(collect)
          .conflicts(['config']),
      )
      .option('--config <file>', 'the same as JSON: {"allowed": […]} or {"banned": […]}; "-" reads stdin')
      .option('--no-check', 'do not have the engine of this Node.js validate the result')
      .description('instrument a module for tracing, here and without a server'),
  )
    .addHelpText(
      'after',
      `${examples(
        'tenon instrument app.wasm -o traced.wasm',
        'tenon instrument app.wasm --banned malloc,free',
        'tenon instrument app.wasm --config tracing.json --json',
        'curl -s https://example.org/app.wasm | tenon instrument - > traced.wasm',
      )}
A name matches a function's name in the module's name section, the name that it is exported under, or, for an imported
function, module.field. Names that contain commas go into --config.
`,
    )
    .action((input: string, options: Options) => instrumentFile(io, input, options));
}

async function instrumentFile(io: Io, input: string, options: Options): Promise<void> {
  const out = createReporter(io, options.json === true);
  const output = options.output ?? besideInput(input);
  demandBinaryOutput(io, output);
  if (out.isJson && output === standardStream) {
    throw usageError('The module and the JSON can not both go to stdout.', 'Name a file with -o.');
  }
  if (input === standardStream && options.config === standardStream) {
    throw usageError('The module and its configuration can not both come from stdin.');
  }
  const selection = await readSelection(io, options);
  const bytes = await readInput(io, input, 'the module');

  const startedMs = io.nowMs();
  const result = rewrite(bytes, selection);
  const durationMs = io.nowMs() - startedMs;
  if (options.check) checkWithEngine(bytes, result.bytes);

  await io.interruptible((signal) => writeOutput(io, output, result.bytes, signal));
  if (out.isJson) out.result({ input, output, ...result.report, durationMs }, () => {});
  else showReport(out, input, output, result.report, durationMs);
}

function besideInput(input: string): string {
  if (input === standardStream) return standardStream;
  return join(dirname(input), `${basename(input).replace(/\.wasm$/i, '')}.instrumented.wasm`);
}

async function readSelection(io: Io, { allowed, banned, config }: Options): Promise<InstrumentOptions> {
  if (config !== undefined) {
    const text = new TextDecoder().decode(await readInput(io, config, 'the configuration'));
    return refusing(() => parseConfig(text));
  }
  if (allowed !== undefined) return { allowed };
  return banned === undefined ? {} : { banned };
}

function rewrite(bytes: Uint8Array, selection: InstrumentOptions) {
  return refusing(() => instrument(bytes, selection));
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InstrumentError)) throw error;
    throw new CliError(error.code, error.message, { exitCode: exitCodes.refused, cause: error });
  }
}

/** Goes to stderr: the module may be on its way through stdout. */
function showReport(out: Reporter, input: string, output: string, report: InstrumentReport, durationMs: number): void {
  const { tracedFunctions, totalFunctions, addedImports, inputBytes, outputBytes, notes } = report;
  const change = inputBytes === 0 ? 0 : ((outputBytes - inputBytes) / inputBytes) * 100;
  const lines = [
    `${nameOf(input, 'stdin')} → ${nameOf(output, 'stdout')}`,
    `  functions  ${formatNumber(tracedFunctions)} of ${formatNumber(totalFunctions)} traced`,
    `  imports    ${addedImports.length === 0 ? 'none added' : `${addedImports.join(', ')} added`}`,
    `  size       ${formatNumber(inputBytes)} → ${formatNumber(outputBytes)} bytes (${change >= 0 ? '+' : ''}${change.toFixed(1)} %)`,
    `  time       ${durationMs.toFixed(0)} ms`,
    ...notes.map((note) => `  note       ${printable(note.message)}`),
  ];
  if (tracedFunctions === 0) lines.push('  note       nothing is traced');
  out.note(lines.join('\n'));
}

function nameOf(path: string, stream: string): string {
  return path === standardStream ? stream : printable(path);
}
