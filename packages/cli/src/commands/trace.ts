import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InstrumentOptions } from '@tenon/instrument';
import { defaultLimits, defaultMinDurationMicroseconds } from '@tenon/trace';
import { type Command, Option } from 'commander';
import { examples, withJson } from '../command.ts';
import { formatDuration, parseMicroseconds, parseTimeout } from '../duration.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput, standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter, writeBytes } from '../output.ts';
import { checkRewritten, rewrite } from '../rewriting.ts';
import { createStyle, hasColours, printable } from '../text.ts';
import { type Format, formats, formatTrace, type Trace, traceAsJson } from '../trace/formats.ts';
import type { Ending, RunResult } from '../trace/messages.ts';
import { prepareProgram } from '../trace/prepare.ts';
import { formatHeading, formatReport } from '../trace/report.ts';
import { runInThread } from '../trace/run-thread.ts';
import { collectAll, readEnvironmentFlags, readFolderFlags, readPluginConfig, wholeNumber } from '../trace/settings.ts';
import { summarize } from '../trace/summary.ts';
import { assertOneFromStdin, readTracingOptions, type TracingFlags, withTracing } from '../tracing-options.ts';

interface Options extends TracingFlags {
  readonly invoke?: string;
  readonly input?: string;
  readonly inputFile?: string;
  readonly pluginConfig?: readonly string[];
  readonly env?: readonly string[];
  readonly dir?: readonly string[];
  readonly stubImports?: boolean;
  readonly timeout?: number;
  readonly repeat: number;
  readonly format?: Format;
  readonly output?: string;
  readonly top: number;
  readonly depth: number;
  readonly each?: boolean;
  /** In microseconds. */
  readonly minDuration?: number;
  readonly maxSpans: number;
  readonly json?: boolean;
}

export function addTraceCommand(program: Command, io: Io): void {
  const command = withJson(
    program
      .command('trace')
      .argument('<module>', 'a compiled module, instrumented or not; "-" reads stdin')
      .argument('[args...]', 'what the command, or the export, is called with; behind "--"')
      .description('run a module here, and show which of its functions took how long'),
  );
  withReport(withTracing(withProgram(command)))
    .addHelpText(
      'after',
      `${examples(
        'tenon trace tool.wasm --dir . -- --verbose notes.txt',
        'tenon trace math.wasm --invoke power -- 2 10',
        "tenon trace plugin.wasm --invoke greet --input 'Ada' --repeat 100",
        'tenon trace tool.wasm --format html -o tool.html',
        'tenon trace tool.wasm --banned malloc,free --min-duration 100us',
        'tenon trace tool.wasm --json | jq .functions[0]',
      )}
A command of WASI runs from its _start. With --invoke an export is called: one of a plugin for Extism with bytes, any other
with numbers. What the program writes, and what an export answers, goes to stdout; the report goes to stderr, or to a file.
With "-o -" and --json the report goes to stdout, and what the program writes to stderr.
`,
    )
    .action((input: string, args: string[], options: Options) => run(io, input, args, options));
}

function withProgram(command: Command): Command {
  return command
    .optionsGroup('The program:')
    .option('-i, --invoke <export>', 'call this export rather than _start')
    .addOption(new Option('--input <text>', "a plugin's input").conflicts(['inputFile']))
    .option('--input-file <file>', 'the same from a file; "-" reads stdin')
    .option('--plugin-config <key=value>', "a plugin's configuration; may be given again", collectAll)
    .option('--env <name[=value]>', 'a variable that the program sees; may be given again', collectAll)
    .option('--dir <folder[::path]>', 'a folder that it sees, as this path; may be given again', collectAll)
    .option('--stub-imports', 'replace missing imports by functions that do nothing')
    .option('--timeout <duration>', 'stop the program after this long, and report the run so far', parseTimeout)
    .option('--repeat <runs>', 'run it so often, and sum up', wholeNumber(1, 100_000), 1);
}

function withReport(command: Command): Command {
  return command
    .optionsGroup('The report:')
    .addOption(
      new Option(
        '--format <format>',
        'tree, or a file: html (a flame graph), chrome (for Perfetto too), speedscope, folded, otlp, json',
      ).choices(Object.keys(formats)),
    )
    .option('-o, --output <file>', '"-" is stdout (default: stderr for a tree; else a file beside the module)')
    .option('--top <functions>', 'list this many functions, those with the most self time', wholeNumber(0, 1e6), 10)
    .option('--depth <calls>', 'show the call tree down to this depth', wholeNumber(1, 100_000), 40)
    .option('--each', 'give each call a line of its own in the tree')
    .option(
      '--min-duration <duration>',
      `shorter calls are counted with their callers; 0 shows all (default: ${defaultMinDurationMicroseconds}us)`,
      parseMicroseconds,
    )
    .option(
      '--max-spans <spans>',
      'store at most this many calls of a run',
      wholeNumber(1, 10_000_000),
      defaultLimits.spans,
    );
}

async function run(io: Io, input: string, args: readonly string[], options: Options): Promise<void> {
  const format = formatOf(options);
  const output =
    options.output ?? (format === 'json' ? standardStream : format === 'tree' ? undefined : beside(input, format));
  const out = createReporter(io, format === 'json');
  assertOneFromStdin(input, options);
  if (input === standardStream && options.inputFile === standardStream) {
    throw usageError('The module and its input can not both come from stdin.');
  }
  const tracing = await readTracingOptions(io, options);
  const bytes = await readInput(io, input, 'the module');
  const prepared = await prepareProgram(bytes, { ...options, args });
  const module = prepared.isInstrumented ? assertNoChoice(bytes, options) : instrumented(io, out, bytes, tracing);
  const programName = input === standardStream ? 'stdin' : basename(input);
  const pluginInput = await readPluginInput(io, options);
  const demangler = await readDemangler();
  const result = await io.interruptible(async (signal) => {
    const task = {
      module,
      program: prepared.program,
      stubs: prepared.stubs,
      programName,
      environment: readEnvironmentFlags(options.env ?? [], io.environment),
      folders: readFolderFlags(options.dir ?? []),
      input: pluginInput,
      pluginConfig: readPluginConfig(options.pluginConfig ?? []),
      repeat: options.repeat,
      minDurationMicroseconds: options.minDuration ?? defaultMinDurationMicroseconds,
      maxSpans: options.maxSpans,
      isStdoutTaken: output === standardStream,
      demangler,
    };
    const traced = await runInThread({
      task,
      signal,
      timeoutMs: options.timeout,
      stdin: io.stdin,
      hasStdin: input !== standardStream && options.inputFile !== standardStream,
      onLog: (text) => io.stderr.write(`plugin ${printable(text)}\n`),
    });
    return { ...traced, whyStopped: signal.aborted ? (signal.reason as unknown) : timedOut(options.timeout) };
  });
  if (result.ending.kind === 'refused') throw refused(result.ending.reason);
  if (result.output !== undefined) await writeAnswer(io, result.output, output);
  const title = options.invoke === undefined ? programName : `${programName} ${options.invoke}`;
  if (result.statistics === undefined) out.note(nothingKnown);
  else await report(io, out, { format, output, options, trace: traceOf(title, result, options) });
  throwUnlessSucceeded(result.ending, result.whyStopped);
}

/** What an export has answered, on a line of its own where people see it beside the report. */
async function writeAnswer(io: Io, answer: Uint8Array, reportOutput: string | undefined): Promise<void> {
  const stream = reportOutput === standardStream ? io.stderr : io.stdout;
  await writeBytes(stream, answer);
  if (stream.isTTY && answer.length > 0 && answer.at(-1) !== 0x0a) await writeBytes(stream, new Uint8Array([0x0a]));
}

function formatOf({ format, json }: Options): Format {
  if (json && format !== undefined && format !== 'json') {
    throw usageError('--json is a format of its own.', `Give --format ${format} alone.`);
  }
  return json ? 'json' : (format ?? 'tree');
}

function beside(input: string, format: Format): string {
  if (input === standardStream) return standardStream;
  return join(dirname(input), `${basename(input).replace(/\.wasm$/i, '')}${formats[format]}`);
}

function assertNoChoice(bytes: Uint8Array, { allowed, allowedFile, banned, bannedFile, config }: Options): Uint8Array {
  if ([allowed, allowedFile, banned, bannedFile, config].every((flag) => flag === undefined)) return bytes;
  throw usageError(
    'The module is instrumented already: what is traced of it was chosen then.',
    'Trace the module that it was made from, or leave that choice out.',
  );
}

function instrumented(io: Io, out: Reporter, bytes: Uint8Array, tracing: InstrumentOptions): Uint8Array {
  const { result } = rewrite(io, !out.isJson, bytes, tracing);
  checkRewritten(io, !out.isJson, bytes, result.bytes);
  const { tracedFunctions, totalFunctions, notes } = result.report;
  for (const note of notes) if (note.code === 'name_not_found') out.warn(printable(note.message));
  if (tracedFunctions === 0 && totalFunctions > 0) out.warn('No function is traced.');
  return result.bytes;
}

async function readPluginInput(io: Io, { input, inputFile }: Options): Promise<Uint8Array> {
  if (inputFile === undefined) return new TextEncoder().encode(input ?? '');
  return readInput(io, inputFile, 'the input');
}

function readDemangler(): Promise<Uint8Array> {
  return readFile(fileURLToPath(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm')));
}

function traceOf(title: string, result: RunResult, options: Options): Trace {
  const { runs, statistics, spans, timeNano, initialPages, ending } = result;
  const isRepeated = options.repeat > 1 && statistics !== undefined;
  return {
    title,
    spans,
    statistics,
    initialPages,
    ending,
    minDurationMicroseconds: options.minDuration ?? defaultMinDurationMicroseconds,
    timeNano,
    summary: isRepeated ? summarize(runs, statistics) : undefined,
  };
}

const nothingKnown =
  'There is nothing to report: the call that was going on called nothing that is traced, and could only be ended from outside.';

interface Reporting {
  readonly format: Format;
  readonly output: string | undefined;
  readonly options: Options;
  readonly trace: Trace;
}

async function report(io: Io, out: Reporter, { format, output, options, trace }: Reporting): Promise<void> {
  const stream = output === undefined ? io.stderr : output === standardStream ? io.stdout : undefined;
  const isColoured = stream !== undefined && hasColours(stream, io.environment);
  const { top, depth, each = false } = options;
  const layout = { style: createStyle(isColoured), isColoured, top, depth, isEach: each };
  const text =
    format === 'tree'
      ? formatReport(trace, layout)
      : format === 'json'
        ? `${JSON.stringify(traceAsJson(trace), null, 2)}\n`
        : formatTrace(format, trace);
  const bytes = new TextEncoder().encode(text);
  if (output === undefined) await writeBytes(io.stderr, bytes);
  else await io.interruptible((signal) => writeOutput(io, output, bytes, signal));
  if (output !== undefined && output !== standardStream) out.note(`${formatHeading(trace)} → ${printable(output)}`);
}

function refused(reason: string): CliError {
  return new CliError('invalid_module', `The engine can not run the module: ${printable(reason)}`, {
    exitCode: exitCodes.refused,
  });
}

function timedOut(timeoutMs = 0): CliError {
  return new CliError(
    'timeout',
    `The program was stopped: it took longer than ${formatDuration(timeoutMs)} (--timeout).`,
  );
}

function throwUnlessSucceeded(ending: Ending, whyStopped: unknown): void {
  if (ending.kind === 'stopped') throw whyStopped;
  if (ending.kind === 'failed') throw new CliError('program_failed', `The program failed: ${printable(ending.reason)}`);
  if (ending.kind === 'returned' && (ending.exitCode ?? 0) !== 0) {
    throw new CliError('program_failed', `The program ended with exit code ${ending.exitCode}.`);
  }
}
