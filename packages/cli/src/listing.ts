import type { Command } from 'commander';
import type { Static, TSchema } from 'typebox';
import { parseCount } from './command.ts';
import type { Session } from './session.ts';
import type { Cell } from './text.ts';

/** The maximum number of entries to show. */
export interface ListOptions {
  /** Default: all. */
  readonly limit?: number | undefined;
}

/** Adds `--limit`. */
export function withLimit(command: Command): Command {
  return command.option('--limit <number>', 'list at most this many entries (default: all)', parseCount);
}

/** The table of a list. */
export interface ListTable<T> {
  readonly headings: readonly string[];
  readonly row: (entry: T) => readonly Cell[];
  readonly whenEmpty: string;
}

/** Writes a list, up to `--limit` entries, as JSON or as a table, and returns them. Notes it when there are more. */
export async function showList<T extends TSchema>(
  { api, out }: Pick<Session, 'api' | 'out'>,
  { limit }: ListOptions,
  path: string,
  item: T,
  { headings, row, whenEmpty }: ListTable<Static<T>>,
): Promise<Static<T>[]> {
  const { entries, isAll } = await api.first(path, item, limit);
  if (!isAll) out.note(`Showing the first ${entries.length}. For all, leave out --limit.`);
  out.result(entries, () => out.table(headings, entries.map(row), whenEmpty));
  return entries;
}
