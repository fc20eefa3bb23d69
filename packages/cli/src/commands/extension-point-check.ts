import {
  checkInterface,
  type InterfaceLimits,
  type Mismatch,
  type ModuleInterface,
  moduleInterface,
  optionalExports,
} from '@tenon/extension-schema/interface-check';
import { describeModule, listProposals } from '@tenon/instrument';
import { extensionPoint as extensionPointSchema } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withServer } from '../command.ts';
import { assertValid } from '../engine-check.ts';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readInput, standardStream } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { callingForPlugin, type PluginSession, pluginExtensionPoint, withProject } from '../project/plugin-session.ts';
import { findModule } from '../project/project.ts';
import { readSchemaFile, schemaHelp } from '../schema-file.ts';
import { count, printable } from '../text.ts';
import { refusing } from '../tracing-options.ts';

interface Options {
  readonly schema?: string | undefined;
  readonly extensionPoint?: string | undefined;
  readonly json?: boolean | undefined;
}

/** The requirements on a module, and their source. */
interface Demands {
  readonly schema: unknown;
  readonly limits: InterfaceLimits;
  readonly by: string;
}

/** Adds `tenon extension-point check`. With `--schema` it reads the schema from a file, and needs no server. */
export function addCheckCommand(group: Command, io: Io): void {
  const againstServer = callingForPlugin(io, async (session, options: Options, file: string | undefined) => {
    const module = file ?? (await projectModule(session));
    const id = await pluginExtensionPoint(session, options);
    const { name, schema, limits } = await session.api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
    await check(io, session.out, module, { schema, limits, by: `the extension point "${name}"` });
  });
  const againstFile = async (file: string | undefined, options: Options, schema: string): Promise<void> => {
    if (file === undefined) throw usageError('No module is named.', 'Name its file.');
    if (file === standardStream && schema === standardStream) {
      throw usageError('The module and the schema can not both come from stdin.');
    }
    const out = createReporter(io, options.json === true);
    const demands = { schema: await readSchemaFile(io, schema, out), limits: {}, by: `the schema ${schema}` };
    await check(io, out, file, demands);
  };
  group
    .command('check')
    .argument('[module]', 'a compiled module; "-" reads stdin (default: that of tenon.toml)')
    .option('--schema <file>', `${schemaHelp}, without a server`)
    .description('check whether a module fits an extension point, or a schema')
    .use(withProject, withServer)
    .examples(
      'tenon extension-point check',
      'tenon extension-point check greet.wasm',
      'tenon extension-point check greet.wasm --schema schema.yaml',
      'tenon extension-point check greet.wasm -e ext_01j29hxk3… --json',
    )
    .addHelpText(
      'after',
      `It checks what a publish checks: required exports, allowed imports, and the limits of the extension point. The exit code is 7
if the module does not fit.`,
    )
    .action(async (file: string | undefined, options: Options, command: Command) => {
      if (options.schema === undefined) await againstServer(file, options, command);
      else await againstFile(file, options, options.schema);
    });
}

/** The module that `tenon.toml` names, as `tenon plugin push` takes it. */
async function projectModule({ project }: PluginSession): Promise<string> {
  const module = project?.settings.module;
  if (project === undefined || module === undefined) {
    throw usageError('No module is named, neither in the command nor in a tenon.toml here or above.', 'Name its file.');
  }
  const { path: file, isThere } = await findModule(project, module);
  if (isThere) return file;
  throw new CliError('file', `Cannot read the module from ${file}: there is no such file.`, {
    hint: project.settings.build === undefined ? undefined : `Build it first: ${printable(project.settings.build)}`,
  });
}

async function check(io: Io, out: Reporter, file: string, { schema, limits, by }: Demands): Promise<void> {
  const bytes = await readInput(io, file, 'the module');
  const found = refusing(() => moduleInterface(describeModule(bytes), listProposals(bytes), bytes.length));
  assertValid(bytes);
  const mismatches = checkInterface(found, schema, limits);
  const fits = mismatches.length === 0;
  out.result({ fits, mismatches, interface: found }, () => show(out, found, mismatches));
  const name = file === standardStream ? 'The module' : printable(file);
  const omitted = [...optionalExports(schema)].filter((name) => !found.exports.some((entry) => entry.name === name));
  if (omitted.length > 0) out.note(`Optional exports that it leaves out: ${printable(omitted.join(', '))}.`);
  if (fits) return out.note(`${name} fits ${printable(by)}.`);
  throw new CliError(
    'interface_mismatch',
    `${name} does not fit ${printable(by)}: ${count(mismatches.length, 'fault')}.`,
    {
      exitCode: exitCodes.refused,
    },
  );
}

function show(out: Reporter, found: ModuleInterface, mismatches: readonly Mismatch[]): void {
  if (mismatches.length > 0) {
    for (const { detail } of mismatches) out.write(`${printable(detail)}\n`);
    return;
  }
  const functions = found.exports.filter(({ kind }) => kind === 'function').map(({ name }) => name);
  out.fields([
    ['exports', functions.join(', ') || 'no functions'],
    ['imports', [...new Set(found.imports.map(({ module }) => module))].join(', ') || 'nothing'],
    ['memory', `${count(found.initialMemoryPages, 'page')} at the start`],
    ['proposals', found.proposals.join(', ') || 'none'],
  ]);
}
