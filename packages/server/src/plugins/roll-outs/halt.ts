import { record } from '../../audit/record.ts';
import type { RollOutRecord } from '../../db/roll-out-records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { queueTeamNotices } from '../../mail/notices.ts';
import { pluginAuditEntry } from '../plugin-changes.ts';
import { rebind, requireNoPendingRebind } from '../rebind.ts';
import { rollOutDetails } from './audit-details.ts';
import type { RollOutDeps } from './start.ts';

/**
 * Halts a roll-out because of the reports of hosts: its guests get the version before again, until a member of the team resumes it. Does
 * nothing if the roll-out has left the step that the reports are about.
 *
 * @returns whether a rebind is pending, which the caller finishes after the commit
 * @throws PendingRebindError which `retryAfterPendingRebind()` handles
 */
export async function haltRollOut(
  deps: RollOutDeps & Pick<Deps, 'settings'>,
  tx: Transaction,
  { versionId, step, stepAtMs }: Pick<RollOutRecord, 'versionId' | 'step' | 'stepAtMs'>,
  reason: string,
): Promise<boolean> {
  const present = await tx.rollOut(versionId);
  const version = await tx.versionById(versionId);
  if (present === undefined || version === undefined) return false;
  const isOpen = present.state === 'running' || present.state === 'paused';
  if (!isOpen || present.step !== step || present.stepAtMs !== stepAtMs) return false;
  await requireNoPendingRebind(tx, version);
  const nowMs = deps.clock();
  await tx.updateRollOut(versionId, { state: 'halted', reason, updatedAtMs: nowMs, dueAtMs: null });
  const details = { ...rollOutDetails(version), step, reason };
  await record(deps, tx, 'system', pluginAuditEntry(present.appId, version, 'roll_out.halt', { details }));
  const facts = { plugin: version.name, version: String(version.number), reason };
  await queueTeamNotices(deps, tx, present.appId, 'rollOuts', facts);
  return rebind(tx, version, nowMs);
}
