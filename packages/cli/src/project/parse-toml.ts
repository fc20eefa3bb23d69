import { parse, TomlError } from 'smol-toml';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Position } from './toml-position.ts';

/** @throws CliError `code` with line and column, if the text is not TOML */
export function parseToml(text: string, path: string, code: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { maxDepth: 20 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new CliError(code, `${placeInToml(path, error)}: this is no TOML: ${first}.`, { exitCode: exitCodes.usage });
  }
}

export function placeInToml(path: string, { line, column }: Position): string {
  return `${path}, line ${line}, column ${column}`;
}
