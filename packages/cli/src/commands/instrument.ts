import { basename, dirname, join } from 'node:path';
import { type InstrumentOptions, type InstrumentReport, listFunctions } from '@tenon/instrument';
import { Option } from 'commander';
import { type Command, withJson } from '../command.ts';
import { readDebugFiles } from '../debug-files.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { assertBinaryOutput, readInput, standardStream, writeOutput } from '../files.ts';
import { formatFunctions, formatReport, shownNotes } from '../instrument-report.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { checkRewritten, rewrite } from '../rewriting.ts';
import { count, formatNumber, printable, shellWord } from '../text.ts';
import { wholeNumber } from '../trace/settings.ts';
import {
  assertOneFromStdin,
  readTracingOptions,
  refusing,
  type TracingFlags,
  withTracing,
} from '../tracing-options.ts';

const maxMissingShown = 10;

interface Options extends TracingFlags {
  readonly output?: string;
  readonly list?: boolean;
  readonly dryRun?: boolean;
  readonly check: boolean;
  readonly debugInfo: boolean;
  readonly offsetMap?: boolean;
  readonly adaptive?: boolean;
  readonly skipLeaves?: boolean;
  readonly strict?: boolean;
  readonly trace: boolean;
  readonly coverage?: boolean;
  readonly fuel?: number;
  readonly onOutOfFuel?: 'trap' | 'call';
  readonly debugFile?: string;
  readonly json?: boolean;
}

export function addInstrumentCommand(program: Command, io: Io): void {
  program
    .command('instrument')
    .argument('<module>', 'a compiled module; "-" reads stdin')
    .option(
      '-o, --output <file>',
      '"-" is stdout (default: <module>.instrumented.wasm beside the input; stdout for "-")',
    )
    .addOption(
      new Option(
        '--list',
        'list the functions with their sizes and whether they would be traced; write no module',
      ).conflicts(['output', 'dryRun']),
    )
    .addOption(new Option('--dry-run', 'do everything except write the module').conflicts(['output']))
    .option('--offset-map', "add a section that maps the result's code offsets to those of the input")
    .option('--no-debug-info', 'drop DWARF sections instead of adjusting them to the result')
    .option('--adaptive', 'let functions skip calls that are too short for a span, as @tenon/trace does')
    .option('--skip-leaves', 'leave out functions without loops and calls, which are too short for a span')
    .option('--no-check', 'do not validate the result with the engine of Node.js')
    .option('--strict', 'fail without writing a module if a name matches no function, or no function is traced')
    .option('--debug-file <file>', "the file with the module's DWARF, if it isn't in the module")
    .description('instrument a module for tracing, on this machine, without a server')
    .use(withJson, withTracing, withProbes)
    .examples(
      'tenon instrument app.wasm -o traced.wasm',
      'tenon instrument app.wasm --banned malloc,free',
      "tenon instrument app.wasm --patterns --allowed 'parse*,env.*' --list",
      'tenon instrument app.wasm --list | sort -nk2 | tail',
      'tenon instrument app.wasm --allowed-file names.txt --dry-run',
      'tenon instrument app.wasm --config tracing.json --strict --json',
      'tenon instrument app.wasm --no-trace --fuel 1000000000 -o limited.wasm',
      'curl -s https://example.org/app.wasm | tenon instrument - > traced.wasm',
    )
    .addHelpText(
      'after',
      `A name matches a function's name in the module's name section, the name that it is exported under, or, for an imported
function, module.field. --list shows them. Names that contain commas go into a file. Without --patterns every character of
a name is literal.

A source map that the module names is read from the module's folder. The rewritten map goes to <output>.map,
and rewritten DWARF of another file to <output>.debug.wasm.`,
    )
    .action((input: string, options: Options) => run(io, input, options));
}

function withProbes(command: Command): Command {
  return command
    .optionsGroup('Coverage and limits:')
    .option('--coverage', 'count how often each basic block runs; the export tenon:count returns a counter')
    .addOption(
      new Option(
        '--fuel <instructions>',
        'trap after this many instructions; the global tenon:fuel has the rest',
      ).argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      new Option('--on-out-of-fuel <action>', 'call the import out-of-fuel of tenon:instrument first').choices([
        'trap',
        'call',
      ]),
    )
    .option('--no-trace', 'do not trace calls and memory growth, so that nothing is imported for it');
}

async function run(io: Io, input: string, options: Options): Promise<void> {
  const out = createReporter(io, options.json === true);
  assertOneFromStdin(input, options);
  if (options.list) {
    await list(io, out, input, options);
    return;
  }
  const output = options.dryRun ? undefined : (options.output ?? besideInput(input));
  if (output !== undefined) assertBinaryOutput(io, output);
  if (out.isJson && output === standardStream) {
    throw usageError('The module and the JSON can not both go to stdout.', 'Name a file with -o.');
  }
  const { trace, coverage, fuel, onOutOfFuel } = options;
  const tracing: InstrumentOptions = {
    ...(await readTracingOptions(io, options)),
    ...{ trace, coverage, fuel, onOutOfFuel },
    codeMap: options.offsetMap,
    adaptive: options.adaptive,
    skipLeaves: options.skipLeaves,
    debugInfo: options.debugInfo ? 'keep' : 'drop',
  };
  const bytes = await readInput(io, input, 'the module');
  const files = await readFiles(io, input, bytes, options);
  const mapPath = output === undefined || output === standardStream ? undefined : `${output}.map`;
  const sourceMapUrl = mapPath === undefined ? 'data:' : encodeURIComponent(basename(mapPath));
  const debugPath = output === undefined || output === standardStream ? undefined : `${output}.debug.wasm`;
  const { result, durationMs } = rewrite(io, !out.isJson, bytes, {
    ...tracing,
    ...files,
    sourceMapUrl,
    // Without a file for the rewritten DWARF, the output must not name one.
    debugFile: output === standardStream ? undefined : files.debugFile,
    debugFileUrl: debugPath && encodeURIComponent(basename(debugPath)),
  });
  if (options.strict && trace) assertAllFound(result.report);
  if (options.check) checkRewritten(io, !out.isJson, bytes, result.bytes);
  if (output !== undefined) await io.interruptible((signal) => writeOutput(io, output, result.bytes, signal));
  const { sourceMap, debugFile } = result;
  if (debugPath !== undefined && debugFile !== undefined) {
    await io.interruptible((signal) => writeOutput(io, debugPath, debugFile, signal));
  }
  if (mapPath !== undefined && sourceMap !== undefined) {
    await io.interruptible((signal) => writeOutput(io, mapPath, new TextEncoder().encode(sourceMap), signal));
  }
  if (out.isJson) out.result({ input, output: output ?? null, ...result.report, durationMs }, () => {});
  else showReport(out, input, output, result.report, durationMs, trace);
}

/** @throws CliError `nothing_traced` when a name or pattern matches no function, or no function is traced */
function assertAllFound({ notes, tracedFunctions }: InstrumentReport): void {
  const missing = notes.filter(({ code }) => code === 'name_not_found').map(({ message }) => `${printable(message)}.`);
  if (missing.length === 0 && tracedFunctions > 0) return;
  const shown = missing.slice(0, maxMissingShown);
  const more = missing.length > shown.length ? [`${missing.length - shown.length} more match no function.`] : [];
  throw new CliError('nothing_traced', [...shown, ...more].join('\n') || 'No function is traced.', {
    exitCode: exitCodes.refused,
    hint: 'To see the functions there are: tenon instrument <module> --list',
  });
}

/** The debug information of a module that lies in other files. */
async function readFiles(io: Io, input: string, bytes: Uint8Array, { debugFile }: Options): Promise<InstrumentOptions> {
  const files = readDebugFiles(input, bytes);
  if (debugFile === undefined) return files;
  return { ...files, debugFile: await readInput(io, debugFile, 'the debug information') };
}

function besideInput(input: string): string {
  if (input === standardStream) return standardStream;
  return join(dirname(input), `${basename(input).replace(/\.wasm$/i, '')}.instrumented.wasm`);
}

/** Goes to stderr: the module may be on its way through stdout. */
function showReport(
  out: Reporter,
  input: string,
  output: string | undefined,
  report: InstrumentReport,
  durationMs: number,
  isTraced: boolean,
): void {
  const from = nameOf(input, 'stdin');
  const heading =
    output === undefined ? `${from}: a dry run, nothing is written` : `${from} → ${nameOf(output, 'stdout')}`;
  out.note(formatReport(heading, report, durationMs));
  if (isTraced && report.tracedFunctions === 0 && report.totalFunctions > 0) {
    const hint = input === standardStream ? '--list shows' : `tenon instrument ${shellWord(input)} --list shows`;
    out.warn(`No function is traced. ${hint} what there is to trace.`);
  }
}

async function list(io: Io, out: Reporter, input: string, options: Options): Promise<void> {
  const tracing = await readTracingOptions(io, options);
  const bytes = await readInput(io, input, 'the module');
  const files = await readFiles(io, input, bytes, options);
  const { functions, notes } = refusing(() => listFunctions(bytes, { ...tracing, ...files }));
  const tracedFunctions = functions.reduce((total, { isTraced }) => total + (isTraced ? 1 : 0), 0);
  out.result({ input, tracedFunctions, totalFunctions: functions.length, functions, notes }, () => {
    for (const text of formatFunctions(functions, out.style)) out.write(text);
    out.note(
      [...shownNotes(notes).map((text) => `note: ${text}`), summaryOf(tracedFunctions, functions.length)].join('\n'),
    );
  });
}

function summaryOf(tracedFunctions: number, totalFunctions: number): string {
  return `${formatNumber(tracedFunctions)} of ${count(totalFunctions, 'function')} would be traced.`;
}

function nameOf(path: string, stream: string): string {
  return path === standardStream ? stream : printable(path);
}
