import { type GuestId, pluginId, type VersionId } from '@tenon/protocol';
import type { PluginKey } from '../db/records.ts';
import { DryRunComplete, type Store, type Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { PendingRebindError, rebindBatch, rebindBatchSize } from './rebind.ts';

/** The version of a binding before and after an action; `null` for none. */
export interface BindingEffect {
  readonly pluginName: string;
  readonly guestId: GuestId;
  readonly guestKey: string;
  readonly before: number | null;
  readonly after: number | null;
}

export interface DryRunEffects {
  /** The affected bindings, by guest id for each plugin. Some may keep their version. */
  readonly bindings: readonly BindingEffect[];
  /** Whether the action affects more bindings than these. */
  readonly hasMore: boolean;
}

/** The maximum number of plugins that a dry run examines. An action affects several if they have the same bytes. */
const maxPlugins = 20;

/** An affected binding, with the ids of the versions. */
type Move = Omit<BindingEffect, 'before' | 'after'> & Record<'before' | 'after', VersionId | null>;

interface Moves {
  readonly moves: readonly Move[];
  readonly hasMore: boolean;
}

/**
 * Runs an action on a plugin up to the end of its transaction, rolls the transaction back, and returns the effects on the bindings. The
 * action authorizes the actor and checks its input as always. It writes nothing, and emits no change events.
 *
 * @throws DomainError `conflict` while an earlier change of the plugin is not finished, and the errors of the action
 */
export async function dryRun(deps: Deps, act: (deps: Deps) => Promise<unknown>): Promise<DryRunEffects> {
  const write: Store['write'] = async (work) => {
    const moves = await writeAndRollBack(deps.store, async (tx) => {
      const observed = observe(tx);
      await work(observed.tx);
      return observed.finish(deps.clock());
    });
    // Ends the action, as its transaction has no result.
    throw new DryRunComplete(moves);
  };
  try {
    await act({ ...deps, isDryRun: true, store: { ...deps.store, write } });
  } catch (error) {
    if (error instanceof DryRunComplete) return toEffects(deps.store, error.result as Moves);
    throw error;
  }
  throw new Error('The action made no transaction');
}

/**
 * Runs a transaction up to its end, rolls it back, and returns its result.
 *
 * @throws DomainError `conflict` while an earlier change of the plugin is not finished: to finish it would be a write
 */
export async function writeAndRollBack<T>(
  { write }: Pick<Store, 'write'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await write(async (tx) => {
      throw new DryRunComplete(await work(tx));
    });
  } catch (error) {
    if (error instanceof DryRunComplete) return error.result as T;
    throw error instanceof PendingRebindError ? new DomainError('conflict', `${error.message}. Try again.`) : error;
  }
}

/** Notes the bindings that a transaction's rebinds read, with their versions before the rebinds. */
function observe(tx: Transaction) {
  const before = new Map<string, { key: PluginKey; facts: Awaited<ReturnType<Transaction['bindingFacts']>> }>();
  const pending: PluginKey[] = [];
  const idOf = ({ extensionPointId, userId, name }: PluginKey): string => pluginId(extensionPointId, userId, name);
  const note = (key: PluginKey, facts: Awaited<ReturnType<Transaction['bindingFacts']>>): void => {
    if (facts.length > (before.get(idOf(key))?.facts.length ?? -1)) before.set(idOf(key), { key, facts });
  };
  const observed: Transaction = {
    ...tx,
    async bindingFacts(key, range) {
      const facts = await tx.bindingFacts(key, range);
      note(key, facts);
      return facts;
    },
    async bindingFactsOfPlugins(keys, limit) {
      const found = await tx.bindingFactsOfPlugins(keys, limit);
      const factsOf = Map.groupBy(found, ({ key }) => idOf(key));
      for (const key of keys) {
        const facts = (factsOf.get(idOf(key)) ?? []).map((one) => one.facts);
        note(
          key,
          facts.toSorted((a, b) => (a.guestId < b.guestId ? -1 : 1)),
        );
      }
      return found;
    },
    putPendingRebind(key, progress) {
      if (progress.after === '') pending.push(key);
      return tx.putPendingRebind(key, progress);
    },
  };
  return {
    tx: observed,
    /** Completes the first batch of pending rebinds, and compares the bindings. */
    async finish(nowMs: number): Promise<Moves> {
      for (const key of pending.slice(0, maxPlugins)) await rebindBatch(observed, key, nowMs);
      let hasMore = pending.length > maxPlugins;
      const moves: Move[] = [];
      for (const { key, facts } of before.values()) {
        hasMore ||= facts.length > rebindBatchSize;
        const examined = facts.slice(0, rebindBatchSize);
        const guestIds = examined.map(({ guestId }) => guestId);
        const after = new Map(
          (await tx.bindingFacts(key, { guestIds })).map((facts) => [facts.guestId, facts.versionId]),
        );
        for (const { guestId, guestKey, versionId } of examined) {
          moves.push({ pluginName: key.name, guestId, guestKey, before: versionId, after: after.get(guestId) ?? null });
        }
      }
      return { moves, hasMore };
    },
  };
}

/** Reads the numbers of the versions after the rollback, because the action may have deleted them. */
async function toEffects({ read }: Store, { moves, hasMore }: Moves): Promise<DryRunEffects> {
  const ids = new Set(moves.flatMap(({ before, after }) => [before, after]).filter((id) => id !== null));
  const numbers = await read.versionNumbers([...ids]);
  const numberOf = (id: VersionId | null) => (id === null ? null : (numbers.get(id) ?? null));
  const bindings = moves.map((move) => ({ ...move, before: numberOf(move.before), after: numberOf(move.after) }));
  return { bindings, hasMore };
}
