import type { VersionId } from '@tenon/protocol';
import { record } from '../../audit/record.ts';
import type { Actor } from '../../auth/access.ts';
import { clockGap, maxClockGapMs } from '../../blobs/clock-gap.ts';
import type { SelectionChange, VersionRecord } from '../../db/records.ts';
import type { RollOutRecord } from '../../db/roll-out-records.ts';
import type { Queries, Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { pluginAuditEntry } from '../plugin-changes.ts';
import { finishRebind, rebind, requireNoPendingRebind, retryAfterPendingRebind } from '../rebind.ts';
import { rollOutDetails } from './audit-details.ts';
import { dueAt } from './plans.ts';
import type { DueRollOut } from './roll-out-queries.ts';
import { type RollOutDeps, supersedeRollOuts } from './start.ts';

/** How many due roll-outs one query reads. */
const batchSize = 100;

/** The position before the first due roll-out. */
const noneDue: DueRollOut = { dueAtMs: 0, versionId: '' as VersionId };

type AdvanceDeps = RollOutDeps & Pick<Deps, 'store'>;

/**
 * Moves the roll-outs whose step ends to the next step, and completes them after the last one, with one transaction for each. Several
 * processes may do this at the same time, and after a crash another process continues.
 *
 * A clock that is more than {@link maxClockGapMs} ahead of the last maintenance may be wrong. Then no roll-out moves.
 *
 * @param signal aborts between two roll-outs
 * @returns how many roll-outs moved
 * @throws the first error, after it has tried all
 */
export async function advanceRollOuts(deps: AdvanceDeps, signal?: AbortSignal): Promise<number> {
  let advanced = 0;
  let after: DueRollOut = noneDue;
  let failure: { readonly cause: unknown } | undefined;
  for (;;) {
    const due = await deps.store.read.dueRollOuts(deps.clock(), { after, limit: batchSize });
    if (due.length === 0 || signal?.aborted || (after === noneDue && (await clockGap(deps)) > maxClockGapMs)) break;
    for (const next of due) {
      if (signal?.aborted) break;
      after = next;
      try {
        if (await advanceRollOut(deps, next.versionId)) advanced++;
      } catch (cause) {
        failure ??= { cause }; // one roll-out must not keep the others from their next step
      }
    }
  }
  if (failure !== undefined) throw failure.cause;
  return advanced;
}

/** @returns whether it moved */
async function advanceRollOut(deps: AdvanceDeps, id: VersionId): Promise<boolean> {
  const { read } = deps.store;
  const present = await read.rollOut(id);
  // Other writers would wait for a transaction, and a roll-out may wait for reports for weeks.
  if (present === undefined || (await missingCalls(read, present)) !== undefined) return false;
  const advance = () => deps.store.write((tx) => advanceInTransaction(deps, tx, id));
  const { version, isPending } = await retryAfterPendingRebind(deps, advance);
  if (version !== undefined && isPending) await finishRebind(deps, version);
  return version !== undefined;
}

interface Advanced {
  readonly version?: VersionRecord;
  readonly isPending?: boolean;
}

async function advanceInTransaction(deps: AdvanceDeps, tx: Transaction, id: VersionId): Promise<Advanced> {
  const nowMs = deps.clock();
  const rollOut = await tx.rollOut(id);
  // A member may have decided meanwhile, or another process was faster.
  if (rollOut?.state !== 'running' || rollOut.dueAtMs === null || rollOut.dueAtMs > nowMs) return {};
  const [version, plugin] = [await tx.versionById(id), await tx.plugin(rollOut)];
  if (version === undefined || plugin === undefined) return {};
  await requireNoPendingRebind(tx, rollOut);
  if (plugin.block !== null || plugin.publisherBlock !== null) {
    const reason = 'The plugin or its publisher is blocked.';
    await tx.updateRollOut(id, { state: 'paused', reason, updatedAtMs: nowMs, dueAtMs: null });
    const details = { ...rollOutDetails(version), step: rollOut.step, reason };
    await record(deps, tx, 'system', pluginAuditEntry(rollOut.appId, version, 'roll_out.pause', { details }));
    return {};
  }
  if ((await missingCalls(tx, rollOut)) !== undefined) return {};
  const isLast = isLastStep(rollOut);
  const selection = await moveOn(deps, tx, 'system', { rollOut, version, isFull: false });
  if (!isLast) {
    const details = { ...rollOutDetails(version), step: rollOut.step + 1 };
    await record(deps, tx, 'system', pluginAuditEntry(rollOut.appId, version, 'roll_out.advance', { details }));
  }
  return { version, isPending: await rebind(tx, version, nowMs, { selection }) };
}

const isLastStep = ({ plan, step }: RollOutRecord): boolean => step + 1 >= plan.steps.length;

/** Returns how many calls hosts have reported in the step, if the plan's limits need more; otherwise `undefined`. */
export async function missingCalls(
  read: Queries,
  { versionId, plan, stepAtMs }: RollOutRecord,
): Promise<{ readonly calls: number; readonly minCalls: number } | undefined> {
  if (plan.halt === null) return undefined;
  const { minCalls } = plan.halt;
  const calls = await read.reportedCalls(versionId, stepAtMs);
  return calls < minCalls ? { calls, minCalls } : undefined;
}

/** A move of a roll-out to the next step. */
interface Move {
  readonly rollOut: RollOutRecord;
  readonly version: VersionRecord;
  /** Whether it moves to all guests. */
  readonly isFull: boolean;
}

/**
 * Moves a roll-out to the next step, or completes it. The caller records the move, and recomputes the bindings.
 *
 * @returns how the move changes rollbacks
 */
export async function moveOn(
  deps: RollOutDeps,
  tx: Transaction,
  actor: Actor | 'system',
  { rollOut, version, isFull }: Move,
): Promise<SelectionChange | null> {
  const { appId, plan, step, versionId } = rollOut;
  const nowMs = deps.clock();
  const moved = { reason: null, stepAtMs: nowMs, updatedAtMs: nowMs };
  if (!isFull && !isLastStep(rollOut)) {
    const next = { state: 'running', step: step + 1, dueAtMs: dueAt(plan, step + 1, nowMs) } as const;
    await tx.updateRollOut(versionId, { ...moved, ...next });
    return null;
  }
  await tx.updateRollOut(versionId, { ...moved, state: 'completed', dueAtMs: null, endedAtMs: nowMs });
  const details = rollOutDetails(version);
  await record(deps, tx, actor, pluginAuditEntry(appId, version, 'roll_out.complete', { details }));
  await supersedeRollOuts(deps, tx, { actor, appId, version });
  // As a release to all guests at once, it ends the rollbacks that were made before it.
  return { kind: 'end_earlier', version };
}
