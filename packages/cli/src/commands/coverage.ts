import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeModule } from '@tenon/instrument';
import { readCoverageMap } from '@tenon/instrument/coverage';
import type { Command } from 'commander';
import { examples, withJson } from '../command.ts';
import { type CoverageFlags, withCoverageReport } from '../coverage/coverage-options.ts';
import { assertCovered, coverageAsJson, readCoverage, writeCoverage } from '../coverage/report-coverage.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput, standardStream } from '../files.ts';
import type { Io } from '../io.ts';
import { locations } from '../locations.ts';
import { createReporter } from '../output.ts';
import { checkRewritten, rewrite } from '../rewriting.ts';
import { prepareProgram } from '../trace/program.ts';
import { type ProgramFlags, withProgram } from '../trace/program-options.ts';
import { assertAccepted, assertSucceeded, runProgram, writeAnswer } from '../trace/run-program.ts';
import {
  readEnvironmentFlags,
  readFolderFlags,
  readPluginConfig,
  readPluginInput,
  wholeNumber,
} from '../trace/settings.ts';
import { refusing } from '../tracing-options.ts';

interface Options extends ProgramFlags, CoverageFlags {
  readonly fuel?: number;
  readonly json?: boolean;
}

export function addCoverageCommand(program: Command, io: Io): void {
  const command = withProgram(
    withJson(
      program
        .command('coverage')
        .argument('<module>', 'a compiled module; "-" reads stdin')
        .argument('[args...]', 'arguments of the command or the export, after "--"')
        .description('run a module on this machine and show which of its lines, functions, and blocks have run'),
    ),
  ).option(
    '--fuel <instructions>',
    'stop the program after this many instructions and report the run so far',
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
  );
  withCoverageReport(command.optionsGroup('The report:'))
    .addHelpText(
      'after',
      `${examples(
        'tenon coverage tool.wasm --dir . -- --verbose notes.txt',
        "tenon coverage plugin.wasm --invoke greet --input 'Ada' --html coverage",
        'tenon coverage math.wasm --invoke power --lcov lcov.info --fail-under 80 -- 2 10',
        'for n in 1 2 3; do tenon coverage math.wasm --invoke square --merge counts.json -- $n; done',
      )}
A WASI command runs from its _start. --invoke calls an export: of an Extism plugin with bytes, of any other module with
numbers. The program's output goes to stdout, the report to stderr or to files. With --json and "--lcov -", the report goes
to stdout, and the program's output to stderr.

Lines come from the module's DWARF or source map; compile with -g. Without, functions and blocks are counted.
The count of a line is the highest count of its blocks. --merge creates the file if it does not exist.
`,
    )
    .action((input: string, args: string[], options: Options) => run(io, input, args, options));
}

async function run(io: Io, input: string, args: readonly string[], options: Options): Promise<void> {
  const isJson = options.json === true;
  const out = createReporter(io, isJson);
  if (isJson && options.lcov === standardStream)
    throw usageError('Only one of --json and "--lcov -" can go to stdout.');
  if (input === standardStream && options.inputFile === standardStream) {
    throw usageError('The module and its input can’t both come from stdin.');
  }
  const isStdoutTaken = isJson || options.lcov === standardStream;
  const bytes = await readInput(io, input, 'the module');
  const { program } = prepareProgram(
    refusing(() => describeModule(bytes)),
    { ...options, args },
  );
  // Without tracing, the host can stop a loop only where it refills fuel.
  const { fuel = Number.MAX_SAFE_INTEGER } = options;
  const { result } = rewrite(io, !isJson, bytes, { trace: false, coverage: true, fuel, onOutOfFuel: 'call' });
  checkRewritten(io, !isJson, bytes, result.bytes);
  const map = readCoverageMap(result.bytes);
  if (map === undefined) throw new CliError('internal', 'The instrumented module has no coverage map.');
  const { result: ran, whyStopped } = await runProgram(io, {
    task: {
      run: {
        module: new Uint8Array(result.bytes),
        program,
        input: await readPluginInput(io, options),
        pluginConfig: readPluginConfig(options.pluginConfig ?? []),
        missing: 'zero',
        minDurationMicroseconds: 0,
        maxSpans: 1,
        maxMemoryBytes: Number.POSITIVE_INFINITY,
        repeat: 1,
      },
      args: [input === standardStream ? 'stdin' : basename(input), ...args],
      environment: readEnvironmentFlags(options.env ?? [], io.environment),
      folders: readFolderFlags(options.dir ?? []),
      isStdoutTaken,
      demangler: await readFile(locations.demangler),
    },
    timeoutMs: options.timeout,
    timeLimitOption: '--timeout',
    hasStdin: input !== standardStream && options.inputFile !== standardStream,
  });
  if (ran?.coverage === undefined) throw whyStopped;
  assertAccepted(ran.ending);
  await writeAnswer(ran, isStdoutTaken ? io.stderr : io.stdout);
  const coverage = await readCoverage(io, { file: input, bytes, map, counts: ran.coverage }, options);
  out.result(coverageAsJson(coverage), () => {});
  await writeCoverage(io, coverage, options, !isJson);
  if (ran.isOutOfFuel) {
    throw new CliError('out_of_fuel', `The program was stopped: it used up ${options.fuel} instructions (--fuel).`, {
      exitCode: exitCodes.timedOut,
    });
  }
  assertSucceeded(ran.ending, whyStopped);
  assertCovered(coverage, options);
}
