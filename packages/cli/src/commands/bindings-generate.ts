import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { extensionPoint as extensionPointSchema } from '@tenon/protocol';
import { Argument } from 'commander';
import { path } from '../api.ts';
import { type BindingsContext, type BindingsTarget, bindingsTargets } from '../bindings/targets.ts';
import { type Command, withExtensionPoint, withServer } from '../command.ts';
import { usageError } from '../errors.ts';
import { standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { readSchemaFile, schemaHelp } from '../schema-file.ts';
import { calling } from '../session.ts';
import { chooseExports, noteOmitted, optionalExportOption } from '../template/optional-exports.ts';
import { printable } from '../text.ts';

interface Options {
  readonly extensionPoint?: string | undefined;
  readonly schema?: string | undefined;
  readonly output?: string | undefined;
  readonly optionalExport?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
}

/** `tenon bindings generate`: of a schema file without a server. */
export function addGenerateCommand(group: Command, io: Io): void {
  const ofServer = calling(io, async (session, options: Options, target: string) => {
    const { api, out, signal } = session;
    const id = await resolveExtensionPoint(session, options.extensionPoint);
    const { name, schema } = await api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
    const files = await generate(target, choose(out, target, schema, options), {
      source: `${id} (${JSON.stringify(name)})`,
      extensionPoint: { id, name },
    });
    await answer(io, out, options, files, signal);
  });
  const ofFile = async (file: string, options: Options, target: string): Promise<void> => {
    const source = file === standardStream ? undefined : file;
    const out = createReporter(io, options.json === true);
    const schema = choose(out, target, await readSchemaFile(io, file, out), options);
    const files = await generate(target, schema, { source });
    await io.interruptible((signal) => answer(io, out, options, files, signal));
  };
  const names = Object.keys(bindingsTargets);
  group
    .command('generate')
    .addArgument(new Argument('<target>', 'what to generate').choices(names))
    .option('--schema <file>', `${schemaHelp}, without a server`)
    .addOption(optionalExportOption())
    .option('-o, --output <path>', 'the file to write, or the folder for several files (default: stdout)')
    .description('generate typed code from the schema of an extension point')
    .use(withExtensionPoint, withServer)
    .examples(
      'tenon bindings generate host -o src/plugins.ts',
      'tenon bindings generate host --schema schema.yaml > src/plugins.ts',
    )
    .addHelpText('after', `Targets:\n${names.map(targetLine).join('')}`)
    .action(async (target: string, options: Options, command: Command) => {
      if (options.schema === undefined) await ofServer(target, options, command);
      else await ofFile(options.schema, options, target);
    });
}

function targetLine(name: string): string {
  return `  ${name.padEnd(14)}  ${bindingsTargets[name]?.description}\n`;
}

/** Leaves out optional exports in code for plugins. */
function choose<Schema>(out: Reporter, target: string, schema: Schema, { optionalExport = [] }: Options): Schema {
  if (bindingsTargets[target]?.isForPlugins !== true) {
    if (optionalExport.length > 0) throw usageError('--optional-export is for the code of plugins.');
    return schema;
  }
  const chosen = chooseExports(schema, optionalExport);
  noteOmitted(out, chosen.omitted);
  return chosen.schema;
}

async function generate(
  target: string,
  schema: unknown,
  context: BindingsContext,
): Promise<ReadonlyMap<string, string>> {
  const { load } = bindingsTargets[target] as BindingsTarget;
  return (await load())(schema, context);
}

async function answer(
  io: Io,
  out: Reporter,
  options: Options,
  files: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const { output = standardStream } = options;
  if (output === standardStream) {
    const [text = '', ...others] = files.values();
    if (others.length > 0 && options.json !== true) {
      throw usageError(`There are ${files.size} files; name a folder with --output.`);
    }
    return out.result({ files: Object.fromEntries(files) }, () => out.write(text));
  }
  const written: string[] = [];
  for (const [name, text] of files) {
    const file = files.size === 1 ? output : join(output, name);
    if (files.size > 1) await mkdir(dirname(file), { recursive: true });
    await writeOutput(io, file, new TextEncoder().encode(text), signal);
    written.push(file);
  }
  out.result({ written }, () => out.note(`Wrote ${written.map(printable).join(', ')}.`));
}
