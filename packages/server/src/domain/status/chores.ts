import type { Context } from '../context.ts';
import { UnavailableError } from '../ports.ts';
import type { ChoreRecord } from './ports.ts';

/** Notes that one of the house's own works has ended, and what it came to. A store that takes no changes is let be. */
export async function noteChore(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  kind: ChoreRecord['kind'],
  outcome: ChoreRecord['outcome'],
): Promise<void> {
  try {
    await store.write((tx) => tx.putChore({ kind, endedAtMs: clock(), outcome }));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
  }
}
