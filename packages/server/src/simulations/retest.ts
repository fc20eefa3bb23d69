import { record } from '../audit/record.ts';
import { type ExtensionPointAccess, renewAccess, requirePluginRoles } from '../auth/access.ts';
import { chargeSimulations, chargeTest, quotasOf } from '../auth/quotas.ts';
import { requirePluginAllowed } from '../auth/token-restriction.ts';
import type { SimulationRunRecord } from '../db/simulation-run-records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { pluginAuditEntry } from '../plugins/plugin-changes.ts';
import { findPlugin, findVersion, type PluginTarget, requireNotBlocked } from '../plugins/plugins.ts';
import { requireTransition } from '../plugins/version-states.ts';
import { queueTest } from '../plugins/version-tester.ts';

/** Lists the newest tests of a version, the newest first. @throws DomainError `not_found` */
export async function listRuns(
  { store }: Pick<Deps, 'store'>,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<SimulationRunRecord[]> {
  const version = await findVersion(store.read, await findPlugin(store.read, access.actor, access, target), number);
  return store.read.simulationRuns(version.id);
}

/**
 * Tests a version again, and waits for the result, but not for long. A failed version is published if it passes, and one that awaits
 * approval fails if it does not. In every other state the result is only shown. A test that errored starts at once.
 *
 * @throws DomainError `not_found`, `insufficient_scope`, `forbidden`, `rate_limited`; `conflict` without simulations; for a publisher
 *   `plugin_blocked`
 */
export async function retestVersion(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<SimulationRunRecord> {
  const run = await deps.store.write((tx) => queueRetest(deps, tx, access, target, number));
  await deps.tester.settled(run.versionId);
  return (await deps.store.read.simulationRun(run.id)) ?? run;
}

async function queueRetest(
  deps: Deps,
  tx: Transaction,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<SimulationRunRecord> {
  const { actor, app, extensionPoint } = access;
  const renewed = await renewAccess(tx, access, 'changePlugins');
  const plugin = await findPlugin(tx, actor, renewed, target);
  requirePluginAllowed(actor, 'changePlugins', plugin);
  const roles = requirePluginRoles(actor, renewed, plugin);
  if (!roles.includes('host')) requireNotBlocked(plugin);
  const version = await findVersion(tx, plugin, number);
  const nowMs = deps.clock();
  const open = await tx.openSimulationRun(version.id);
  if (open !== undefined && (open.state === 'running' || open.dueAtMs <= nowMs)) return open;
  if (open === undefined && version.state !== 'failed' && !(await tx.hasSimulations(extensionPoint.id))) {
    throw new DomainError('conflict', 'The extension point has no simulations.');
  }
  await tx.putPluginCharge(plugin, await chargeTest(tx, await quotasOf(deps, tx, [app.id]), plugin, app.id, nowMs));
  const payers = { userId: actor.userId, appId: app.id };
  await chargeSimulations(deps, tx, payers, await tx.countSimulations(extensionPoint.id));
  const details = { version: version.number, versionId: version.id };
  await record(deps, tx, actor, pluginAuditEntry(app.id, plugin, 'version.retest', { details }));
  if (open !== undefined) {
    await tx.updateSimulationRun(open.id, { dueAtMs: nowMs });
    return open;
  }
  if (version.state === 'failed') {
    const { state } = requireTransition(version, 'retest', roles, nowMs);
    await tx.decideVersions([version.id], { state, stateReason: null, stateAtMs: nowMs, stateRole: null });
    await tx.putVerdict(version.id, null);
  }
  return queueTest(tx, version, nowMs);
}
