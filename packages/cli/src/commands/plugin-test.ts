import { resolve } from 'node:path';
import type { SimulationInputs } from '@tenon/run-kit/simulation';
import { Option } from 'commander';
import { type Command, withServer } from '../command.ts';
import { type CoverageFlags, withCoverageReport } from '../coverage/coverage-options.ts';
import {
  assertCovered,
  type Coverage,
  coverageAsJson,
  readCoverage,
  writeCoverage,
} from '../coverage/report-coverage.ts';
import { formatDuration, parseTimeout } from '../duration.ts';
import { CliError, usageError } from '../errors.ts';
import { standardStream, writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter, reportError } from '../output.ts';
import { type BuildSession, moduleFile, runBuild } from '../project/module-file.ts';
import {
  callingForPlugin,
  openProject,
  type ProjectOptions,
  pluginExtensionPoint,
  withProject,
} from '../project/plugin-session.ts';
import type { Project } from '../project/project.ts';
import { readSchemaFile } from '../schema-file.ts';
import { formatJunit } from '../testing/junit.ts';
import { runTests } from '../testing/run-tests.ts';
import { fetchSimulations, type ServerSimulations } from '../testing/server-simulations.ts';
import { showReport } from '../testing/show-report.ts';
import { formatTap } from '../testing/tap.ts';
import {
  type FoundTest,
  filesOf,
  readTest,
  type TestFiles,
  testOfOptions,
  testOfProject,
} from '../testing/test-inputs.ts';
import { exitCodeOfVerdict, type TestRun } from '../testing/test-run.ts';
import { type RunOnce, watchTests } from '../testing/watch-tests.ts';
import { count, printable } from '../text.ts';

interface Options extends TestFiles, ProjectOptions, CoverageFlags {
  readonly coverage?: boolean;
  readonly extensionPoint?: string;
  readonly simulations?: boolean;
  readonly schema?: string;
  readonly build?: boolean;
  readonly timeLimit: number;
  readonly watch?: boolean;
  readonly tap?: boolean;
  readonly junit?: string;
  readonly json?: boolean;
}

const defaultTimeLimitMs = 10_000;

export function addTestCommand(group: Command, io: Io): void {
  group
    .command('test')
    .argument('[module]', 'the module; "-" reads stdin (default: that of tenon.toml or xtp.toml)')
    .description('run simulations of a plugin on this machine, as the server does when it is published')
    .optionsGroup("The test (default: [[test]] of tenon.toml or xtp.toml, else the extension point's simulations):")
    .option('--with <file>', 'a test module')
    .option('--mock-host <file>', 'a module that exports the host functions which the plugin imports')
    .addOption(new Option('--mock-input-data <text>', 'the mock input of the test module').conflicts('mockInputFile'))
    .option('--mock-input-file <file>', 'a file with the mock input; "-" reads stdin')
    .addOption(new Option('--fixtures <file>', 'a JSON file with calls and expected outputs').conflicts('with'))
    .addOption(
      new Option('--simulations', "the extension point's simulations, from the server").conflicts(['with', 'fixtures']),
    )
    .option('--schema <file>', 'the schema that outputs are compared with (default: that of --simulations)')
    .optionsGroup('The run:')
    .option('--build', 'run the build commands of tenon.toml or xtp.toml first')
    .addOption(
      new Option('--time-limit <duration>', 'stop a simulation after this long')
        .argParser(parseTimeout)
        .default(defaultTimeLimitMs, formatDuration(defaultTimeLimitMs)),
    )
    .addOption(new Option('--watch', 'run again when files change, until Ctrl-C').conflicts(['json', 'tap']))
    .optionsGroup('The report:')
    .addOption(new Option('--tap', 'write TAP 14 to stdout').conflicts('json'))
    .option('--junit <file>', 'write JUnit XML to a file, too')
    .optionsGroup("The plugin's coverage:")
    .option('--coverage', 'show which lines, functions, and blocks of the plugin have run')
    .use((command) => withCoverageReport(command, { coverage: true }))
    .optionsGroup('Options:')
    .use(withProject, withServer)
    .examples(
      'tenon plugin test --build',
      'tenon plugin test greet.wasm --with test.wasm --mock-input-data Ada',
      'tenon plugin test --simulations --json',
      'tenon plugin test --fixtures recorded.json --watch',
      'tenon plugin test --html coverage --fail-under 80',
    )
    .addHelpText(
      'after',
      `It needs no server, except for the extension point's simulations. Modules run without access to files, the environment,
and the network. The exit code is 0 if all simulations pass, 1 if one fails, 9 if one exceeds the time limit, 10 if one
can't be run, and 11 without a simulation. Without --build, a command of a project file runs only if its module is missing, and
after you confirm it. With --watch and --build, it watches all files of the plugin's folder.`,
    )
    .action(async (file: string | undefined, options: Options, self: Command) => {
      assertPossible(file, options);
      if (await needsServer(io, options)) await onServer(io)(file, options, self);
      else await offline(io, file, options);
    });
}

/** Whether the simulations of the extension point are to be run. */
async function needsServer(io: Io, options: Options): Promise<boolean> {
  if (options.simulations) return true;
  if (options.with !== undefined || options.fixtures !== undefined) return false;
  const project = await openProject(io, options);
  if ((project?.settings.tests ?? []).length > 0) return false;
  return (options.extensionPoint ?? project?.settings.extensionPoint) !== undefined;
}

/** @throws CliError for options that don't go together */
function assertPossible(file: string | undefined, options: Options): void {
  const { with: module, mockHost, mockInputData, mockInputFile, fixtures, schema } = options;
  if (module === undefined && (mockInputData ?? mockInputFile) !== undefined) {
    throw usageError('A mock input needs a test module that reads it.', 'Name one with --with.');
  }
  if ((module ?? fixtures) === undefined && mockHost !== undefined) {
    throw usageError('A mock host needs a test.', 'Name a test module with --with, or fixtures with --fixtures.');
  }
  if (options.lcov === standardStream) throw usageError('--lcov needs a file: stdout has the results.');
  const ofStdin = [file, module, mockHost, mockInputFile, fixtures, schema].filter((name) => name === standardStream);
  if (ofStdin.length > 1) throw usageError('Only one of the files can come from stdin.');
  if (ofStdin.length > 0 && options.watch) throw usageError('--watch needs files, and stdin is not one.');
}

const onServer = (io: Io) =>
  callingForPlugin(io, async (session, options: Options, file: string | undefined) => {
    const found = await fetchSimulations(session, await pluginExtensionPoint(session, options));
    if (found.simulations.length === 0) session.out.note('The extension point has no simulations.');
    await testPlugin(session, options, file, found);
  });

async function offline(io: Io, file: string | undefined, options: Options): Promise<void> {
  const out = createReporter(io, options.json === true);
  const project = await openProject(io, options);
  for (const warning of project?.warnings ?? []) out.warn(printable(warning));
  await io.interruptible((signal) => testPlugin({ io, out, signal, project }, options, file, undefined));
}

async function testPlugin(
  session: BuildSession,
  options: Options,
  file: string | undefined,
  stored: ServerSimulations | undefined,
): Promise<void> {
  const { io, out } = session;
  const schema = await readSchema(session, options.schema);
  const once: RunOnce = async (isBuilding, onFiles) => {
    const project = options.watch ? await openProject(io, options) : session.project;
    const current = { ...session, project };
    const module = await moduleFile(current, { build: isBuilding && hasOwnBuild(project) }, file);
    const found = stored === undefined ? await findTests(current, options, isBuilding) : [];
    await onFiles([module, ...found.flatMap(filesOf), ...(project === undefined ? [] : [project.file])]);
    const tests: SimulationInputs[] = [];
    for (const test of found) tests.push(await readTest(io, test));
    const simulations = stored?.simulations ?? tests;
    const schemaJson = schema ?? stored?.schemaJson ?? null;
    if (schemaJson === null) assertNoSchemaNeeded(simulations);
    const { run, coverage } = await runTests(io, {
      file: module,
      simulations,
      schemaJson,
      timeLimitMs: options.timeLimit,
      signal: session.signal,
      isShown: !out.isJson,
      measuresCoverage: options.coverage === true,
    });
    const covered = coverage && (await readCoverage(io, coverage, options));
    await report(io, out, options, run, covered);
    assertPassed(run);
    if (covered !== undefined) assertCovered(covered, options);
  };
  if (!options.watch) return once(options.build === true, async () => {});
  await watchTests(session, options.build === true, once, (error) => reportError(error, io, false));
}

async function readSchema({ io, out }: BuildSession, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = file === standardStream ? file : resolve(io.workingFolder, file);
  return JSON.stringify(await readSchemaFile(io, path, out));
}

/** @throws CliError for fixtures that compare an output with the schema */
function assertNoSchemaNeeded(simulations: readonly SimulationInputs[]): void {
  const needing = simulations.find(({ fixtures }) => fixtures?.some(({ expect }) => expect.matchesSchema));
  if (needing === undefined) return;
  throw usageError(
    `The fixtures "${printable(needing.name)}" compare an output with the schema, and none is named.`,
    'Name its file with --schema. The simulations of an extension point (--simulations) have its schema.',
  );
}

/** Whether `--build` builds the module, and not only test modules. */
function hasOwnBuild(project: Project | undefined): boolean {
  return project?.settings.build !== undefined || !project?.settings.tests?.some(({ build }) => build !== undefined);
}

async function findTests(session: BuildSession, options: Options, isBuilding: boolean): Promise<readonly FoundTest[]> {
  const { project } = session;
  const named = testOfOptions(session.io, options);
  if (named !== undefined) return [named];
  const tests = project?.settings.tests ?? [];
  if (project === undefined || tests.length === 0) {
    throw usageError(
      'There is no test: neither in the command nor in a tenon.toml or xtp.toml here or above.',
      'Name a test module with --with, fixtures with --fixtures, or an extension point with -e.',
    );
  }
  const commands = new Set(isBuilding ? tests.flatMap((test) => test.build ?? []) : []);
  for (const command of commands) await runBuild(session, { folder: project.folder, command });
  const found: FoundTest[] = [];
  for (const test of tests) found.push(await testOfProject(session, project, test, { build: isBuilding }));
  return found;
}

async function report(
  io: Io,
  out: Reporter,
  options: Options,
  run: TestRun,
  coverage: Coverage | undefined,
): Promise<void> {
  const { tap, junit } = options;
  if (junit !== undefined) {
    await writeFileWhole(resolve(io.workingFolder, junit), (file) => file.writeFile(formatJunit(run)));
  }
  if (tap) out.write(formatTap(run));
  else {
    const all = coverage === undefined ? run : { ...run, coverage: coverageAsJson(coverage) };
    out.result(all, () => showReport(out, run));
  }
  if (coverage !== undefined) await writeCoverage(io, coverage, options, !out.isJson);
  else if (options.coverage) out.warn('The coverage of the plugin can’t be measured.');
}

/** @throws CliError with the verdict's exit code, unless all passed */
function assertPassed({ verdict, simulations }: TestRun): void {
  if (verdict === 'passed') return;
  const exitCode = exitCodeOfVerdict[verdict];
  if (verdict === 'none_configured') {
    throw new CliError('no_simulations', 'There is no simulation to run.', { exitCode });
  }
  const others = simulations.filter((report) => report.verdict !== 'passed').length;
  const what = { failed: 'failed', timed_out: 'exceeded the time limit', errored: 'could not be run' }[verdict];
  const message =
    simulations.length === 1
      ? `The simulation ${what}.`
      : `${others} of ${count(simulations.length, 'simulation')} did not pass; at least one ${what}.`;
  throw new CliError(`simulation_${verdict}`, message, { exitCode });
}
