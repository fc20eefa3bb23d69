import type { GuestId } from '@tenon/protocol';
import type { Actor, AppAccess, ExtensionPointAccess } from './access.ts';
import { recordAll } from './audit/record.ts';
import type { Context } from './context.ts';
import { type PageOf, type RelatedRows, readPage, readRelatedRows } from './paging.ts';
import { changePlugin, pluginAuditEntry } from './plugin-changes.ts';
import { findPlugin, findVersion, type PluginTarget } from './plugins.ts';
import type { AwaitingVersion, Page, Queries, Transaction, VersionGuest } from './ports.ts';
import { rebind, requireNoPendingRebind } from './rebind.ts';
import type { PluginKey, VersionRecord } from './records.ts';
import { requireTransition, type VersionAction } from './version-states.ts';
import { requireReleasable } from './withdrawals.ts';

/** A version with the guests under which it was published, and those under which it is bound now. */
export interface VersionWithGuests<V extends VersionRecord = VersionRecord> {
  readonly version: V;
  readonly guestIds: readonly GuestId[];
  readonly boundGuestIds: readonly GuestId[];
  /** Whether there are more of them than these. */
  readonly hasMoreGuests: boolean;
}

/** A plugin's versions, the newest first. */
export async function listVersions(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  page: Page,
): Promise<PageOf<VersionWithGuests>> {
  const { read } = context.store;
  const plugin = await findPlugin(read, actor, access, target);
  const found = await readPage(
    page,
    (version: VersionRecord) => String(version.number),
    (range) => read.versions(plugin, range),
  );
  return readGuestsOfPage(read, found, (version) => String(version.number), true);
}

/** @throws DomainError `not_found` */
export async function readVersion(
  context: Context,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<VersionWithGuests> {
  const { read } = context.store;
  const version = await findVersion(read, await findPlugin(read, actor, access, target), number);
  return readGuestsOfVersion(read, version);
}

/** The versions in an application that await approval, the oldest first. */
export async function listApprovals(
  context: Context,
  access: AppAccess,
  page: Page,
): Promise<PageOf<VersionWithGuests<AwaitingVersion>>> {
  const { read } = context.store;
  const found = await readPage(
    page,
    (version: AwaitingVersion) => version.id,
    (range) => read.versionsAwaitingApproval(access.app.id, range),
  );
  return readGuestsOfPage(read, found, (version) => version.id);
}

/**
 * Approves, rejects, yanks or restores a version; what is bound follows. What the team yanks are the bytes: other versions of the
 * publisher's that have them are yanked with it.
 *
 * @param reason what its publisher reads; `undefined` where the action needs none
 * @throws DomainError `not_found`, `insufficient_scope`, `forbidden`, `conflict` for a version in another state, `plugin_blocked` for
 *   bytes that are blocked under another name
 */
export function decideVersion(
  context: Context,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
  action: VersionAction,
  reason?: string,
): Promise<VersionWithGuests> {
  return changePlugin(
    context,
    access,
    target,
    async ({ tx, plugin, sides, nowMs, recordAudit }) => {
      const version = await findVersion(tx, plugin, number);
      const { state, side } = requireTransition(version, action, sides);
      await requireReleasable(tx, version, action, sides.includes('host'));
      await tx.decideVersions([version.id], {
        state,
        stateReason: reason ?? null,
        stateAtMs: nowMs,
        stateSide: side,
      });
      const told = { version: version.number, versionId: version.id, reason: reason ?? null };
      await recordAudit(`version.${action}`, { details: told });
      let pending: readonly PluginKey[] = [];
      if (action === 'yank' && side === 'host') {
        const copies = await tx.publishedCopies(plugin, version.contentAddress);
        pending = await yankCopies(context, access, tx, copies, { reason: reason ?? null, atMs: nowMs });
      }
      // A newer version that is approved ends roll backs to older ones, as one does that needs no approval.
      return { pending, selection: action === 'approve' ? { kind: 'end_before', version } : null };
    },
    async (tx, key) => readGuestsOfVersion(tx, await findVersion(tx, key, number)),
  );
}

/** Of how many plugins the bindings follow in one transaction. */
const maxCopiesRebound = 20;

/**
 * Yanks versions for the team, since their bytes were yanked or blocked as another version's; what is bound follows.
 *
 * @returns the plugins of which too much is bound: it follows in further transactions
 */
export async function yankCopies(
  context: Context,
  { actor, app }: ExtensionPointAccess,
  tx: Transaction,
  copies: readonly VersionRecord[],
  { reason, atMs }: { readonly reason: string | null; readonly atMs: number },
): Promise<readonly PluginKey[]> {
  const ids = copies.map(({ id }) => id);
  await tx.decideVersions(ids, { state: 'yanked', stateReason: reason, stateAtMs: atMs, stateSide: 'host' });
  const entries = copies.map((version) => {
    const details = { version: version.number, versionId: version.id, reason };
    return pluginAuditEntry(app.id, version, 'version.yank', { details });
  });
  await recordAll(context, tx, actor, entries);
  const plugins = new Map(copies.map((version): [string, PluginKey] => [version.name, version]));
  const pending: PluginKey[] = [];
  for (const plugin of plugins.values()) {
    await requireNoPendingRebind(tx, plugin);
    if (plugins.size > maxCopiesRebound) await tx.putPendingRebind(plugin, { after: '', selection: null });
    if (plugins.size > maxCopiesRebound || (await rebind(tx, plugin, atMs))) pending.push(plugin);
  }
  return pending;
}

type GuestQueries = Pick<Queries, 'guestsOfVersions' | 'guestsBoundTo'>;

async function readGuestsOfVersion(read: GuestQueries, version: VersionRecord): Promise<VersionWithGuests> {
  const page = await readGuestsOfPage(read, { items: [version], next: undefined }, ({ id }) => id);
  const [only] = page.items;
  if (only === undefined) throw new Error('A page never ends before its first entry.');
  return only;
}

/** @param isDescending whether the page goes from the newest version to the oldest */
async function readGuestsOfPage<V extends VersionRecord>(
  read: GuestQueries,
  page: PageOf<V>,
  cursorOf: (version: V) => string,
  isDescending?: true,
): Promise<PageOf<VersionWithGuests<V>>> {
  const rowsBy = (load: GuestQueries[keyof GuestQueries]): RelatedRows<V, VersionGuest> => ({
    cursorOf,
    keyOf: ({ id }) => id,
    keyOfRow: ({ versionId }) => versionId,
    load: (versions, limit) => {
      const ids = versions.map(({ id }) => id);
      // Of one version's guests the first ones are listed, whichever way the list goes.
      return load(ids, { limit, isDescending: isDescending === true && ids.length > 1 });
    },
    ...(isDescending && { isDescending }),
  });
  const published = await readRelatedRows(page, rowsBy(read.guestsOfVersions));
  const { items, next, rows, hasMoreRows } = await readRelatedRows(published, rowsBy(read.guestsBoundTo));
  const idsOf = (of: ReadonlyMap<string, readonly VersionGuest[]>, { id }: V) =>
    (of.get(id) ?? []).map(({ guestId }) => guestId).sort();
  const withTheirs = (version: V): VersionWithGuests<V> => ({
    version,
    guestIds: idsOf(published.rows, version),
    boundGuestIds: idsOf(rows, version),
    hasMoreGuests: published.hasMoreRows || hasMoreRows,
  });
  return { items: items.map(withTheirs), next };
}
