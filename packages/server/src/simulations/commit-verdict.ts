import type { VersionState } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { ExtensionPointRecord, PluginRole, VersionRecord } from '../db/records.ts';
import type { SimulationRunRecord } from '../db/simulation-run-records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueApprovalNotices } from '../mail/notices.ts';
import { isSameRequirements } from '../plugins/module-checker.ts';
import { pluginAuditEntry } from '../plugins/plugin-changes.ts';
import { finishRebind, rebind, requireNoPendingRebind, retryAfterPendingRebind } from '../plugins/rebind.ts';
import { lacksRoom, planOfRelease, startRollOut } from '../plugins/roll-outs/start.ts';
import { isEarly } from '../plugins/version-states.ts';
import { isReleasing } from '../plugins/version-tester.ts';
import type { SimulationsResult } from './run-simulations.ts';

/** The requirements that a version was tested against. */
export type TestedRequirements = Pick<ExtensionPointRecord, 'schemaJson' | 'limits' | 'simulationsRevision'>;

/**
 * What became of an attempt: its verdict is stored; it will be repeated; the requirements changed meanwhile, so it is repeated at once; or
 * its claim or its version is gone.
 */
export type Outcome = 'committed' | 'postponed' | 'requeued' | 'lost';

const maxRetryMs = 60 * 60_000;

/** How often a test is repeated that no version waits for. */
const maxReportAttempts = 5;

/**
 * Stores the result of an attempt. One transaction checks the claim and the requirements, changes the version's state, and moves the
 * bindings. Of a version in another state than `testing`, only the verdict changes, except that one that awaits approval may fail.
 */
export async function commitVerdict(
  deps: CommitDeps,
  run: SimulationRunRecord,
  tested: TestedRequirements,
  result: SimulationsResult,
): Promise<Outcome> {
  const commit = () => deps.store.write((tx) => writeResult(deps, tx, run, tested, result));
  const { outcome, pending } = await retryAfterPendingRebind(deps, commit);
  if (pending !== undefined) await finishRebind(deps, pending);
  return outcome;
}

type CommitDeps = Pick<Deps, 'store' | 'clock' | 'settings' | 'auditAuthor'>;

interface Written {
  readonly outcome: Outcome;
  /** The version whose plugin has a pending rebind. */
  readonly pending?: VersionRecord | undefined;
}

async function writeResult(
  deps: CommitDeps,
  tx: Transaction,
  run: SimulationRunRecord,
  tested: TestedRequirements,
  result: SimulationsResult,
): Promise<Written> {
  const current = await tx.simulationRun(run.id);
  if (current?.state !== 'running' || current.attempts !== run.attempts) return { outcome: 'lost' };
  const version = await tx.versionById(run.versionId);
  const extensionPoint = version && (await tx.extensionPoint(version.extensionPointId));
  const plugin = version && (await tx.plugin(version));
  if (version === undefined || extensionPoint === undefined || plugin === undefined) {
    await tx.deleteSimulationRun(run.id);
    return { outcome: 'lost' };
  }
  const nowMs = deps.clock();
  if (!isSame(extensionPoint, tested)) {
    await tx.updateSimulationRun(run.id, { state: 'queued', dueAtMs: nowMs });
    return { outcome: 'requeued' };
  }
  const { verdict, detail } = result;
  const stored = { verdict, detail, reportsJson: JSON.stringify(result.reports) };
  const isTesting = version.state === 'testing';
  if (verdict === 'errored' && (isTesting || run.attempts < maxReportAttempts)) {
    const retryMs = Math.min(maxRetryMs, deps.settings.simulationRetryMs * 2 ** Math.min(run.attempts - 1, 20));
    await tx.updateSimulationRun(run.id, { ...stored, state: 'queued', dueAtMs: nowMs + retryMs });
    if (isTesting && version.verdict !== verdict) await tx.putVerdict(version.id, verdict);
    return { outcome: 'postponed' };
  }
  await tx.updateSimulationRun(run.id, { ...stored, state: 'done', dueAtMs: nowMs });
  await tx.putVerdict(version.id, verdict);
  const hasFailed = version.state === 'awaiting_approval' && (verdict === 'failed' || verdict === 'timed_out');
  const subject = { version, extensionPoint, isBlocked: plugin.block !== null || plugin.publisherBlock !== null };
  const isPending = (isTesting || hasFailed) && (await moveState(deps, tx, subject, result, nowMs));
  await tx.pruneSimulationRuns(version, plugin.newest.number);
  const { appId } = extensionPoint;
  const details = { version: version.number, versionId: version.id, verdict, reason: detail };
  await record(deps, tx, 'system', pluginAuditEntry(appId, version, 'version.test', { details }));
  return { outcome: 'committed', pending: isPending ? version : undefined };
}

function isSame(current: TestedRequirements, tested: TestedRequirements): boolean {
  return current.simulationsRevision === tested.simulationsRevision && isSameRequirements(current, tested);
}

interface Subject {
  readonly version: VersionRecord;
  readonly extensionPoint: ExtensionPointRecord;
  /** Whether the team has blocked the plugin, or its publisher. */
  readonly isBlocked: boolean;
}

/** @returns whether a rebind is pending */
async function moveState(
  deps: CommitDeps,
  tx: Transaction,
  subject: Subject,
  result: SimulationsResult,
  stateAtMs: number,
): Promise<boolean> {
  const { version, extensionPoint } = subject;
  await requireNoPendingRebind(tx, version);
  const next = await nextState(tx, subject, result, stateAtMs);
  await tx.decideVersions([version.id], { ...next, stateAtMs });
  if (next.state === 'awaiting_approval') await queueApprovalNotices(deps, tx, extensionPoint.appId);
  if (next.state !== 'published') return false;
  const { appId } = extensionPoint;
  const plan = await planOfRelease(tx, version, extensionPoint);
  const isStaged = await startRollOut(deps, tx, { actor: 'system', appId, version, plan });
  // As a publish without simulations, it ends the rollbacks that were made before it.
  return rebind(tx, version, stateAtMs, { selection: isStaged ? null : { kind: 'end_earlier', version } });
}

interface NextState {
  readonly state: VersionState;
  readonly stateReason: string | null;
  readonly stateRole: PluginRole | null;
}

async function nextState(
  tx: Transaction,
  { version, extensionPoint, isBlocked }: Subject,
  { verdict, detail }: SimulationsResult,
  nowMs: number,
): Promise<NextState> {
  if (!isReleasing(verdict)) return { state: 'failed', stateReason: detail, stateRole: null };
  // The team may have withdrawn the bytes while they were tested.
  const { extensionPointId, userId, name, contentAddress } = version;
  const withdrawals = await tx.withdrawalsOf(extensionPointId, userId, contentAddress);
  const others = withdrawals.filter((one) => one.state !== 'blocked' || one.name !== name);
  const yanked = others.find(({ state }) => state !== 'rejected');
  if (yanked !== undefined) return { state: 'yanked', stateReason: yanked.reason, stateRole: 'host' };
  const plan = await planOfRelease(tx, version, extensionPoint);
  const needsApproval =
    extensionPoint.requiresApproval || isBlocked || others.length > 0 || (await lacksRoom(tx, version, plan));
  const passed = isEarly(version, nowMs) ? 'cooling_down' : 'published';
  return { state: needsApproval ? 'awaiting_approval' : passed, stateReason: null, stateRole: null };
}
