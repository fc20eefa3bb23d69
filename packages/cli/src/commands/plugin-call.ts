import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeModule } from '@tenon/instrument';
import { Option } from 'commander';
import { type Command, withServer } from '../command.ts';
import { debugInfoOf } from '../debug-files.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput, standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { locations } from '../locations.ts';
import { createReporter, type Reporter, writeBytes } from '../output.ts';
import { type BoundChoice, fetchBoundModule } from '../project/bound-module.ts';
import { moduleFile } from '../project/module-file.ts';
import { callingForPlugin, openProject, type ProjectOptions, withProject } from '../project/plugin-session.ts';
import { recordCall } from '../testing/record-call.ts';
import { formatSize, printable, printableLines } from '../text.ts';
import { prepareProgram } from '../trace/program.ts';
import { assertAccepted, assertSucceeded, runProgram } from '../trace/run-program.ts';
import { type InputFlags, readPluginConfig, readPluginInput, withPluginInput } from '../trace/settings.ts';
import { refusing } from '../tracing-options.ts';

interface Options extends InputFlags, BoundChoice, ProjectOptions {
  readonly local?: boolean;
  readonly build?: boolean;
  readonly module?: string;
  readonly pluginConfig?: readonly string[];
  readonly stubImports?: boolean;
  readonly timeLimit?: number;
  readonly output: string;
  readonly record?: string;
  readonly json?: boolean;
}

/** A module to call. Published ones have a plugin. */
interface Callee {
  readonly bytes: Uint8Array;
  readonly contentAddress: string;
  readonly plugin?: string | undefined;
  readonly version?: number | undefined;
  readonly file?: string | undefined;
}

export function addCallCommand(group: Command, io: Io): void {
  const published = callingForPlugin(io, async (session, options: Options, exportName: string, args: string[]) => {
    const output = outputOf(options);
    await call(io, session.out, await fetchBoundModule(session, options), { exportName, args, options, output });
  });
  const local = async (exportName: string, args: readonly string[], options: Options): Promise<void> => {
    const out = createReporter(io, options.json === true);
    const output = outputOf(options);
    await call(io, out, await readLocal(io, out, options), { exportName, args, options, output });
  };
  const command = group
    .command('call')
    .argument('<export>', 'the exported function')
    .argument('[args...]', 'arguments of a function that takes numbers, after "--"')
    .description('call an export of a plugin on this machine, as a host does')
    .optionsGroup('The module (default: the version that is bound):')
    .option('--plugin <plugin>', "the plugin, by name or id ext_…/plugin/usr_…/<name> (default: tenon.toml's)")
    .option('--guest <guest>', 'the version bound under this guest: a guest key, for the team, or an id')
    .option('--local', "call tenon.toml's module, published or not, without a server")
    .option('--build', "run tenon.toml's build command first; implies --local")
    .addOption(
      new Option('--module <file>', 'call this module, without a server; "-" reads stdin').conflicts([
        'local',
        'build',
        'plugin',
        'guest',
      ]),
    )
    .optionsGroup('The call:');
  withPluginInput(command);
  command
    .option('--stub-imports', 'replace missing imports with functions that return zero')
    .option('--time-limit <duration>', 'stop the call after this long', parseTimeout)
    .option('-o, --output <file>', 'the file for the output; "-" is stdout', standardStream)
    .option('--record <file>', 'add the call and its output to a JSON file of fixtures, for "tenon plugin test"')
    .optionsGroup('Options:')
    .use(withProject, withServer)
    .examples(
      'tenon plugin call greet --input Ada',
      'tenon plugin call greet --build --input Ada',
      'tenon plugin call greet --plugin greeter --guest customers/42 --input-file order.json --json',
      'tenon plugin call add --module math.wasm -- 2 3',
    )
    .addHelpText(
      'after',
      `It fetches the plugin as a host does, verifies its bytes, and runs them on this machine with the host functions of Extism and
WASI, without access to files, the environment, or the network. The output goes to stdout, the plugin's log to stderr. The exit
code is 1 if the call fails, and 5 if no version is bound.`,
    )
    .action(async (exportName: string, args: string[], options: Options, self: Command) => {
      if (options.local || options.build || options.module !== undefined) await local(exportName, args, options);
      else await published(exportName, args, options, self);
    });
}

/** Where the output goes. Rejects impossible choices before the work. */
function outputOf({ output, json, module, inputFile }: Options): string | undefined {
  if (module === standardStream && inputFile === standardStream) {
    throw usageError('The module and its input can’t both come from stdin.');
  }
  return json && output === standardStream ? undefined : output;
}

async function readLocal(io: Io, out: Reporter, options: Options): Promise<Callee> {
  const project = await openProject(io, options);
  for (const warning of project?.warnings ?? []) out.warn(printable(warning));
  const file = await io.interruptible((signal) => moduleFile({ io, out, signal, project }, options, options.module));
  const bytes = await readInput(io, file, 'the module');
  return { bytes, contentAddress: createHash('sha256').update(bytes).digest('base64url'), file };
}

interface CallOptions {
  readonly exportName: string;
  readonly args: readonly string[];
  readonly options: Options;
  /** A file, or `-`; `undefined` to write no output but the JSON. */
  readonly output: string | undefined;
}

async function call(
  io: Io,
  out: Reporter,
  { bytes, ...callee }: Callee,
  { exportName, args, options, output }: CallOptions,
) {
  const description = refusing(() => describeModule(bytes));
  const { program } = prepareProgram(description, { ...options, invoke: exportName, args });
  if (options.record !== undefined && program.kind !== 'plugin') {
    throw usageError('--record needs a function that takes its input from Extism, not numbers.');
  }
  const input = await readPluginInput(io, options);
  const { result, whyStopped } = await runProgram(io, {
    task: {
      run: {
        module: new Uint8Array(bytes),
        program,
        input,
        pluginConfig: readPluginConfig(options.pluginConfig ?? []),
        missing: 'zero',
        minDurationMicroseconds: 0,
        maxSpans: 1,
        maxMemoryBytes: Number.POSITIVE_INFINITY,
        repeat: 1,
      },
      args: [],
      environment: {},
      folders: {},
      // The program's stdout must not mix with the JSON.
      isStdoutTaken: out.isJson,
      demangler: await readFile(locations.demangler),
      debugInfo: debugInfoOf(callee.file ?? standardStream, bytes),
    },
    timeoutMs: options.timeLimit,
    timeLimitOption: '--time-limit',
    hasStdin: false,
    // The bytes are not instrumented, so no traced call stops them.
    graceMs: 0,
  });
  if (result === undefined) throw whyStopped;
  assertAccepted(result.ending);
  if (options.record !== undefined) {
    const file = resolve(io.workingFolder, options.record);
    const isNew = await recordCall(io, file, { exportName, input, ending: result.ending, output: result.output });
    out.note(
      isNew ? `Recorded in ${printable(options.record)}.` : `${printable(options.record)} has this call already.`,
    );
  }
  assertSucceeded(result.ending, whyStopped);
  const answer = result.output ?? new TextEncoder().encode(result.values.map((value) => `${value}\n`).join(''));
  if (output !== undefined) await writeAnswer(io, output, answer);
  if (output !== undefined && output !== standardStream)
    out.note(`Wrote ${formatSize(answer.length)} to ${printable(output)}.`);
  if (!out.isJson) return;
  const { plugin = null, version = null, file = null, contentAddress } = callee;
  const text = textOf(answer);
  const outputBase64 = Buffer.from(answer).toString('base64');
  out.result(
    { export: exportName, plugin, version, file, contentAddress, output: text ?? null, outputBase64 },
    () => {},
  );
}

/** Writes the output unchanged, but for a terminal, which gets text only, without its control characters. */
async function writeAnswer(io: Io, output: string, answer: Uint8Array): Promise<void> {
  if (output !== standardStream || !io.stdout.isTTY) {
    return io.interruptible((signal) => writeOutput(io, output, answer, signal));
  }
  const text = textOf(answer);
  if (text === undefined) {
    throw new CliError(
      'binary_output',
      `The output, ${formatSize(answer.length)}, is not text for a terminal to show.`,
      {
        exitCode: exitCodes.usage,
        hint: 'Name a file with -o, or pipe the output to another program.',
      },
    );
  }
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeBytes(io.stdout, new TextEncoder().encode(printableLines(text) + end));
}

/** The text of the bytes; `undefined` if they are not UTF-8, or have a NUL character. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
