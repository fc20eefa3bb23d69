import { describeFault, readExtensionPointSchema, SchemaError } from '@tenon/extension-schema';
import type { SchemaWarning } from '@tenon/protocol';
import { CliError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { readInput, standardStream } from './files.ts';
import type { Io } from './io.ts';
import type { Reporter } from './output.ts';
import { printable } from './text.ts';

export const schemaHelp = 'a file with the schema as YAML or JSON; "-" reads stdin';

/** The text of a schema's file, which the server checks. */
export async function readSchemaText(io: Pick<Io, 'stdin'>, file: string): Promise<string> {
  return new TextDecoder().decode(await readInput(io, file, 'the schema'));
}

/**
 * Reads a schema's file, checks it here, and reports the warnings.
 *
 * @returns the schema as the server would answer it
 * @throws CliError `invalid_schema` with every fault and its place
 */
export async function readSchemaFile(
  io: Pick<Io, 'stdin'>,
  file: string,
  out: Pick<Reporter, 'warn'>,
): Promise<unknown> {
  try {
    const { json, warnings } = readExtensionPointSchema(await readSchemaText(io, file));
    for (const warning of warnings) out.warn(printable(describeFault(warning)));
    return JSON.parse(json);
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

/** Reports the server's warnings about a schema. */
export function showWarnings(out: Pick<Reporter, 'warn'>, warnings: readonly SchemaWarning[]): void {
  for (const { pointer, detail, line, column } of warnings) {
    out.warn(`${printable(line === null ? pointer : `line ${line}, column ${column}`)}: ${printable(detail)}`);
  }
}
