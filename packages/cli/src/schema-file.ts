import { describeFault, parseExtensionPointSchema, SchemaError } from '@tenon/extension-schema';
import { CliError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { readInput, standardStream } from './files.ts';
import type { Io } from './io.ts';

export const schemaHelp = 'a file with the schema as YAML or JSON; "-" reads stdin';

/** The text of a schema's file, which the server checks. */
export async function readSchemaText(io: Pick<Io, 'stdin'>, file: string): Promise<string> {
  return new TextDecoder().decode(await readInput(io, file, 'the schema'));
}

/**
 * Reads a schema's file and checks it here.
 *
 * @returns the schema as the server would answer it
 * @throws CliError `invalid_schema` with every fault and its place
 */
export async function readSchemaFile(io: Pick<Io, 'stdin'>, file: string): Promise<unknown> {
  try {
    return JSON.parse(parseExtensionPointSchema(await readSchemaText(io, file)));
  } catch (cause) {
    if (!(cause instanceof SchemaError)) throw cause;
    const where = file === standardStream ? 'stdin' : file;
    const lines = cause.faults.map((fault) => `  ${describeFault(fault)}`);
    throw new CliError('invalid_schema', `${where} is not a valid schema:\n${lines.join('\n')}`, {
      exitCode: exitCodes.refused,
      cause,
    });
  }
}
