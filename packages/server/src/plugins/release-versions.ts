import type { VersionId, VersionState } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { clockGap, maxClockGapMs } from '../blobs/clock-gap.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueApprovalNotices } from '../mail/notices.ts';
import { pluginAuditEntry } from './plugin-changes.ts';
import { finishRebind, rebind, requireNoPendingRebind, retryAfterPendingRebind } from './rebind.ts';
import { lacksRoom, planOfRelease, startRollOut } from './roll-outs/start.ts';
import { isEarly } from './version-states.ts';

/** How many due versions one query reads. */
const batchSize = 100;

type ReleaseDeps = Pick<Deps, 'store' | 'clock' | 'settings' | 'auditAuthor'>;

/**
 * Publishes the versions that have their minimum age, and moves the bindings, with one transaction for each version. Several processes
 * may do this at the same time, and after a crash another process continues.
 *
 * A clock that is more than {@link maxClockGapMs} ahead of the last maintenance may be wrong. Then no version is published.
 *
 * @param signal aborts between two versions
 * @returns how many versions were published
 * @throws the first error, after it has tried all due versions
 */
export async function releaseDueVersions(deps: ReleaseDeps, signal?: AbortSignal): Promise<number> {
  let [released, after] = [0, ''];
  let failure: { readonly cause: unknown } | undefined;
  for (;;) {
    const due = await deps.store.read.dueVersions(deps.clock(), { after, limit: batchSize });
    if (due.length === 0 || signal?.aborted || (after === '' && (await clockGap(deps)) > maxClockGapMs)) break;
    for (const id of due) {
      if (signal?.aborted) break;
      after = id;
      try {
        if (await releaseVersion(deps, id)) released++;
      } catch (cause) {
        failure ??= { cause }; // one version must not keep the others from their release
      }
    }
  }
  if (failure !== undefined) throw failure.cause;
  return released;
}

/** @returns whether the version is published now */
async function releaseVersion(deps: ReleaseDeps, id: VersionId): Promise<boolean> {
  const release = () => deps.store.write((tx) => releaseInTransaction(deps, tx, id));
  const { version, state, isPending } = await retryAfterPendingRebind(deps, release);
  if (version !== undefined && isPending) await finishRebind(deps, version);
  return state === 'published';
}

interface Released {
  readonly version?: VersionRecord;
  readonly state?: VersionState;
  readonly isPending?: boolean;
}

async function releaseInTransaction(deps: ReleaseDeps, tx: Transaction, id: VersionId): Promise<Released> {
  const nowMs = deps.clock();
  const version = await tx.versionById(id);
  // The team or the publisher may have decided meanwhile, or another process was faster.
  if (version?.state !== 'cooling_down' || isEarly(version, nowMs)) return {};
  const [plugin, extensionPoint] = [await tx.plugin(version), await tx.extensionPoint(version.extensionPointId)];
  if (plugin === undefined || extensionPoint === undefined) return {};
  await requireNoPendingRebind(tx, version);
  const isApproved = version.stateRole === 'host';
  const isBlocked = plugin.block !== null || plugin.publisherBlock !== null;
  const plan = await planOfRelease(tx, version, extensionPoint);
  const needsApproval =
    isBlocked || (extensionPoint.requiresApproval && !isApproved) || (await lacksRoom(tx, version, plan));
  const state = needsApproval ? 'awaiting_approval' : 'published';
  await tx.decideVersions([id], { state, stateReason: null, stateAtMs: nowMs, stateRole: null });
  const { appId } = extensionPoint;
  const details = { version: version.number, versionId: id, reason: null, state };
  await record(deps, tx, 'system', pluginAuditEntry(appId, version, 'version.release', { details }));
  if (needsApproval) await queueApprovalNotices(deps, tx, appId);
  if (needsApproval) return { version, state, isPending: false };
  const isStaged = await startRollOut(deps, tx, { actor: 'system', appId, version, plan });
  // As a publish without a minimum age, it ends the rollbacks that were made before it.
  const selection = isStaged ? null : ({ kind: 'end_earlier', version } as const);
  const isPending = await rebind(tx, version, nowMs, { selection });
  return { version, state, isPending };
}
