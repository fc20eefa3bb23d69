import type { ContentAddress } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { type ExtensionPointAccess, renewAccess } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { cursorOfValues } from '../db/page-queries.ts';
import { type PageOf, readPage } from '../db/paging.ts';
import type { PluginKey, WithdrawalRecord } from '../db/records.ts';
import type { Page, Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { pluginAuditEntry } from './plugin-changes.ts';
import type { VersionAction } from './version-states.ts';

/*
 * When an application's team yanks, rejects or blocks a plugin's bytes, it withdraws them from their publisher at the extension
 * point, under every plugin name. The withdrawal survives the deletion of the plugin: while the plugin exists, its versions and
 * its block record the withdrawal; when it is deleted, `retirePlugin` stores a row for it.
 */

/** Whether a publisher may publish some bytes. */
interface WithdrawalRule {
  /** The team rejected the bytes, so they need approval even if the extension point doesn't require it. */
  readonly needsApproval: boolean;
  /** @throws DomainError `plugin_blocked` for blocked bytes, `conflict` for yanked ones */
  requirePublishable(): void;
}

/** Reads the team's decisions about the bytes of a publish. */
export async function withdrawalRule(
  tx: Pick<Queries, 'withdrawalsOf'>,
  { extensionPointId, userId }: PluginKey,
  contentAddress: ContentAddress,
): Promise<WithdrawalRule> {
  const found = await tx.withdrawalsOf(extensionPointId, userId, contentAddress);
  return {
    needsApproval: found.some(({ state }) => state === 'rejected'),
    requirePublishable() {
      const withdrawal =
        found.find(({ state }) => state === 'blocked') ?? found.find(({ state }) => state === 'yanked');
      if (withdrawal === undefined) return;
      const { name, state } = withdrawal;
      throw new DomainError(
        state === 'blocked' ? 'plugin_blocked' : 'conflict',
        `The application's team has ${state} these bytes, which you published as "${name}". Only the team can restore them.${reasonOf(withdrawal)}`,
      );
    },
  };
}

/**
 * Requires that the bytes of a version may become published, if the action does that. If the actor is on the team, also ends the
 * withdrawal that a deleted plugin with these bytes left.
 *
 * @param isHost whether the actor is on the team
 * @throws DomainError `plugin_blocked` if another plugin with these bytes is blocked, `forbidden` for a publisher if the team
 *   withdrew the bytes
 */
export async function requireReleasable(
  tx: Transaction,
  version: PluginKey & { readonly contentAddress: ContentAddress },
  action: VersionAction,
  isHost: boolean,
): Promise<void> {
  if (action !== 'approve' && action !== 'release' && action !== 'restore') return;
  const { extensionPointId, userId, contentAddress } = version;
  const found = await tx.withdrawalsOf(extensionPointId, userId, contentAddress);
  const block = found.find(({ state, name }) => state === 'blocked' && name !== version.name);
  if (block !== undefined) {
    throw new DomainError(
      'plugin_blocked',
      `The application's team has blocked the same bytes as the plugin "${block.name}". Unblock it first.${reasonOf(block)}`,
    );
  }
  if (isHost) {
    await tx.deleteWithdrawal({ extensionPointId, userId, contentAddress });
    return;
  }
  const withdrawal = found.find(({ state }) => state !== 'blocked');
  if (withdrawal === undefined) return;
  throw new DomainError(
    'forbidden',
    `The application's team has ${withdrawal.state} the same bytes. Only the team can restore them.${reasonOf(withdrawal)}`,
  );
}

function reasonOf({ reason }: WithdrawalRecord): string {
  return reason === null ? '' : ` Their reason: ${reason}`;
}

/** A withdrawal with its publisher's name. */
export type NamedWithdrawal = WithdrawalRecord & { readonly userName: string };

/** Lists the withdrawals that deleted plugins left at an extension point. */
export function listWithdrawals(
  deps: Deps,
  access: ExtensionPointAccess,
  page: Page,
): Promise<PageOf<NamedWithdrawal>> {
  return readPage(
    page,
    ({ userId, contentAddress }: NamedWithdrawal) => cursorOfValues(userId, contentAddress),
    (range) => deps.store.read.withdrawals(access.extensionPoint.id, range),
  );
}

/**
 * Ends a withdrawal that a deleted plugin left. The publisher may then publish the bytes again.
 *
 * @throws DomainError `not_found`, `step_up_required`
 */
export async function endWithdrawal(
  deps: Deps,
  access: ExtensionPointAccess,
  of: { readonly userId: string; readonly contentAddress: string },
): Promise<void> {
  const extensionPointId = access.extensionPoint.id;
  await deps.store.write(async (tx) => {
    await renewAccess(tx, access, 'decideOnPlugins');
    const withdrawal = await tx.withdrawal(extensionPointId, of);
    if (withdrawal === undefined) throw notFound('withdrawal');
    await requireStepUp(deps, access.actor.sessionId, tx);
    await tx.deleteWithdrawal(withdrawal);
    const details = { contentAddress: withdrawal.contentAddress };
    await record(
      deps,
      tx,
      access.actor,
      pluginAuditEntry(access.app.id, withdrawal, 'plugin.end_withdrawal', { details }),
    );
  });
}
