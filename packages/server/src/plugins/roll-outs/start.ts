import { type AppId, maxOpenRollOuts, type RollOutPlan } from '@tenon/protocol';
import { record } from '../../audit/record.ts';
import type { Actor } from '../../auth/access.ts';
import type { ExtensionPointRecord, VersionRecord } from '../../db/records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { pluginAuditEntry } from '../plugin-changes.ts';
import { rollOutDetails } from './audit-details.ts';
import { dueAt } from './plans.ts';

export type RollOutDeps = Pick<Deps, 'clock' | 'auditAuthor'>;

/** A version that becomes available to its guests. */
export interface Release {
  /** `system` when the version passed its simulations, or has its minimum age. */
  readonly actor: Actor | 'system';
  readonly appId: AppId;
  readonly version: VersionRecord;
  /** `null` for all guests at once. */
  readonly plan: RollOutPlan | null;
  /** Why the roll-out waits in its first step until the team resumes it. Default: it does not wait. */
  readonly pauseReason?: string | undefined;
}

/**
 * Starts the roll-out of a version that was just published, in the same transaction and before `rebind()`. The first version of a plugin
 * goes to all guests at once: there is no other version to compare it with. A publisher can't make a version the first one, neither by
 * yanking the others nor by deleting the plugin.
 *
 * @returns whether the version reaches its guests in steps
 * @throws DomainError `conflict` if {@link maxOpenRollOuts} other versions of the plugin are in a roll-out
 */
export async function startRollOut(deps: RollOutDeps, tx: Transaction, release: Release): Promise<boolean> {
  const { actor, appId, version, plan, pauseReason } = release;
  if (plan === null || !(await isStaged(tx, version, plan))) {
    await tx.deleteRollOut(version.id);
    await supersedeRollOuts(deps, tx, release);
    return false;
  }
  if (await isFull(tx, version)) {
    throw new DomainError(
      'conflict',
      `${maxOpenRollOuts} versions of the plugin are in a roll-out, the maximum. Complete or abort one of them.`,
    );
  }
  const nowMs = deps.clock();
  const { extensionPointId, userId, name } = version;
  await tx.putRollOut({
    versionId: version.id,
    appId,
    ...{ extensionPointId, userId, name },
    state: pauseReason === undefined ? 'running' : 'paused',
    plan,
    step: 0,
    reason: pauseReason ?? null,
    createdAtMs: nowMs,
    stepAtMs: nowMs,
    updatedAtMs: nowMs,
    dueAtMs: pauseReason === undefined ? dueAt(plan, 0, nowMs) : null,
    endedAtMs: null,
  });
  const details = { ...rollOutDetails(version), plan };
  await record(deps, tx, actor, pluginAuditEntry(appId, version, 'roll_out.start', { details }));
  if (pauseReason !== undefined) {
    const pause = { ...rollOutDetails(version), step: 0, reason: pauseReason };
    await record(deps, tx, actor, pluginAuditEntry(appId, version, 'roll_out.pause', { details: pause }));
  }
  return true;
}

/** Whether a version needs the team's approval because its roll-out can't start: too many others of the plugin are open. */
export async function lacksRoom(tx: Transaction, version: VersionRecord, plan: RollOutPlan | null): Promise<boolean> {
  return plan !== null && (await isFull(tx, version)) && (await isStaged(tx, version, plan));
}

async function isFull(tx: Transaction, version: VersionRecord): Promise<boolean> {
  const open = await tx.openRollOuts([version]);
  return open.filter(({ versionId }) => versionId !== version.id).length >= maxOpenRollOuts;
}

async function isStaged(tx: Transaction, version: VersionRecord, { steps }: RollOutPlan): Promise<boolean> {
  return steps.length > 0 && (await tx.hadVersionBefore(version)) && !(await tx.isSuperseded(version));
}

/**
 * Returns the plan of a release.
 *
 * @param chosen the team's choice; `null` for all guests at once. Default: as it was planned before, or else the extension point's plan
 */
export async function planOfRelease(
  tx: Transaction,
  { id }: Pick<VersionRecord, 'id'>,
  { rollOut }: Pick<ExtensionPointRecord, 'rollOut'>,
  chosen?: RollOutPlan | null,
): Promise<RollOutPlan | null> {
  if (chosen !== undefined) return chosen;
  return (await tx.rollOut(id))?.plan ?? rollOut;
}

/** Stores the plan of a version that is released when it has its minimum age. @param chosen as for {@link planOfRelease} */
export async function planRollOut(
  deps: RollOutDeps,
  tx: Transaction,
  { version, appId }: Pick<Release, 'version' | 'appId'>,
  chosen: RollOutPlan | null | undefined,
): Promise<void> {
  const plan = chosen === undefined ? (await tx.rollOut(version.id))?.plan : (chosen ?? { steps: [], halt: null });
  if (plan === undefined) return;
  const nowMs = deps.clock();
  const { extensionPointId, userId, name } = version;
  await tx.putRollOut({
    versionId: version.id,
    appId,
    ...{ extensionPointId, userId, name },
    state: 'planned',
    plan,
    step: 0,
    reason: null,
    createdAtMs: nowMs,
    stepAtMs: nowMs,
    updatedAtMs: nowMs,
    dueAtMs: null,
    endedAtMs: null,
  });
}

/** Ends the roll-outs of older versions whose guests all have a newer version, after a version has become one for all guests. */
export async function supersedeRollOuts(
  deps: RollOutDeps,
  tx: Transaction,
  { actor, appId, version }: Omit<Release, 'plan'>,
): Promise<void> {
  for (const older of await tx.openRollOuts([version])) {
    if (older.number >= version.number || !(await tx.isSuperseded({ ...older, id: older.versionId }))) continue;
    const nowMs = deps.clock();
    await tx.updateRollOut(older.versionId, {
      state: 'superseded',
      updatedAtMs: nowMs,
      dueAtMs: null,
      endedAtMs: nowMs,
    });
    const details = { ...rollOutDetails({ id: older.versionId, number: older.number }), by: version.number };
    await record(deps, tx, actor, pluginAuditEntry(appId, version, 'roll_out.supersede', { details }));
  }
}

/** Ends the planned and open roll-outs of versions that are withdrawn. */
export async function abortRollOuts(
  deps: RollOutDeps,
  tx: Transaction,
  actor: Actor | 'system' | 'operator',
  versions: readonly VersionRecord[],
  reason: string | null,
): Promise<void> {
  const numbers = new Map(versions.map(({ id, number }) => [id, number]));
  for (const rollOut of await tx.rollOutsOfVersions([...numbers.keys()])) {
    if (rollOut.endedAtMs !== null) continue;
    const nowMs = deps.clock();
    const { versionId: id, appId } = rollOut;
    await tx.updateRollOut(id, { state: 'aborted', reason, updatedAtMs: nowMs, dueAtMs: null, endedAtMs: nowMs });
    if (rollOut.state === 'planned') continue;
    const details = { ...rollOutDetails({ id, number: numbers.get(id) ?? 0 }), step: rollOut.step, reason };
    await record(deps, tx, actor, pluginAuditEntry(appId, rollOut, 'roll_out.abort', { details }));
  }
}
