import type { Context } from '../context.ts';
import { StorageFullError, UnavailableError } from '../ports.ts';
import type { ChoreRecord } from './ports.ts';

/** Notes that one of the house's own works has ended, and what it came to. A store that takes no changes, or is full, is left as it is. */
export async function noteChore(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  kind: ChoreRecord['kind'],
  outcome: ChoreRecord['outcome'],
): Promise<void> {
  try {
    await store.write((tx) => tx.putChore({ kind, endedAtMs: clock(), outcome }));
  } catch (error) {
    if (!(error instanceof UnavailableError || error instanceof StorageFullError)) throw error;
  }
}
