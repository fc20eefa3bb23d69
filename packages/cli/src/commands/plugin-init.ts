import { basename, relative, resolve } from 'node:path';
import {
  type App,
  app as appSchema,
  type ExtensionPoint,
  extensionPoint as extensionPointSchema,
  isId,
  isPluginName,
  pluginNamePattern,
} from '@tenon/protocol';
import { Option } from 'commander';
import { type Api, createApi, path } from '../api.ts';
import { type Command, collect, withExtensionPoint, withServer } from '../command.ts';
import { ask, canAsk } from '../confirm.ts';
import { type Connection, findConnection } from '../connection.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { tenonTomlName } from '../project/tenon-toml.ts';
import { listExtensionPoints, resolveExtensionPoint } from '../resolve.ts';
import { type CommonOptions, timeoutMs } from '../session.ts';
import { readGeneratorBundle } from '../template/generator-bundle.ts';
import { chooseExports, noteOmitted, optionalExportOption } from '../template/optional-exports.ts';
import { readPluginInterface } from '../template/plugin-interface.ts';
import { hasPrepareScript, runGenerator } from '../template/run-generator.ts';
import { type PluginPlan, renderTemplate, type TemplateName, templateNames, templates } from '../template/template.ts';
import { writeNewFiles } from '../template/write-new-files.ts';
import { count, printable, shellWord } from '../text.ts';

interface Options extends CommonOptions {
  readonly template?: TemplateName;
  readonly generator?: string;
  readonly featureFlag?: readonly string[];
  readonly optionalExport?: readonly string[];
  readonly name?: string;
  readonly extensionPoint?: string;
  readonly yes?: boolean;
}

export function addInitCommand(group: Command, io: Io): void {
  group
    .command('init')
    .argument('[folder]', 'the folder to create it in (default: the current folder)')
    .addOption(new Option('--template <template>', 'the language').choices(templateNames))
    .addOption(
      new Option(
        '--generator <bundle>',
        'run an XTP generator instead of a template: a zip file or a folder with plugin.wasm and template/',
      ).conflicts('template'),
    )
    .addOption(new Option('--feature-flag <flag>', 'turn on a feature flag of the generator').argParser(collect))
    .addOption(optionalExportOption())
    .option('--name <name>', "the plugin's name (default: the folder's)")
    .option('-y, --yes', "don't ask; use the defaults")
    .description('create a plugin: sources that build, and a tenon.toml that publishes')
    .use(withExtensionPoint, withServer)
    .examples(
      'tenon plugin init greeter',
      'tenon plugin init greeter --template c --extension-point ext_01j29hxk3…',
      'tenon plugin init greeter --generator bundle.zip',
    )
    .addHelpText(
      'after',
      `With an extension point, the sources have a stub for each export of its schema; without, a sample. No file is overwritten.
A generator runs without files and network, for 60 s at most. Check the files that it made, including the
commands in xtp.toml, before you build.`,
    )
    .action(async (folder: string | undefined, options: Options) => {
      await io.interruptible((signal) => initPlugin(io, options, folder, signal));
    });
}

async function initPlugin(io: Io, options: Options, folder: string | undefined, signal: AbortSignal): Promise<void> {
  const out = createReporter(io, options.json === true);
  const target = resolve(io.workingFolder, folder ?? '.');
  const isAsking = options.yes !== true && canAsk(io);
  const ways = { io, out, options, signal, isAsking };
  const { generator, featureFlag: featureFlags = [], optionalExport: optionalExports = [] } = options;
  if (generator === undefined && featureFlags.length > 0) throw usageError('--feature-flag is for --generator.');
  const bundle = generator === undefined ? undefined : await readGeneratorBundle(resolve(io.workingFolder, generator));
  const name = await chooseName(ways, target);
  const template = bundle === undefined ? await chooseTemplate(ways) : undefined;
  const { extensionPoint, server, plugin } = await chooseExtensionPoint(ways);
  if (plugin === undefined && optionalExports.length > 0) {
    throw usageError('--optional-export takes an extension point that is within reach.');
  }
  const files =
    bundle === undefined
      ? await renderTemplate({
          template: template as TemplateName,
          name,
          extensionPoint,
          server,
          plugin,
          optionalExports,
        })
      : await runGenerator(bundle, { name, extensionPoint, server, featureFlags }, signal);
  await writeNewFiles(target, files);
  const shown = relative(io.workingFolder, target) || '.';
  const where = shown === '.' ? 'this folder' : `${printable(shown)}/`;
  out.note(`Created the plugin ${name} in ${where} (${count(files.size, 'file')}). Next:`);
  if (shown !== '.') out.note(`  cd ${shellWord(shown)}`);
  if (extensionPoint === undefined) {
    out.note(
      `  add ${files.has(tenonTomlName) ? 'extension-point = "ext_…" to tenon' : 'extension_point_id = "ext_…" to xtp'}.toml`,
    );
  }
  const exports = (plugin?.exports ?? []).map((entry) => entry.name);
  if (template === undefined)
    out.note(`  check the generated files${hasPrepareScript(files) ? ', and run scripts.prepare of xtp.toml' : ''}`);
  else if (exports.length > 0) out.note(`  write its exports in ${templates[template].source}`);
  out.note('  tenon plugin push --build');
  const result = {
    folder: target,
    name,
    template: template ?? null,
    generator: generator ?? null,
    extensionPoint: extensionPoint?.id ?? null,
    server: server ?? null,
    exports,
    files: [...files.keys()],
  };
  out.result(result, () => out.write(`${printable(shown)}\n`));
}

/** The context of the questions. */
interface Ways {
  readonly io: Io;
  readonly out: Reporter;
  readonly options: Options;
  readonly signal: AbortSignal;
  readonly isAsking: boolean;
}

async function chooseName({ io, options, signal, isAsking }: Ways, folder: string): Promise<string> {
  const usual =
    basename(folder)
      .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9._-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 100) || 'plugin';
  if (options.name === undefined && isAsking) {
    for (;;) {
      const answer = (await ask(io, `What is the plugin called? [${usual}] `, signal)).trim() || usual;
      if (isPluginName(answer)) return answer;
      io.stderr.write(`Letters, digits, dots, dashes and underscores, 100 at most; a letter or digit first.\n`);
    }
  }
  const name = options.name ?? usual;
  if (isPluginName(name)) return name;
  throw usageError(`"${name}" can't name a plugin: names match ${pluginNamePattern}.`);
}

async function chooseTemplate({ io, options, signal, isAsking }: Ways): Promise<TemplateName> {
  const [usual] = templateNames;
  if (options.template !== undefined || !isAsking) return options.template ?? usual;
  const choices = templateNames.map((name) => ({ name, label: `${name}: ${templates[name].summary}` }));
  return (await pick(io, signal, 'Which language?', choices, usual)) ?? usual;
}

interface Choice<T extends string> {
  readonly name: T;
  readonly label: string;
}

/**
 * Has one of several picked by its number or its name.
 *
 * @param usual what is picked by nothing but Enter. Without one that is nothing, as is 0
 */
async function pick<T extends string>(
  io: Io,
  signal: AbortSignal,
  question: string,
  choices: readonly Choice<T>[],
  usual: T | undefined,
): Promise<T | undefined> {
  const lines = choices.map(({ label }, at) => `  ${at + 1}  ${label}\n`);
  io.stderr.write(`${question}\n${lines.join('')}`);
  const usualNumber = choices.findIndex(({ name }) => name === usual) + 1;
  for (;;) {
    const answer = (await ask(io, `A number [${usualNumber}] `, signal)).trim() || String(usualNumber);
    if (answer === '0') return undefined;
    const found = choices.find(({ name }, at) => answer === String(at + 1) || answer === name);
    if (found !== undefined) return found.name;
  }
}

type Chosen = Pick<PluginPlan, 'server' | 'plugin'> & {
  readonly extensionPoint: ExtensionPoint | { readonly id: string; readonly name: undefined } | undefined;
};

/** The extension point that {@link findExtensionPoint} finds, where a server is known. */
async function chooseExtensionPoint(ways: Ways): Promise<Chosen> {
  const { out, options, isAsking } = ways;
  const connection = connectionIfAny(ways);
  const named = options.extensionPoint ?? (isAsking ? undefined : connection?.extensionPointId);
  const nothing = { extensionPoint: undefined, server: undefined, plugin: undefined };
  if (named === undefined && connection?.token === undefined) return nothing;
  const server = connection?.url;
  try {
    const found = await findExtensionPoint(ways, connectTo(ways, connection), named);
    if (found === undefined) return nothing;
    const { schema, omitted } = chooseExports(found.schema, options.optionalExport ?? []);
    noteOmitted(out, omitted);
    const plugin = readPluginInterface(schema, found.limits.proposals);
    if (plugin.exports.length === 0)
      out.note(`The extension point "${printable(found.name)}" asks for no export: the sources are a sample.`);
    return { extensionPoint: { ...found, schema }, server, plugin };
  } catch (error) {
    const isOutOfReach =
      error instanceof CliError && (error.exitCode === exitCodes.unavailable || error.code === 'no_connection');
    const isNamedById = named === undefined || isId('extensionPoint', named);
    if (!isOutOfReach || !isNamedById) throw error;
    out.warn(`${printable(error.message)} What the extension point asks for is not known: the sources are a sample.`);
    return {
      extensionPoint: named === undefined ? undefined : { id: named, name: undefined },
      server,
      plugin: undefined,
    };
  }
}

function connectionIfAny({ io, out, options }: Ways): Connection | undefined {
  const hasNamedServer = [options.server, options.profile, options.dataDir].some((value) => value !== undefined);
  try {
    return findConnection(options, { ...io, warn: out.warn });
  } catch (error) {
    if (hasNamedServer || !(error instanceof CliError) || error.code !== 'usage') throw error;
    return undefined;
  }
}

/** A connection to the server, with its API. */
interface Connected {
  readonly connection: Connection;
  readonly api: Api;
}

function connectTo({ io, options, signal }: Ways, connection: Connection | undefined): Connected {
  if (connection === undefined) throw new CliError('no_connection', 'No server is named, and you are not logged in.');
  const { url, token } = connection;
  if (token === undefined) throw new CliError('no_connection', `There is no access token for ${url}.`);
  return { connection, api: createApi({ url, token, fetch: io.fetch, timeoutMs: timeoutMs(options), signal }) };
}

/**
 * Returns the named extension point, else the one that the user picks, else, without a terminal, the only one.
 *
 * @throws CliError as {@link resolveExtensionPoint}
 */
async function findExtensionPoint(
  ways: Ways,
  connected: Connected,
  named: string | undefined,
): Promise<ExtensionPoint | undefined> {
  const { api, connection } = connected;
  if (named === undefined && ways.isAsking) return askForOne(ways, api, connection.extensionPointId);
  if (named === undefined && (await listExtensionPoints(connected)).length === 0) return undefined;
  const id = await resolveExtensionPoint(connected, named);
  return api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
}

const maxListed = 50;

async function askForOne(
  { io, signal }: Ways,
  api: Api,
  usual: string | undefined,
): Promise<ExtensionPoint | undefined> {
  const apps: App[] = await api.list('/api/v1/apps', appSchema);
  const found: { app: App; extensionPoint: ExtensionPoint }[] = [];
  for (const app of apps.slice(0, maxListed)) {
    const all: ExtensionPoint[] = await api.list(path`/api/v1/apps/${app.id}/extension-points`, extensionPointSchema);
    found.push(...all.map((extensionPoint) => ({ app, extensionPoint })));
  }
  const listed = found.slice(0, maxListed);
  if (listed.length === 0) return undefined;
  const choices = listed.map(({ app, extensionPoint }): Choice<string> => {
    return { name: extensionPoint.id, label: `${printable(app.name)}: ${printable(extensionPoint.name)}` };
  });
  const id = await pick(io, signal, 'Which extension point is it for? (0: none)', choices, usual);
  return listed.find(({ extensionPoint }) => extensionPoint.id === id)?.extensionPoint;
}
