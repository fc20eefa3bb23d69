import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Simulation,
  type SimulationInput,
  type SimulationTrialInput,
  simulationNamePattern,
  simulation as simulationSchema,
  simulationTrial,
  type TriedVersion,
} from '@tenon/protocol';
import type { SimulationInputs } from '@tenon/run-kit/simulation';
import { Option } from 'commander';
import { path } from '../api.ts';
import { type Command, withConfirmation, withExtensionPoint, withServer } from '../command.ts';
import { confirm } from '../confirm.ts';
import { CliError, usageError } from '../errors.ts';
import { writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { showList } from '../listing.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { readSchemaText, schemaHelp } from '../schema-file.ts';
import { calling, type Session } from '../session.ts';
import { fetchInputs } from '../testing/server-simulations.ts';
import { formatSimulation } from '../testing/show-report.ts';
import { readTest, type TestFiles, testOfOptions } from '../testing/test-inputs.ts';
import { exitCodeOfVerdict, verdictInWords, verdictOf } from '../testing/test-run.ts';
import { count, formatSize, formatTime, printable } from '../text.ts';

interface Choice {
  readonly extensionPoint?: string;
}

/** Adds `tenon extension-point simulation …`. */
export function addSimulationCommands(parent: Command, io: Io): void {
  const group = parent
    .command('simulation')
    .alias('sim')
    .description('simulations: tests that plugins must pass before they are bound');

  group
    .command('list')
    .description('list the simulations of an extension point')
    .use(withExtensionPoint, withServer)
    .examples('tenon extension-point simulation list')
    .action(calling(io, listSimulations));

  group
    .command('show')
    .argument('<simulation>', 'its name')
    .description('show a simulation')
    .use(withExtensionPoint, withServer)
    .examples('tenon extension-point simulation show basics', 'tenon extension-point simulation show basics --json')
    .action(calling(io, showSimulation));

  group
    .command('put')
    .argument('<simulation>', 'its name')
    .description('create or replace a simulation')
    .use(withTestFiles, withExtensionPoint, withServer)
    .examples(
      'tenon extension-point simulation put basics --fixtures fixtures.json',
      'tenon extension-point simulation put vowels --with test.wasm --mock-host host.wasm --mock-input-data Ada',
    )
    .addHelpText(
      'after',
      'Bound plugins stay bound. To see which of them would fail: tenon extension-point simulation try',
    )
    .action(calling(io, putSimulation));

  group
    .command('try')
    .argument('[simulation]', 'the name of a stored simulation (default: all), or of the one in the files')
    .option('--schema <file>', `instead of the extension point's: ${schemaHelp}`)
    .description('run simulations with the bound versions, before you set them')
    .use(withTestFiles, withExtensionPoint, withServer)
    .examples(
      'tenon extension-point simulation try --fixtures fixtures.json',
      'tenon extension-point simulation try basics --schema schema.yaml',
    )
    .addHelpText('after', 'Nothing is changed. The exit code is that of tenon plugin test.')
    .action(calling(io, trySimulations));

  group
    .command('pull')
    .argument('[simulation]', 'its name (default: all)')
    .option('-o, --output <folder>', 'the folder for the files', 'simulations')
    .description('write the files of simulations, for tenon plugin test')
    .use(withExtensionPoint, withServer)
    .examples('tenon extension-point simulation pull', 'tenon extension-point simulation pull basics -o tests')
    .action(calling(io, pullSimulations));

  group
    .command('delete')
    .argument('<simulation>', 'its name')
    .description('delete a simulation')
    .use(withConfirmation, withExtensionPoint, withServer)
    .examples('tenon extension-point simulation delete basics')
    .action(calling(io, deleteSimulation));
}

function withTestFiles(command: Command): Command {
  return command
    .option('--with <file>', 'a test module')
    .option('--mock-host <file>', 'a module that exports the host functions which plugins import')
    .addOption(new Option('--mock-input-data <text>', 'the mock input of the test module').conflicts('mockInputFile'))
    .option('--mock-input-file <file>', 'a file with the mock input; "-" reads stdin')
    .addOption(new Option('--fixtures <file>', 'a JSON file with calls and expected outputs').conflicts('with'));
}

async function pathOf(session: Session, options: Choice): Promise<string> {
  return path`/api/v1/extension-points/${await resolveExtensionPoint(session, options.extensionPoint)}`;
}

/** The path of a simulation, below that of its extension point. */
function named(name: string): string {
  if (new RegExp(simulationNamePattern).test(name)) return path`/simulations/${name}`;
  throw usageError(`A simulation's name must match ${simulationNamePattern}.`);
}

async function listSimulations(session: Session, options: Choice): Promise<void> {
  await showList(session, {}, `${await pathOf(session, options)}/simulations`, simulationSchema, {
    headings: ['NAME', 'KIND', 'SIZE', 'REVISION', 'UPDATED'],
    row: (one) => [one.name, kindOf(one), formatSize(sizeOf(one)), String(one.revision), formatTime(one.updatedAt)],
    whenEmpty: 'It has no simulation yet. Make one with `tenon extension-point simulation put <name>`.',
  });
}

function kindOf({ kind, fixtures, mockHost }: Simulation): string {
  if (kind === 'fixtures') return count(fixtures?.length ?? 0, 'fixture');
  return mockHost === null ? 'test module' : 'test module, mock host';
}

function sizeOf({ testModule, mockHost, mockInputBase64, fixtures }: Simulation): number {
  const ofFixtures = fixtures === null ? 0 : Buffer.byteLength(JSON.stringify(fixtures));
  const ofInput = Buffer.byteLength(mockInputBase64 ?? '', 'base64');
  return (testModule?.size ?? 0) + (mockHost?.size ?? 0) + ofInput + ofFixtures;
}

async function showSimulation(session: Session, options: Choice, name: string): Promise<void> {
  const { api, out } = session;
  const found = await api.get((await pathOf(session, options)) + named(name), simulationSchema);
  const { testModule, mockHost, mockInputBase64, fixtures } = found;
  out.result(found, () =>
    out.fields([
      ['name', found.name],
      ['kind', kindOf(found)],
      ['revision', String(found.revision)],
      ['updated', formatTime(found.updatedAt)],
      ...(testModule === null
        ? []
        : [['test module', `${testModule.contentAddress}, ${formatSize(testModule.size)}`] as const]),
      ...(mockHost === null
        ? []
        : [['mock host', `${mockHost.contentAddress}, ${formatSize(mockHost.size)}`] as const]),
      ...(mockInputBase64 === null
        ? []
        : [['mock input', formatSize(Buffer.byteLength(mockInputBase64, 'base64'))] as const]),
      ...(fixtures === null ? [] : [['fixtures', JSON.stringify(fixtures, null, 2).split('\n')] as const]),
    ]),
  );
}

async function putSimulation(session: Session, options: Choice & TestFiles, name: string): Promise<void> {
  const { api, out } = session;
  const input = await readInput(session, options);
  if (input === undefined) throw usageError('There is no test.', 'Name a test module --with, or --fixtures.');
  const at = (await pathOf(session, options)) + named(name);
  const put = await api.send('PUT', at, input, simulationSchema);
  out.result(put, () => out.note(`The simulation "${printable(put.name)}" has the revision ${put.revision}.`));
}

/** Reads the files that the options name. */
async function readInput({ io }: Session, options: TestFiles): Promise<SimulationInput | undefined> {
  const test = testOfOptions(io, options);
  if (test !== undefined) return toInput(await readTest(io, test));
  const isMocked = [options.mockHost, options.mockInputData, options.mockInputFile].some((one) => one !== undefined);
  if (isMocked) throw usageError('A mock needs a test module.', 'Name it --with.');
  return undefined;
}

function toInput({ testModule, mockHost, mockInput, fixtures }: SimulationInputs): SimulationInput {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return {
    ...(fixtures !== undefined && { fixtures: [...fixtures] }),
    ...(testModule !== undefined && { testModuleBase64: base64(testModule) }),
    ...(mockHost !== undefined && { mockHostBase64: base64(mockHost) }),
    ...(mockInput !== undefined && { mockInput: { base64: base64(mockInput) } }),
  };
}

async function trySimulations(
  session: Session,
  options: Choice & TestFiles & { readonly schema?: string },
  name: string | undefined,
): Promise<void> {
  const { api, io, out } = session;
  const simulation = await readInput(session, options);
  const body: SimulationTrialInput = {
    ...(name !== undefined && { name }),
    ...(simulation !== undefined && { simulation }),
    ...(options.schema !== undefined && { schema: await readSchemaText(io, options.schema) }),
  };
  const at = `${await pathOf(session, options)}/simulations/trial`;
  const tried: TriedVersion[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const page = await api.send('POST', `${at}${query}`, body, simulationTrial);
    tried.push(...page.objects);
    if (!out.isJson) for (const one of page.objects) showTried(session, one);
    cursor = page.nextCursor;
  }
  out.result({ objects: tried, isCut: false }, () => {});
  const bad = tried.filter(({ verdict }) => verdict !== 'passed').length;
  const all = count(tried.length, 'bound version');
  if (bad === 0) return out.note(tried.length === 0 ? 'No version is bound.' : `${all} passed.`);
  const verdict = verdictOf(tried.flatMap(({ simulations }) => simulations));
  const message =
    verdict === 'none_configured' && tried.every((one) => one.verdict === verdict)
      ? 'The extension point has no simulation.'
      : `${bad} of ${all} would not pass. Nothing was changed.`;
  const exitVerdict = verdict === 'passed' ? 'errored' : verdict;
  throw new CliError('simulations_failed', message, { exitCode: exitCodeOfVerdict[exitVerdict] });
}

function showTried({ out }: Session, { name, version, userName, verdict, detail, simulations }: TriedVersion): void {
  const { style } = out;
  const state = verdict === 'passed' ? style.good('passed') : style.error(verdictInWords(verdict));
  out.write(`${style.bold(printable(name))} ${version} by ${printable(userName)}: ${state}\n`);
  if (detail !== null) out.write(`  ${printable(detail)}\n`);
  for (const report of simulations) {
    if (report.verdict !== 'passed') out.write(formatSimulation(report, style).replace(/^(?=.)/gm, '  '));
  }
}

async function pullSimulations(
  session: Session,
  options: Choice & { readonly output: string },
  name: string | undefined,
): Promise<void> {
  const { api, io, out } = session;
  const place = await pathOf(session, options);
  const found =
    name === undefined
      ? await api.list(`${place}/simulations`, simulationSchema)
      : [await api.get(place + named(name), simulationSchema)];
  const folder = resolve(io.workingFolder, options.output);
  const files: { readonly simulation: string; readonly path: string }[] = [];
  await mkdir(folder, { recursive: true });
  for (const one of found) {
    for (const [ending, bytes] of filesOf(await fetchInputs(session, place, one))) {
      const file = join(folder, `${one.name}${ending}`);
      await writeFileWhole(file, (handle) => handle.writeFile(bytes));
      files.push({ simulation: one.name, path: file });
    }
  }
  out.result({ files }, () =>
    out.table(
      ['SIMULATION', 'FILE'],
      files.map((file) => [file.simulation, file.path]),
      'It has no simulation.',
    ),
  );
}

/** The files of a simulation, by the ending of their names. */
function filesOf({ testModule, mockHost, mockInput, fixtures }: SimulationInputs): [string, Uint8Array | string][] {
  return [
    ...(testModule === undefined ? [] : [['.wasm', testModule] satisfies [string, Uint8Array]]),
    ...(mockHost === undefined ? [] : [['.mock-host.wasm', mockHost] satisfies [string, Uint8Array]]),
    ...(mockInput === undefined ? [] : [['.mock-input', mockInput] satisfies [string, Uint8Array]]),
    ...(fixtures === undefined ? [] : [['.json', `${JSON.stringify(fixtures, null, 2)}\n`] satisfies [string, string]]),
  ];
}

async function deleteSimulation(session: Session, options: Choice & { yes?: boolean }, name: string): Promise<void> {
  const { api, io, out } = session;
  const at = (await pathOf(session, options)) + named(name);
  const found = await api.get(at, simulationSchema);
  await confirm(io, `Plugins will no longer be tested with the simulation "${printable(found.name)}".`, options);
  await api.remove(at);
  out.result({ deleted: found.name }, () => out.note(`Deleted the simulation "${printable(found.name)}".`));
}
