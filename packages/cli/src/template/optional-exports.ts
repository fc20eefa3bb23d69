import { optionalExports } from '@tenon/extension-schema/interface-check';
import { Option } from 'commander';
import { collect } from '../command.ts';
import { usageError } from '../errors.ts';
import type { Reporter } from '../output.ts';
import { printable } from '../text.ts';

/** The option of commands that generate code of plugins. */
export function optionalExportOption(): Option {
  const option = new Option('--optional-export <name>', 'include this optional export; may be given several times');
  return option.argParser(collect);
}

/** A schema without the optional exports that a plugin leaves out. */
export interface ChosenExports<Schema> {
  readonly schema: Schema;
  readonly omitted: readonly string[];
}

/**
 * Leaves out the optional exports of a schema that are not named. If all exports are optional and none is named, they all stay.
 *
 * @throws CliError for a name that is not that of an optional export
 */
export function chooseExports<Schema>(schema: Schema, named: readonly string[]): ChosenExports<Schema> {
  const optional = optionalExports(schema);
  const unknown = named.find((name) => !optional.has(name));
  if (unknown !== undefined) {
    const listed = [...optional].map(printable).join(', ') || 'none';
    throw usageError(`"${printable(unknown)}" is not an optional export of the extension point. It has: ${listed}.`);
  }
  const omitted = [...optional].filter((name) => !named.includes(name));
  if (omitted.length === 0) return { schema, omitted };
  const { exports } = schema as { readonly exports: Readonly<Record<string, unknown>> };
  const kept = Object.entries(exports).filter(([name]) => !omitted.includes(name));
  if (kept.length === 0) return { schema, omitted: [] };
  return { schema: { ...schema, exports: Object.fromEntries(kept) }, omitted };
}

/** Says which optional exports were left out, and how to include them. */
export function noteOmitted(out: Pick<Reporter, 'note'>, omitted: readonly string[]): void {
  if (omitted.length === 0) return;
  out.note(`Left out optional exports, which --optional-export includes: ${omitted.map(printable).join(', ')}.`);
}
