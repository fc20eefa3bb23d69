import { hostTypes } from '@tenon/extension-schema/host-types';
import { extensionPoint as extensionPointSchema } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withExtensionPoint, withServer } from '../command.ts';
import { standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { resolveExtensionPoint } from '../resolve.ts';
import { readSchemaFile, schemaHelp } from '../schema-file.ts';
import { calling } from '../session.ts';
import { printable } from '../text.ts';

interface Options {
  readonly extensionPoint?: string | undefined;
  readonly schema?: string | undefined;
  readonly output?: string | undefined;
  readonly json?: boolean | undefined;
}

/** `tenon extension-point types`: of a file without a server. */
export function addTypesCommand(group: Command, io: Io): void {
  const ofServer = calling(io, async (session, options: Options) => {
    const { api, out, signal } = session;
    const id = await resolveExtensionPoint(session, options.extensionPoint);
    const { name, schema } = await api.get(path`/api/v1/extension-points/${id}`, extensionPointSchema);
    await answer(io, out, options, hostTypes(schema, { source: `${id} (${JSON.stringify(name)})` }), signal);
  });
  const ofFile = async (file: string, options: Options): Promise<void> => {
    const source = file === standardStream ? undefined : file;
    const text = hostTypes(await readSchemaFile(io, file), { source });
    await io.interruptible((signal) => answer(io, createReporter(io, options.json === true), options, text, signal));
  };
  group
    .command('types')
    .option('--schema <file>', `${schemaHelp}, without a server`)
    .option('-o, --output <file>', 'the file to write (default: stdout)')
    .description('write TypeScript types for applications that call plugins, from the schema of an extension point')
    .use(withExtensionPoint, withServer)
    .examples(
      'tenon extension-point types -o src/plugins.ts',
      'tenon extension-point types --schema schema.yaml > src/plugins.ts',
    )
    .addHelpText(
      'after',
      `The file has no imports. Components become interfaces, exports and imports become functions, and "contentTypes" maps inputs and
outputs to their content types.`,
    )
    .action(async (options: Options, command: Command) => {
      if (options.schema === undefined) await ofServer(options, command);
      else await ofFile(options.schema, options);
    });
}

async function answer(io: Io, out: Reporter, options: Options, types: string, signal: AbortSignal): Promise<void> {
  const { output = standardStream } = options;
  if (output === standardStream) return out.result({ types }, () => out.write(types));
  await writeOutput(io, output, new TextEncoder().encode(types), signal);
  out.result({ written: output }, () => out.note(`Wrote ${printable(output)}.`));
}
