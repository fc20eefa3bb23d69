import { bindingTarget, type GuestId, type VersionId } from '@tenon/protocol';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import { nameReservationMs } from './name-reservations.ts';
import type { BindingMove, ClaimFacts, SelectionChange, Transaction } from './ports.ts';
import type { PluginKey } from './records.ts';

/**
 * How many claims one transaction looks at. Other writers wait for a transaction, so what is larger goes in pieces:
 * {@link finishRebind}.
 */
export const rebindBatchSize = 1000;

export interface RebindOptions {
  /** The guests whose claims may be affected; all of the plugin's by default. */
  readonly guestIds?: readonly GuestId[];
  /** What the change does to roll backs. */
  readonly selection?: SelectionChange | null;
  /** Whether the plugin is marked as deleted. */
  readonly isDeleted?: boolean;
}

/**
 * Makes the claims of a plugin bind what they are to bind, after whatever may have changed that. Nothing else moves a binding.
 *
 * Hosts find the newest plugin by `updatedAt`, so a move is always later than the one before it; and a binding that stays
 * where it is keeps its time, since A2's entity tag changes exactly when the list does.
 *
 * Where there are too many claims, none is moved: it is noted that all are pending, and the caller calls {@link finishRebind} once
 * the transaction is committed, before it answers.
 *
 * @returns whether there is something pending
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
  else await moveBindings(tx, key, facts, { selection, nowMs, tellsEach: true });
  return isPending;
}

/**
 * Goes on with a plugin's pending rebind to its end, each piece in a transaction of its own. Any number of processes may do
 * so at once. Where nothing is pending it does nothing.
 *
 * @param signal aborts between two transactions
 */
export async function finishRebind(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  key: PluginKey,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await store.write((tx) => rebindBatch(tx, key, clock()))));
}

/** @returns whether there is more to do */
async function rebindBatch(tx: Transaction, key: PluginKey, nowMs: number): Promise<boolean> {
  const pending = await tx.pendingRebind(key);
  if (pending === undefined) return false;
  const { after, selection, isDeleted } = pending;
  const facts = await tx.bindingFacts(key, { after, limit: rebindBatchSize });
  await moveBindings(tx, key, facts, { selection, nowMs, tellsEach: false });
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
  if (isDeleted) await tx.forgetDeleted(key);
  return false;
}

/** Thrown where an earlier change of a plugin is still to be finished. */
class PendingRebindError extends Error {
  readonly key: PluginKey;

  constructor(key: PluginKey) {
    super(`An earlier change of the plugin "${key.name}" is not finished yet`);
    this.key = key;
  }
}

/**
 * Demands that nothing of an earlier change of a plugin is pending: changes of one plugin come one after the other.
 *
 * @throws PendingError which {@link retryAfterPendingRebind} answers
 */
export async function requireNoPendingRebind(tx: Transaction, key: PluginKey): Promise<void> {
  if ((await tx.pendingRebind(key)) !== undefined) throw new PendingRebindError(key);
}

/** How often a change waits for earlier ones. */
const maxRetries = 5;

/**
 * Makes a change of a plugin, and what is pending of an earlier one before.
 *
 * @throws DomainError `conflict` when there is always another one
 */
export async function retryAfterPendingRebind<T>(
  context: Pick<Context, 'store' | 'clock'>,
  change: () => Promise<T>,
): Promise<T> {
  for (let waits = 0; ; waits++) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof PendingRebindError)) throw error;
      if (waits === maxRetries) throw new DomainError('conflict', `${error.message}. Try again.`);
      await finishRebind(context, error.key);
    }
  }
}

interface Rebinding extends Omit<BindingMove, 'versionId'> {
  readonly selection: SelectionChange | null;
}

/** Moves what is to be moved, in one call for each version that some are moved to. */
async function moveBindings(
  tx: Transaction,
  key: PluginKey,
  facts: readonly ClaimFacts[],
  { selection, ...move }: Rebinding,
): Promise<void> {
  const selected = await applySelection(tx, key, facts, selection);
  const moved = new Map<VersionId | null, ClaimFacts[]>();
  for (const fact of selected) {
    const versionId = bindingTarget(fact);
    if (versionId !== fact.versionId) getOrCreateList(moved, versionId).push(fact);
  }
  for (const [versionId, claims] of moved) {
    const guests = claims.map(({ guestId: id, guestKey }) => ({ id, guestKey }));
    await tx.moveBindings(key, guests, { ...move, versionId });
  }
}

/**
 * Changes what was rolled back to, as the change asks. A roll back ends too when its version is not published any more.
 *
 * @returns the facts as they are after that
 */
async function applySelection(
  tx: Transaction,
  key: PluginKey,
  facts: readonly ClaimFacts[],
  change: SelectionChange | null,
): Promise<ClaimFacts[]> {
  const ids = facts.map(({ guestId }) => guestId);
  const under = new Set(change === null ? [] : await tx.guestsOfVersion(change.version.id, ids));
  const changed = new Map<VersionId | null, GuestId[]>();
  const after = facts.map((fact): ClaimFacts => {
    const selected = selectionAfter(fact, under.has(fact.guestId) ? change : null);
    if (selected !== fact.selectedVersionId) getOrCreateList(changed, selected).push(fact.guestId);
    return { ...fact, selected };
  });
  for (const [versionId, guestIds] of changed) await tx.selectVersion(key, guestIds, versionId);
  return after;
}

function selectionAfter(fact: ClaimFacts, change: SelectionChange | null): VersionId | null {
  const { selected, selectedNumber, newest } = fact;
  if (change?.kind === 'select') return newest === change.version.id ? null : change.version.id;
  const isOverdue = change !== null && selectedNumber !== null && selectedNumber < change.version.number;
  return isOverdue ? null : selected;
}

function getOrCreateList<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
