import type { AppId } from '@tenon/protocol';
import type { Clock, RandomBytes, Transaction } from '../db/store.ts';

export interface ChangeFeedOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** How many change events of an application are stored. */
  readonly keep: number;
  /** Called with the applications of a transaction's change events once they can be read. */
  readonly onEmitted?: (appIds: readonly AppId[]) => void;
}

/** A transaction that changes more lists of an application resets the application's change stream instead. */
const maxLists = 1000;

/** The length of a mark. Marks are random, so that a copy of the data continues with other marks than the original. */
const markBytes = 8;

/**
 * Writes a change event for each binding list and plugin that the transaction has changed. Call it at the end of the transaction.
 *
 * @returns the applications of the events
 */
export async function emitChanges(
  tx: Transaction,
  { clock, random, keep }: ChangeFeedOptions,
): Promise<readonly AppId[]> {
  const { lists, plugins, resets } = tx.effects.lists;
  const byApp = Map.groupBy([...lists, ...plugins], ({ appId }) => appId);
  const appIds = [...new Set([...byApp.keys(), ...resets])].sort(); // a fixed lock order prevents deadlocks
  const fields = { mark: Buffer.from(random(markBytes)).toString('hex'), atMs: clock(), keep };
  for (const appId of appIds) {
    const changed = byApp.get(appId) ?? [];
    const isReset = resets.has(appId) || changed.length > maxLists;
    await (isReset ? tx.resetChanges(appId, changed, fields) : tx.insertChanges(appId, changed, fields));
  }
  return appIds;
}
