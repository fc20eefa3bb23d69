import { type GuestId, pluginId } from '@tenon/protocol';
import type { PluginKey, SelectionChange } from '../db/records.ts';
import type { BindingMove, BindingWithFacts, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { BindingOfPluginMove } from './binding-queries.ts';
import { bindingTarget } from './binding-target.ts';

/*
 * A binding row exists for each guest under which a plugin has its name. The row says which version is bound, if any. These
 * functions recompute the rows of a plugin after a change. Other writers wait for a transaction, so a plugin with very many
 * bindings is recomputed in batches: the first transaction marks the rebind as pending, and {@link finishRebind} completes it.
 */

/** How many bindings one transaction recomputes. */
export const rebindBatchSize = 1000;

export interface RebindOptions {
  /** The guests whose bindings may change. Default: all of the plugin's guests. */
  readonly guestIds?: readonly GuestId[];
  /** How the change starts or ends roll backs. */
  readonly selection?: SelectionChange | null;
  /** Whether the plugin is marked as deleted. */
  readonly isDeleted?: boolean;
}

/**
 * Recomputes which versions a plugin's bindings point to. Call it after every change that may affect them. No other code moves
 * bindings.
 *
 * A moved binding gets a later `updatedAt`, by which hosts find the newest plugin. An unmoved binding keeps its time, because the
 * entity tag of the binding list (A2) must change exactly when the list does.
 *
 * With more than {@link rebindBatchSize} bindings it moves none and marks the rebind as pending. The caller then calls
 * {@link finishRebind} after the commit and before it responds.
 *
 * @returns whether a rebind is pending
 */
export async function rebind(
  tx: Transaction,
  key: PluginKey,
  nowMs: number,
  { guestIds, selection = null, isDeleted = false }: RebindOptions = {},
): Promise<boolean> {
  const isSmall = guestIds !== undefined && guestIds.length <= rebindBatchSize;
  const facts = await tx.bindingFacts(key, { limit: rebindBatchSize + 1, ...(isSmall && { guestIds }) });
  const isPending = isDeleted || facts.length > rebindBatchSize;
  if (isPending) await tx.putPendingRebind(key, { after: '', selection });
  else await moveBindings(tx, key, facts, { selection, nowMs, notifiesEachList: true });
  return isPending;
}

/**
 * As {@link rebind}, for several plugins. It moves at most {@link rebindBatchSize} bindings, and marks the other rebinds as pending.
 *
 * @returns the plugins whose rebinds are pending
 * @throws PendingRebindError
 */
export async function rebindAll(tx: Transaction, keys: readonly PluginKey[], nowMs: number): Promise<PluginKey[]> {
  const pending: PluginKey[] = [];
  const moves: BindingOfPluginMove[] = [];
  await requireNonePending(tx, keys);
  let room = rebindBatchSize;
  for (let at = 0; at < keys.length; at += pluginsPerQuery) {
    const some = keys.slice(at, at + pluginsPerQuery);
    const found = room < some.length ? [] : await tx.bindingFactsOfPlugins(some, room + 1);
    const factsOf = Map.groupBy(found, ({ key }) => keyText(key));
    // A plugin with very many bindings may have taken the places of others.
    const isWhole = room >= some.length && found.length <= room;
    for (const key of some) {
      const facts = isWhole
        ? (factsOf.get(keyText(key)) ?? []).map((one) => one.facts)
        : room > 0
          ? await tx.bindingFacts(key, { limit: room + 1 })
          : [];
      if (room > 0 && facts.length <= room) {
        for (const binding of await applySelection(tx, key, facts, null)) {
          const versionId = bindingTarget(binding);
          if (versionId === binding.versionId) continue;
          moves.push({ key, guestId: binding.guestId, guestKey: binding.guestKey, versionId });
        }
        room -= Math.max(1, facts.length);
      } else {
        room = 0;
        await tx.putPendingRebind(key, { after: '', selection: null });
        pending.push(key);
      }
    }
  }
  await tx.moveBindingsOfPlugins(moves, nowMs);
  return pending;
}

/** How many plugins one query is about. */
const pluginsPerQuery = 100;

const keyText = ({ extensionPointId, userId, name }: PluginKey): string => pluginId(extensionPointId, userId, name);

/** As {@link requireNoPendingRebind}, mostly with one query. */
async function requireNonePending(tx: Transaction, keys: readonly PluginKey[]): Promise<void> {
  const pending = await tx.pendingPlugins(rebindBatchSize);
  const ids = new Set(pending.map(keyText));
  const found = keys.find((key) => ids.has(keyText(key)));
  if (found !== undefined) throw new PendingRebindError(found);
  if (pending.length === rebindBatchSize) for (const key of keys) await requireNoPendingRebind(tx, key);
}

/**
 * Completes a plugin's pending rebind, if there is one, with one transaction for each batch. Several processes may do this at the
 * same time.
 *
 * @param signal aborts between two transactions
 */
export async function finishRebind(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  key: PluginKey,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await store.write((tx) => rebindBatch(tx, key, clock()))));
}

/**
 * Recomputes the next {@link rebindBatchSize} bindings of a pending rebind.
 *
 * @returns whether there is more to do
 */
export async function rebindBatch(tx: Transaction, key: PluginKey, nowMs: number): Promise<boolean> {
  const pending = await tx.pendingRebind(key);
  if (pending === undefined) return false;
  const { after, selection, isDeleted } = pending;
  const facts = await tx.bindingFacts(key, { after, limit: rebindBatchSize });
  await moveBindings(tx, key, facts, { selection, nowMs, notifiesEachList: false });
  const last = facts.at(-1);
  if (isDeleted && facts.length > 0 && (await tx.user(key.userId))?.deletedAtMs === null) {
    const guestIds = facts.map(({ guestId }) => guestId);
    await tx.reserveName(key, guestIds, nowMs + nameReservationMs);
  }
  if (last !== undefined && (isDeleted || facts.length === rebindBatchSize)) {
    await tx.putPendingRebind(key, { after: last.guestId, selection });
    return true;
  }
  if (isDeleted && !(await tx.purgeRows(key, rebindBatchSize))) return true;
  await tx.endPendingRebind(key);
  if (isDeleted) await tx.purgeDeleted(key);
  return false;
}

/** An earlier change of the plugin is not complete. */
export class PendingRebindError extends Error {
  readonly key: PluginKey;

  constructor(key: PluginKey) {
    super(`An earlier change of the plugin "${key.name}" is not finished yet`);
    this.key = key;
  }
}

/**
 * Requires that no rebind of the plugin is pending, because changes of one plugin must not overlap.
 *
 * @throws PendingRebindError which {@link retryAfterPendingRebind} handles
 */
export async function requireNoPendingRebind(tx: Transaction, key: PluginKey): Promise<void> {
  if ((await tx.pendingRebind(key)) !== undefined) throw new PendingRebindError(key);
}

const maxRetries = 5;

/**
 * Runs a change of a plugin. While an earlier change is pending, completes that one and retries.
 *
 * @throws DomainError `conflict` after {@link maxRetries} retries
 */
export async function retryAfterPendingRebind<T>(
  deps: Pick<Deps, 'store' | 'clock'>,
  change: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof PendingRebindError)) throw error;
      if (retries === maxRetries) throw new DomainError('conflict', `${error.message}. Try again.`);
      await finishRebind(deps, error.key);
    }
  }
}

interface MoveOptions extends Omit<BindingMove, 'versionId'> {
  readonly selection: SelectionChange | null;
}

/** Moves those of the given bindings whose target version changed, with one statement for each target version. */
async function moveBindings(
  tx: Transaction,
  key: PluginKey,
  facts: readonly BindingWithFacts[],
  { selection, ...move }: MoveOptions,
): Promise<void> {
  const selected = await applySelection(tx, key, facts, selection);
  const moved = selected.filter((binding) => bindingTarget(binding) !== binding.versionId);
  for (const [versionId, bindings] of Map.groupBy(moved, (binding) => bindingTarget(binding))) {
    const guests = bindings.map(({ guestId: id, guestKey }) => ({ id, guestKey }));
    await tx.moveBindings(key, guests, { ...move, versionId });
  }
}

/**
 * Starts or ends roll backs, and stores those that changed.
 *
 * @returns the facts after the change
 */
async function applySelection(
  tx: Transaction,
  key: PluginKey,
  facts: readonly BindingWithFacts[],
  change: SelectionChange | null,
): Promise<BindingWithFacts[]> {
  const ids = facts.map(({ guestId }) => guestId);
  const affected = new Set(change === null ? [] : await tx.guestsOfVersion(change.version.id, ids));
  const after = facts.map((binding): BindingWithFacts => {
    return { ...binding, ...selectionAfter(binding, affected.has(binding.guestId) ? change : null) };
  });
  if (change?.kind === 'date_before') {
    const dated = after.filter(({ selectedAtNumber }, at) => selectedAtNumber !== facts[at]?.selectedAtNumber);
    if (dated.length > 0) {
      const guestIds = dated.map(({ guestId }) => guestId);
      await tx.dateRollBacks(key, guestIds, change.version.number);
    }
  }
  // A repeated rollback counts from now on.
  const isMadeAgain = ({ guestId, selected }: BindingWithFacts): boolean =>
    change?.kind === 'select' && selected !== null && affected.has(guestId);
  const changed = after.filter((binding) => binding.selected !== binding.selectedVersionId || isMadeAgain(binding));
  for (const [versionId, bindings] of Map.groupBy(changed, ({ selected }) => selected)) {
    const guestIds = bindings.map(({ guestId }) => guestId);
    await tx.selectVersion(key, guestIds, versionId);
  }
  return after;
}

/** Returns the version that a binding is rolled back to after a change; `null` when it follows the newest version. */
function selectionAfter(
  binding: BindingWithFacts,
  change: SelectionChange | null,
): Pick<BindingWithFacts, 'selected' | 'selectedAtNumber'> {
  const { selected, selectedNumber, selectedAtNumber, newest, candidates } = binding;
  const unchanged = { selected, selectedAtNumber };
  if (change?.kind === 'select') {
    const isNewest = newest === change.version.id && candidates.length === 0;
    // A rollback is made after all versions that are there.
    return isNewest ? { ...unchanged, selected: null } : { selected: change.version.id, selectedAtNumber: Infinity };
  }
  if (change === null || selectedNumber === null || selectedNumber >= change.version.number) return unchanged;
  const { number } = change.version;
  const isEarlier = (selectedAtNumber ?? 0) < number;
  if (change.kind === 'date_before') return isEarlier ? unchanged : { selected, selectedAtNumber: number - 1 };
  return change.kind === 'end_before' || isEarlier ? { ...unchanged, selected: null } : unchanged;
}

/** How long a deleted plugin's name and semantic versions stay reserved for its publisher, in milliseconds. */
export const nameReservationMs = 90 * 24 * 60 * 60 * 1000;
