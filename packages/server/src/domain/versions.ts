import { type GuestId, pluginId } from '@tenon/protocol';
import type { Actor, AppAccess, ExtensionPointAccess } from './access.ts';
import type { Context } from './context.ts';
import { type PageOf, paged } from './paging.ts';
import { changePlugin } from './plugin-changes.ts';
import { findPlugin, findVersion, type PluginTarget } from './plugins.ts';
import type { AwaitingVersion, Page, Queries, Transaction } from './ports.ts';
import type { PluginKey, VersionRecord } from './records.ts';
import { demandTransition, type VersionAction } from './version-states.ts';

/** A version with the guests under which it was published, and those under which it is bound now. */
export interface VersionWithGuests<V extends VersionRecord = VersionRecord> {
  readonly version: V;
  readonly guestIds: readonly GuestId[];
  readonly boundGuestIds: readonly GuestId[];
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
  const found = await paged(
    page,
    (version: VersionRecord) => String(version.number),
    (stretch) => read.versions(plugin, stretch),
  );
  return { items: await withGuests(read, found.items), next: found.next };
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
  return withGuestsOf(read, version);
}

/** The versions in an application that await approval, the oldest first. */
export async function listApprovals(
  context: Context,
  access: AppAccess,
  page: Page,
): Promise<PageOf<VersionWithGuests<AwaitingVersion>>> {
  const { read } = context.store;
  const found = await paged(
    page,
    (version: AwaitingVersion) => version.id,
    (stretch) => read.versionsAwaitingApproval(access.app.id, stretch),
  );
  return { items: await withGuests(read, found.items), next: found.next };
}

/**
 * Approves, rejects, yanks or restores a version; what is bound follows.
 *
 * @param reason what its publisher reads; `undefined` where the action needs none
 * @throws DomainError `not_found`, `insufficient_scope`, `forbidden`, or `conflict` for a version in another state
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
    async ({ tx, plugin, sides, nowMs, tell }) => {
      const version = await findVersion(tx, plugin, number);
      const { state, side } = demandTransition(version, action, sides);
      await tx.decideVersion(version.id, {
        state,
        stateReason: reason ?? null,
        stateAtMs: nowMs,
        stateSide: side,
      });
      await endRollBacks(tx, version, action);
      const told = { version: version.number, versionId: version.id, reason: reason ?? null };
      await tell(`version.${action}`, { details: told });
    },
    async (tx, key) => withGuestsOf(tx, await findVersion(tx, key, number)),
  );
}

/**
 * A roll back to a version ends when that version is yanked; and when a newer one is approved, as it does when a newer one is
 * published where no approval is needed.
 */
async function endRollBacks(tx: Transaction, version: VersionRecord, action: VersionAction): Promise<void> {
  if (action !== 'yank' && action !== 'approve') return;
  const guests = await tx.guestsOfVersions([version.id]);
  for (const claim of await tx.bindingsOfPlugins([version])) {
    if (claim.selectedNumber === null) continue;
    const isYanked = action === 'yank' && claim.selectedVersionId === version.id;
    const isOverdue =
      action === 'approve' &&
      version.number > claim.selectedNumber &&
      guests.some(({ guestId }) => guestId === claim.guestId);
    if (isYanked || isOverdue) await tx.selectVersion(claim, null);
  }
}

type GuestQueries = Pick<Queries, 'guestsOfVersions' | 'bindingsOfPlugins'>;

async function withGuestsOf(read: GuestQueries, version: VersionRecord): Promise<VersionWithGuests> {
  const [only] = await withGuests(read, [version]);
  return only ?? { version, guestIds: [], boundGuestIds: [] };
}

async function withGuests<V extends VersionRecord>(
  read: GuestQueries,
  versions: readonly V[],
): Promise<VersionWithGuests<V>[]> {
  const published = Map.groupBy(
    await read.guestsOfVersions(versions.map(({ id }) => id)),
    ({ versionId }) => versionId,
  );
  const plugins = new Map<string, PluginKey>(
    versions.map((version) => [pluginId(version.extensionPointId, version.userId, version.name), version]),
  );
  const bound = Map.groupBy(await read.bindingsOfPlugins([...plugins.values()]), ({ versionId }) => versionId);
  const idsOf = (entries: readonly { readonly guestId: GuestId }[] | undefined) =>
    (entries ?? []).map(({ guestId }) => guestId).sort();
  return versions.map((version) => ({
    version,
    guestIds: idsOf(published.get(version.id)),
    boundGuestIds: idsOf(bound.get(version.id)),
  }));
}
