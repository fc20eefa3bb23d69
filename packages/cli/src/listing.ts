import type { Command } from 'commander';
import type { Static, TSchema } from 'typebox';
import { parseCount } from './command.ts';
import type { Session } from './session.ts';

/** How much of a list a command shows. */
export interface ListOptions {
  /** The most entries; all when it is left out. */
  readonly limit?: number | undefined;
}

/** Adds `--limit`. */
export function withLimit(command: Command): Command {
  return command.option('--limit <number>', 'list at most this many entries (default: all)', parseCount);
}

/** The first entries of a list, as many as `--limit` says, however many pages they take. Notes it when there are more. */
export async function readList<T extends TSchema>(
  { api, out }: Pick<Session, 'api' | 'out'>,
  { limit }: ListOptions,
  path: string,
  item: T,
): Promise<Static<T>[]> {
  const { entries, isAll } = await api.first(path, item, limit);
  if (!isAll) out.note(`There are more: these are the first ${entries.length}. Without --limit all are shown.`);
  return entries;
}
