import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeModule, type InstrumentOptions, type Note } from '@tenon/instrument';
import type { RunResult } from '@tenon/run-kit';
import { defaultLimits, defaultMinDurationMicroseconds } from '@tenon/trace';
import { type Command, Option } from 'commander';
import { examples, withJson } from '../command.ts';
import { debugInfoOf, readDebugFiles } from '../debug-files.ts';
import { parseMicroseconds } from '../duration.ts';
import { usageError } from '../errors.ts';
import { readInput, standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { locations } from '../locations.ts';
import { createReporter, type Reporter, writeBytes } from '../output.ts';
import { checkRewritten, rewrite } from '../rewriting.ts';
import { createStyle, hasColours, printable } from '../text.ts';
import { type Format, formats, formatTrace, type Trace, traceAsJson } from '../trace/formats.ts';
import { type ProfileFlags, profileFile, writeProfiles } from '../trace/profiles.ts';
import { prepareProgram } from '../trace/program.ts';
import { type ProgramFlags, withProgram } from '../trace/program-options.ts';
import { formatHeading, formatReport } from '../trace/report.ts';
import { assertAccepted, assertSucceeded, runProgram, writeAnswer } from '../trace/run-program.ts';
import {
  readEnvironmentFlags,
  readFolderFlags,
  readPluginConfig,
  readPluginInput,
  wholeNumber,
} from '../trace/settings.ts';
import { summarize } from '../trace/summary.ts';
import {
  assertOneFromStdin,
  readTracingOptions,
  refusing,
  type TracingFlags,
  withTracing,
} from '../tracing-options.ts';

interface Options extends TracingFlags, ProgramFlags, ProfileFlags {
  readonly repeat: number;
  readonly format?: Format;
  readonly output?: string;
  readonly top: number;
  readonly depth: number;
  readonly each?: boolean;
  readonly full?: boolean;
  readonly source: boolean;
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
      .argument('[args...]', 'arguments of the command or the export, after "--"')
      .description('run a module on this machine and show how long each of its functions took'),
  );
  const runs = withProgram(command).option(
    '--repeat <runs>',
    'run it this many times and report the spread',
    wholeNumber(1, 100_000),
    1,
  );
  withReport(withTracing(runs))
    .addHelpText(
      'after',
      `${examples(
        'tenon trace tool.wasm --dir . -- --verbose notes.txt',
        'tenon trace math.wasm --invoke power -- 2 10',
        "tenon trace plugin.wasm --invoke greet --input 'Ada' --repeat 100",
        'tenon trace tool.wasm --format html -o tool.html',
        'tenon trace tool.wasm --banned malloc,free --min-duration 100us',
        'tenon trace tool.wasm --memory --heap-profile heap.pb.gz --pprof time.pb.gz',
        'tenon trace tool.wasm --json | jq .functions[0]',
      )}
A WASI command runs from its _start. --invoke calls an export: of an Extism plugin with bytes, of any other module with
numbers. The program's output and the results of an export go to stdout, the report to stderr or a file. With "-o -" and
--json, the report goes to stdout, and the program's output to stderr.
`,
    )
    .action((input: string, args: string[], options: Options) => run(io, input, args, options));
}

function withReport(command: Command): Command {
  return command
    .optionsGroup('The report:')
    .addOption(
      new Option(
        '--format <format>',
        'tree, or a file: html (a flame graph), chrome (also for Perfetto), speedscope, folded, otlp, json',
      ).choices(Object.keys(formats)),
    )
    .option('-o, --output <file>', '"-" is stdout (default: stderr for a tree, else a file next to the module)')
    .option('--pprof <file>', 'also write the time as a profile for pprof, compressed', profileFile)
    .option('--heap-profile <file>', 'also write the memory as such a profile; implies --memory', profileFile)
    .option('--top <functions>', 'list this many functions with the most self time', wholeNumber(0, 1e6), 10)
    .option('--depth <calls>', 'show the call tree down to this depth', wholeNumber(1, 100_000), 40)
    .option('--each', 'show each call on its own line of the tree')
    .option('--no-source', "leave out source files and lines, which come from the module's DWARF or source map")
    .option(
      '--min-duration <duration>',
      `count shorter calls with their callers; 0 shows all (default: ${defaultMinDurationMicroseconds}us)`,
      parseMicroseconds,
    )
    .option('--full', 'time each call, also of functions whose calls are all short, which is slower')
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
    throw usageError('The module and its input can’t both come from stdin.');
  }
  const memory = options.memory || options.heapProfile !== undefined;
  // A skipped call would be missing in the call paths of allocations.
  const isFull = options.full || memory || options.allocators !== undefined || options.minDuration === 0;
  const tracing = {
    ...(await readTracingOptions(io, { ...options, memory })),
    adaptive: !isFull,
    skipLeaves: !isFull,
  };
  const bytes = await readInput(io, input, 'the module');
  const prepared = prepareProgram(
    refusing(() => describeModule(bytes)),
    { ...options, args },
  );
  const debugInfo = options.source ? debugInfoOf(input, bytes) : undefined;
  const module = prepared.isInstrumented
    ? assertNoChoice(bytes, options)
    : instrumented(io, out, bytes, {
        ...tracing,
        ...(debugInfo && { codeMap: true }),
        ...(options.sourceFiles && readDebugFiles(input, bytes)),
      });
  const runnable = new Uint8Array(module);
  const programName = input === standardStream ? 'stdin' : basename(input);
  const pluginInput = await readPluginInput(io, options);
  const demangler = await readFile(locations.demangler);
  const { result: traced, whyStopped } = await runProgram(io, {
    task: {
      run: {
        module: runnable,
        program: prepared.program,
        input: pluginInput,
        pluginConfig: readPluginConfig(options.pluginConfig ?? []),
        missing: 'zero',
        minDurationMicroseconds: options.minDuration ?? defaultMinDurationMicroseconds,
        maxSpans: options.maxSpans,
        maxMemoryBytes: Number.POSITIVE_INFINITY,
        repeat: options.repeat,
      },
      args: [programName, ...args],
      environment: readEnvironmentFlags(options.env ?? [], io.environment),
      folders: readFolderFlags(options.dir ?? []),
      isStdoutTaken: output === standardStream,
      demangler,
      // The debug information describes the original code.
      debugInfo:
        debugInfo && !prepared.isInstrumented ? { ...debugInfo, debugFile: debugInfo.debugFile ?? bytes } : debugInfo,
    },
    timeoutMs: options.timeout,
    timeLimitOption: '--timeout',
    hasStdin: input !== standardStream && options.inputFile !== standardStream,
  });
  if (traced === undefined) {
    out.note(nothingKnown);
    throw whyStopped;
  }
  assertAccepted(traced.ending);
  await writeAnswer(traced, output === standardStream ? io.stderr : io.stdout);
  const title = options.invoke === undefined ? programName : `${programName} ${options.invoke}`;
  const trace = traceOf(title, traced, options);
  warnWithoutMemory(out, trace, options);
  await writeProfiles(io, runnable, trace, options);
  await report(io, out, { format, output, options, trace });
  assertSucceeded(traced.ending, whyStopped);
}

function formatOf({ format, json }: Options): Format {
  if (json && format !== undefined && format !== 'json') {
    throw usageError('--json and --format are exclusive.', `For ${format}, leave out --json.`);
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
    'The module is already instrumented, so its traced functions can’t be chosen.',
    'Trace the original module, or leave out these options.',
  );
}

function instrumented(io: Io, out: Reporter, bytes: Uint8Array, tracing: InstrumentOptions): Uint8Array {
  const { result } = rewrite(io, !out.isJson, bytes, tracing);
  checkRewritten(io, !out.isJson, bytes, result.bytes);
  const { tracedFunctions, totalFunctions, notes } = result.report;
  for (const note of notes) if (warnedNotes.has(note.code)) out.warn(printable(note.message));
  if (tracedFunctions === 0 && totalFunctions > 0) out.warn('No function is traced.');
  return result.bytes;
}

function traceOf(title: string, result: RunResult, options: Options): Trace {
  const { runs, statistics, heap, spans, timeNano, initialPages, ending } = result;
  const isRepeated = options.repeat > 1;
  return {
    title,
    spans,
    statistics,
    heap,
    initialPages,
    ending,
    minDurationMicroseconds: options.minDuration ?? defaultMinDurationMicroseconds,
    timeNano,
    summary: isRepeated ? summarize(runs, statistics) : undefined,
  };
}

const warnedNotes: ReadonlySet<Note['code']> = new Set([
  'name_not_found',
  'allocator_not_found',
  'allocator_not_traced',
  'free_not_found',
]);

/** Warns if memory was asked for and no allocator reported a call. */
function warnWithoutMemory(out: Reporter, { heap }: Trace, { memory, allocators, heapProfile }: Options): void {
  const isWanted = memory === true || allocators !== undefined || heapProfile !== undefined;
  if (isWanted && heap === undefined) out.warn('No allocation was traced.');
}

const nothingKnown = 'No report: the program never reached a traced function, so it was terminated without a trace.';

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
