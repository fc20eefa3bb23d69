import { type AuditDetail, isPluginName } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { type AppAccess, type ExtensionPointAccess, findGuest, renewAccess, requireHostRole } from '../auth/access.ts';
import { isConfirmed, requireStepUp } from '../auth/confirmation.ts';
import { deleteBatchSize } from '../db/deletion-scope.ts';
import { naturalKey } from '../db/natural-key.ts';
import { cursorOfValues } from '../db/page-queries.ts';
import { type PageOf, readPage } from '../db/paging.ts';
import type { BindingRecord, PluginKey, PluginRecord, VersionRecord } from '../db/records.ts';
import type { GuestBinding, Page, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField, notFound } from '../http/domain-errors.ts';
import { requirePublisherNotBlocked } from './blocked-publishers.ts';
import { changePlugin, maxAuditedGuests, pluginAuditEntry, queueWithdrawalNotice } from './plugin-changes.ts';
import { type PluginTarget, type PluginWithBindings, readPluginWithBindings } from './plugins.ts';
import { nameReservationMs, rebind, requireNoPendingRebind, retryAfterPendingRebind } from './rebind.ts';
import { statePredicate } from './version-states.ts';
import { withdrawCopies } from './versions.ts';

/**
 * Rolls a plugin back to a version, under all guests under which that version was published. Rolling "back" to the newest version
 * ends a roll back. Pinned bindings don't move.
 *
 * @throws DomainError `invalid_field` for an unknown version number, `conflict` for a version that is not published, or whose roll-out is
 *   not completed
 */
export function rollBack(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: number,
): Promise<PluginWithBindings> {
  return changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, recordAudit }) => {
      const version = await requirePublishedVersion(tx, plugin, number);
      const rollOut = await tx.rollOut(version.id);
      if (rollOut !== undefined && rollOut.state !== 'completed') {
        throw new DomainError(
          'conflict',
          `Version ${number} has not reached all guests: its roll-out is not completed.`,
        );
      }
      const guestIds = await tx.bindingGuestsOfVersion(version, maxAuditedGuests);
      if (guestIds.length === 0) {
        throw new DomainError(
          'conflict',
          `The plugin is bound under other guests than those under which version ${number} was published.`,
        );
      }
      await recordAudit('plugin.roll_back', { details: { version: number, versionId: version.id, guestIds } });
      return { selection: { kind: 'select', version } };
    },
    readPluginWithBindings,
  );
}

/**
 * Blocks a plugin. Until it is unblocked, no binding has it, it accepts no new version, and its publisher can't publish its bytes
 * under another name. Published versions of other plugins with these bytes are yanked. Blocking a blocked plugin replaces the
 * reason.
 *
 * A block helps against an attack at once, so a browser's session needs no step-up for it. Without one, the block and its audit event
 * are marked as unconfirmed. Repeating the request after step-up confirms the block.
 */
export function blockPlugin(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  reason: string,
): Promise<PluginWithBindings> {
  return changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, nowMs, recordAudit }) => {
      requireHostRole(roles);
      const mark = (await isConfirmed(deps, access.actor.sessionId, tx)) ? {} : { isConfirmed: false };
      await tx.blockPlugin(plugin, { atMs: nowMs, reason, ...mark });
      const copies = await tx.publishedCopies(plugin);
      const pending = await withdrawCopies(deps, access, tx, copies, { action: 'yank', reason, atMs: nowMs });
      await recordAudit('plugin.block', { details: { reason, ...mark } });
      await queueWithdrawalNotice(deps, tx, access, plugin, { what: 'blocked', reason });
      return { pending };
    },
    readPluginWithBindings,
  );
}

/** @throws DomainError `not_found` for a plugin that is not blocked, `step_up_required` */
export async function unblockPlugin(deps: Deps, access: ExtensionPointAccess, target: PluginTarget): Promise<void> {
  await changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, recordAudit }) => {
      requireHostRole(roles);
      if (plugin.block === null) throw notFound('block');
      await requireStepUp(deps, access.actor.sessionId, tx);
      await tx.blockPlugin(plugin, null);
      await recordAudit('plugin.unblock');
    },
    async () => {},
  );
}

/**
 * Deletes a plugin with its versions and bindings. Its name and semantic versions stay reserved for its publisher for
 * {@link nameReservationMs}, and bytes that the team withdrew stay withdrawn.
 *
 * Only the host can delete a blocked or pinned plugin. Otherwise the publisher could remove the host's decision by deleting the
 * plugin and publishing it again.
 *
 * @throws DomainError `plugin_blocked`, `publisher_blocked`, `conflict` for a pinned plugin, `step_up_required`
 */
export async function deletePlugin(deps: Deps, access: ExtensionPointAccess, target: PluginTarget): Promise<void> {
  await changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, nowMs, recordAudit }) => {
      if (!roles.includes('host')) await requireNoHostDecision(tx, plugin);
      await requireStepUp(deps, access.actor.sessionId, tx);
      const facts = await tx.bindingFacts(plugin, { limit: maxAuditedGuests });
      const guestIds = facts.map(({ guestId }) => guestId);
      const isLarge = await tx.hasMoreRows(plugin, deleteBatchSize);
      await tx.noteDeletedBindings({ extensionPointId: plugin.extensionPointId }, nowMs);
      await tx.retirePlugin(plugin, { atMs: nowMs, untilMs: nowMs + nameReservationMs });
      if (isLarge)
        await tx.markPluginDeleted(plugin, nowMs); // its rows are purged in batches
      else {
        await tx.reserveName(plugin, guestIds, nowMs + nameReservationMs);
        await tx.deletePlugin(plugin);
      }
      await recordAudit('plugin.delete', { details: { guestIds, versions: plugin.newest.number } });
      return { isDeleted: isLarge };
    },
    async () => {},
  );
}

async function requireNoHostDecision(tx: Transaction, plugin: PluginRecord): Promise<void> {
  requirePublisherNotBlocked(plugin.publisherBlock);
  if (plugin.block !== null) {
    throw new DomainError(
      'plugin_blocked',
      `The application's team has blocked the plugin. Only the team can delete it. Their reason: ${plugin.block.reason}`,
    );
  }
  if (await tx.isPinned(plugin)) {
    throw new DomainError(
      'conflict',
      "The application's team has pinned the plugin to one of its versions. Only the team can delete it.",
    );
  }
}

/** Lists a guest's bindings, by extension point and plugin name. */
export async function listGuestBindings(
  deps: Deps,
  access: AppAccess,
  guestId: string,
  page: Page,
  text?: string,
): Promise<PageOf<GuestBinding>> {
  const { read } = deps.store;
  const { id } = await findGuest(read, access, guestId);
  return readPage(
    page,
    ({ extensionPointId, name }: GuestBinding) => cursorOfValues(extensionPointId, naturalKey(name), name),
    (range) => read.bindingsOfGuest(id, range, text),
    () => read.countBindingsOfGuest(id, text),
  );
}

interface BindingTarget {
  readonly guestId: string;
  readonly name: string;
}

/**
 * Pins a guest's binding to a version until it is unpinned. While the pinned version is yanked, the binding has no version.
 *
 * @throws DomainError `not_found`, `invalid_field` for an unknown version number, `conflict` for a version that is not published
 */
export function pinBinding(
  deps: Deps,
  access: ExtensionPointAccess,
  target: BindingTarget,
  number: number,
): Promise<GuestBinding> {
  return changeBinding(deps, access, target, 'binding.pin', async (tx, binding) => {
    const { id } = await requirePublishedVersion(tx, binding, number);
    await tx.pinVersion(binding, id);
    return { version: number, versionId: id };
  });
}

/** @throws DomainError `not_found` for a binding that is not pinned */
export async function unpinBinding(deps: Deps, access: ExtensionPointAccess, target: BindingTarget): Promise<void> {
  await changeBinding(deps, access, target, 'binding.unpin', async (tx, binding) => {
    if (binding.pinnedVersionId === null) throw notFound('pin');
    await tx.pinVersion(binding, null);
    return { version: binding.pinnedNumber, versionId: binding.pinnedVersionId };
  });
}

/**
 * Pins or unpins a binding, and recomputes it.
 *
 * @param change returns the details for the audit event
 */
function changeBinding(
  deps: Deps,
  access: ExtensionPointAccess,
  { guestId, name }: BindingTarget,
  action: 'binding.pin' | 'binding.unpin',
  change: (
    tx: Transaction,
    binding: BindingRecord,
  ) => Promise<{ readonly [D in AuditDetail<typeof action>]?: unknown }>,
): Promise<GuestBinding> {
  const extensionPointId = access.extensionPoint.id;
  const nowMs = deps.clock();
  const write = async (tx: Transaction) => {
    await renewAccess(tx, access, 'decideOnPlugins');
    const guest = await findGuest(tx, access, guestId);
    const binding = isPluginName(name) ? await tx.binding(extensionPointId, guest.id, name) : undefined;
    if (binding === undefined) throw notFound('binding');
    await requireNoPendingRebind(tx, binding);
    const details = await change(tx, binding);
    await record(
      deps,
      tx,
      access.actor,
      pluginAuditEntry(access.app.id, binding, action, { details, guests: [guest] }),
    );
    await rebind(tx, binding, nowMs, { guestIds: [binding.guestId] });
    return readGuestBinding(tx, binding, access.extensionPoint.name);
  };
  return retryAfterPendingRebind(deps, () => deps.store.write(write));
}

async function readGuestBinding(
  tx: Transaction,
  { extensionPointId, userId, guestId, name }: BindingRecord,
  extensionPointName: string,
): Promise<GuestBinding> {
  const binding = await tx.binding(extensionPointId, guestId, name);
  const plugin = await tx.plugin({ extensionPointId, userId, name });
  const user = await tx.user(userId);
  if (binding === undefined || plugin === undefined || user === undefined) throw notFound('binding');
  const { block, publisherBlock } = plugin;
  return { ...binding, extensionPointName, userName: user.name, block, publisherBlock };
}

/**
 * Finds a version that can be bound.
 *
 * @param number the `version` field of the request's body
 * @throws DomainError `invalid_field`, `conflict`
 */
async function requirePublishedVersion(tx: Transaction, key: PluginKey, number: number): Promise<VersionRecord> {
  const version = await tx.version(key, number);
  if (version === undefined) throw invalidField('/version', `the plugin has no version ${number}`);
  if (version.state !== 'published') {
    throw new DomainError(
      'conflict',
      `Version ${number} ${statePredicate(version.state)}. Only a published version can be bound.`,
    );
  }
  return version;
}
