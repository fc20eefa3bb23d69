import type { ContentAddress } from '@tenon/protocol';
import { type ExtensionPointAccess, renewAccess } from './access.ts';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import { type PageOf, readPage } from './paging.ts';
import { pluginAuditEntry } from './plugin-changes.ts';
import type { Page, Queries, Transaction } from './ports.ts';
import type { PluginKey, WithdrawalRecord } from './records.ts';
import type { VersionAction } from './version-states.ts';

/*
 * What an application's team yanks, rejects or blocks are bytes, not only a version or a name: they stay withdrawn from their
 * publisher at the extension point under every name, and when the plugin is deleted. While the plugin exists, its versions and its
 * block say so; `retirePlugin` keeps it when the plugin is deleted.
 */

/** Whether a publisher may publish some bytes: as any others, only with the team's approval, or not at all. */
export interface WithdrawalRule {
  /** The team rejected the bytes: they await approval, whatever the extension point requires. */
  readonly awaitsApproval: boolean;
  /** @throws DomainError `plugin_blocked` for blocked bytes, `conflict` for yanked ones */
  requirePublishable(): void;
}

/** What the team decided about bytes that are to be published. */
export async function withdrawalRule(
  tx: Pick<Queries, 'withdrawalsOf'>,
  { extensionPointId, userId }: PluginKey,
  contentAddress: ContentAddress,
): Promise<WithdrawalRule> {
  const found = await tx.withdrawalsOf(extensionPointId, userId, contentAddress);
  return {
    awaitsApproval: found.some(({ state }) => state === 'rejected'),
    requirePublishable() {
      const withdrawal =
        found.find(({ state }) => state === 'blocked') ?? found.find(({ state }) => state === 'yanked');
      if (withdrawal === undefined) return;
      const { name, state } = withdrawal;
      throw new DomainError(
        state === 'blocked' ? 'plugin_blocked' : 'conflict',
        `The application's team has ${state} these bytes, which you published as "${name}"; they alone can restore them.${reasonOf(withdrawal)}`,
      );
    },
  };
}

/**
 * Requires that a version may be published again, and ends what a deleted plugin left when the team publishes the same bytes.
 *
 * @param isHost whether the actor is on the team
 * @throws DomainError `plugin_blocked` for bytes of another plugin that is blocked, `forbidden` for a publisher's own version whose
 *   bytes the team withdrew
 */
export async function requireReleasable(
  tx: Transaction,
  version: PluginKey & { readonly contentAddress: ContentAddress },
  action: VersionAction,
  isHost: boolean,
): Promise<void> {
  if (action !== 'approve' && action !== 'restore') return;
  const { extensionPointId, userId, contentAddress } = version;
  const found = await tx.withdrawalsOf(extensionPointId, userId, contentAddress);
  const block = found.find(({ state, name }) => state === 'blocked' && name !== version.name);
  if (block !== undefined) {
    throw new DomainError(
      'plugin_blocked',
      `The application's team has blocked the same bytes as the plugin "${block.name}": take that back first.${reasonOf(block)}`,
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
    `The application's team has ${withdrawal.state} the same bytes, and can alone restore them.${reasonOf(withdrawal)}`,
  );
}

function reasonOf({ reason }: WithdrawalRecord): string {
  return reason === null ? '' : ` Their reason: ${reason}`;
}

/** What a deleted plugin left withdrawn, with its publisher's name. */
export type NamedWithdrawal = WithdrawalRecord & { readonly userName: string };

/** What deleted plugins left withdrawn at an extension point. */
export function listWithdrawals(
  context: Context,
  access: ExtensionPointAccess,
  page: Page,
): Promise<PageOf<NamedWithdrawal>> {
  return readPage(
    page,
    ({ userId, contentAddress }: NamedWithdrawal) => `${userId}/${contentAddress}`,
    (range) => context.store.read.withdrawals(access.extensionPoint.id, range),
  );
}

/**
 * Ends what a deleted plugin left withdrawn: its publisher may publish the bytes again.
 *
 * @throws DomainError `not_found`
 */
export async function endWithdrawal(
  context: Context,
  access: ExtensionPointAccess,
  of: { readonly userId: string; readonly contentAddress: string },
): Promise<void> {
  const extensionPointId = access.extensionPoint.id;
  await context.store.write(async (tx) => {
    await renewAccess(tx, access, 'decideOnPlugins');
    const withdrawal = await tx.withdrawal(extensionPointId, of);
    if (withdrawal === undefined) throw notFound('withdrawal');
    await tx.deleteWithdrawal(withdrawal);
    const details = { contentAddress: withdrawal.contentAddress };
    await record(
      context,
      tx,
      access.actor,
      pluginAuditEntry(access.app.id, withdrawal, 'plugin.end_withdrawal', { details }),
    );
  });
}
