import { type GuestId, pluginId, type RollOutPlan } from '@tenon/protocol';
import { recordAll } from '../audit/record.ts';
import { type Actor, type AppAccess, type ExtensionPointAccess, requireHostRole } from '../auth/access.ts';
import { requireStepUp } from '../auth/confirmation.ts';
import { type PageOf, type RelatedRows, readPage, readRelatedRows } from '../db/paging.ts';
import type { PluginKey, PluginRole, VersionRecord } from '../db/records.ts';
import type { RollOutRecord } from '../db/roll-out-records.ts';
import type { AwaitingVersion, Page, Queries, Transaction, VersionGuest } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { changePlugin, type PluginChange, pluginAuditEntry, queueWithdrawalNotice } from './plugin-changes.ts';
import { findPlugin, findVersion, type PluginTarget } from './plugins.ts';
import { rebind, requireNoPendingRebind } from './rebind.ts';
import { requireValidPlan } from './roll-outs/plans.ts';
import { abortRollOuts, planOfRelease, planRollOut, startRollOut } from './roll-outs/start.ts';
import type { SimilarPlugin } from './similar-name-queries.ts';
import { requireTransition, type VersionAction } from './version-states.ts';
import { requireReleasable } from './withdrawals.ts';

export interface VersionWithGuests<V extends VersionRecord = VersionRecord> {
  readonly version: V;
  /** Its roll-out; `undefined` for a version without one. */
  readonly rollOut: RollOutRecord | undefined;
  /** The guests under which the version was published. */
  readonly guestIds: readonly GuestId[];
  /** The guests under which the version is bound. */
  readonly boundGuestIds: readonly GuestId[];
  /** Whether one of the two lists is cut off. */
  readonly hasMoreGuests: boolean;
}

/** The maximum number of guests that an approval names. */
const maxNamedGuests = 3;

interface NamedGuest {
  readonly id: GuestId;
  readonly guestKey: string;
}

/** A version that awaits approval, for the application's members: guests must not see guest keys. */
export interface AwaitingApproval extends VersionWithGuests<AwaitingVersion> {
  readonly guests: readonly NamedGuest[];
  /** The plugins of other publishers with names similar to the plugin's. */
  readonly similar: readonly SimilarPlugin[];
}

/** Lists a plugin's versions, the newest first. */
export async function listVersions(
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  page: Page,
): Promise<PageOf<VersionWithGuests>> {
  const { read } = deps.store;
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
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<VersionWithGuests> {
  const { read } = deps.store;
  const version = await findVersion(read, await findPlugin(read, actor, access, target), number);
  return readGuestsOfVersion(read, version);
}

/** Lists the versions in an application that await approval, the oldest first. */
export async function listApprovals(
  deps: Deps,
  access: AppAccess,
  page: Page,
  text?: string,
): Promise<PageOf<AwaitingApproval>> {
  const { read } = deps.store;
  const { id } = access.app;
  const found = await readPage(
    page,
    (version: AwaitingVersion) => version.id,
    (range) => read.versionsAwaitingApproval(id, range, text),
    () => read.countVersionsAwaitingApproval(id, text),
  );
  const awaiting = await readGuestsOfPage(read, found, (version) => version.id);
  const first = awaiting.items.map(({ guestIds }) => guestIds.slice(0, maxNamedGuests));
  const keys = await read.guestKeys(first.flat());
  const named = (id: GuestId): NamedGuest[] => {
    const guestKey = keys.get(id);
    return guestKey === undefined ? [] : [{ id, guestKey }];
  };
  const similar = Map.groupBy(await read.similarPlugins(awaiting.items.map(({ version }) => version)), keyText);
  return {
    ...awaiting,
    items: awaiting.items.map((item, at) => ({
      ...item,
      guests: (first[at] ?? []).flatMap(named),
      similar: similar.get(keyText(item.version)) ?? [],
    })),
  };
}

const keyText = ({ extensionPointId, userId, name }: PluginKey): string => pluginId(extensionPointId, userId, name);

/**
 * Approves, rejects, releases, yanks or restores a version, and recomputes the bindings. If the team yanks a version, it also yanks
 * the publisher's other versions with the same bytes. If it rejects one, it also rejects those that wait for their minimum age.
 *
 * @param reason shown to the publisher; `undefined` if the action needs none
 * @param chosen how a version that the team approves, releases or restores reaches the guests. Default: {@link planOfRelease}
 * @throws DomainError `not_found`, `insufficient_scope`, `forbidden`, `conflict` if the action is invalid in the version's state,
 *   `invalid_field` for an invalid plan, `plugin_blocked` if the bytes are blocked under another name, `step_up_required` to approve, release or restore
 */
export function decideVersion(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
  action: VersionAction,
  reason?: string,
  chosen?: RollOutPlan | null,
): Promise<VersionWithGuests> {
  return changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, nowMs, recordAudit }) => {
      if (releases(action)) await requireStepUp(deps, access.actor.sessionId, tx);
      const version = await findVersion(tx, plugin, number);
      const { state, side } = requireTransition(version, action, roles, nowMs);
      if (chosen !== undefined) {
        requireHostRole(roles);
        requireValidPlan(chosen);
      }
      await requireReleasable(tx, version, action, roles.includes('host'));
      await tx.decideVersions([version.id], {
        state,
        stateReason: reason ?? null,
        stateAtMs: nowMs,
        stateRole: side,
      });
      const details = { version: version.number, versionId: version.id, reason: reason ?? null };
      await recordAudit(`version.${action}`, { details });
      if (action === 'yank' || action === 'reject') {
        const withdrawal = { action, reason: reason ?? null, atMs: nowMs } as const;
        return { pending: await endVersion(deps, access, tx, version, side, withdrawal) };
      }
      // A publisher's own trail must not show rings.
      const actor = roles.includes('host') ? access.actor : 'system';
      const release = { actor, appId: access.app.id, version } as const;
      if (state !== 'published') {
        await planRollOut(deps, tx, release, chosen);
        return undefined;
      }
      const plan = await planOfRelease(tx, version, access.extensionPoint, chosen);
      // The publisher may yank and restore a version, but must not resume what the team paused, or the reports halted.
      const isAborted = !roles.includes('host') && (await tx.rollOut(version.id))?.state === 'aborted';
      const pauseReason = isAborted ? 'The publisher has restored the version.' : undefined;
      const isStaged = await startRollOut(deps, tx, { ...release, plan, pauseReason });
      if (action === 'restore') return undefined;
      // An approved or released version ends roll backs to older versions, as a publish without approval does.
      return { selection: { kind: isStaged ? 'date_before' : 'end_before', version } };
    },
    async (tx, key) => readGuestsOfVersion(tx, await findVersion(tx, key, number)),
  );
}

/**
 * Does what follows from a yank or a rejection of a version.
 *
 * @returns the plugins with pending rebinds, which the caller finishes in further transactions
 */
async function endVersion(
  deps: Deps,
  access: ExtensionPointAccess,
  tx: Transaction,
  version: VersionRecord,
  side: PluginRole,
  withdrawal: CopyWithdrawal,
): Promise<readonly PluginKey[]> {
  const { action, reason } = withdrawal;
  await abortRollOuts(deps, tx, access.actor, [version], reason);
  if (side !== 'host') return [];
  const found = await tx.publishedCopies(version, version.contentAddress);
  const copies = action === 'yank' ? found : found.filter((copy) => copy.state === 'cooling_down');
  const pending = await withdrawCopies(deps, access, tx, copies, withdrawal);
  if (action === 'yank') {
    const yanked = { what: 'yanked', version: version.number, reason: reason ?? '' } as const;
    await queueWithdrawalNotice(deps, tx, access, version, yanked);
  }
  return pending;
}

/** Yanks a published version in the name of the team, as a part of another change. @returns the plugins with pending rebinds */
export async function yankVersion(
  deps: Deps,
  access: ExtensionPointAccess,
  { tx, nowMs, recordAudit }: Pick<PluginChange, 'tx' | 'nowMs' | 'recordAudit'>,
  version: VersionRecord,
  reason: string,
): Promise<{ readonly pending: readonly PluginKey[] }> {
  const { state, side } = requireTransition(version, 'yank', ['host'], nowMs);
  await tx.decideVersions([version.id], { state, stateReason: reason, stateAtMs: nowMs, stateRole: side });
  await recordAudit('version.yank', { details: { version: version.number, versionId: version.id, reason } });
  return { pending: await endVersion(deps, access, tx, version, side, { action: 'yank', reason, atMs: nowMs }) };
}

/** Whether an action makes bytes available to hosts. */
function releases(action: VersionAction): boolean {
  return action === 'approve' || action === 'release' || action === 'restore';
}

/** The maximum number of plugins whose bindings are recomputed in the same transaction. */
const maxCopiesRebound = 20;

interface CopyWithdrawal {
  readonly action: 'yank' | 'reject';
  readonly reason: string | null;
  readonly atMs: number;
}

/**
 * Yanks or rejects versions in the name of the team, because it yanked, rejected or blocked another version with the same bytes.
 * Recomputes the bindings of their plugins.
 *
 * @returns the plugins with pending rebinds, which the caller finishes in further transactions
 */
export async function withdrawCopies(
  deps: Deps,
  { actor, app }: ExtensionPointAccess,
  tx: Transaction,
  copies: readonly VersionRecord[],
  { action, reason, atMs }: CopyWithdrawal,
): Promise<readonly PluginKey[]> {
  const ids = copies.map(({ id }) => id);
  const state = action === 'yank' ? 'yanked' : 'rejected';
  await tx.decideVersions(ids, { state, stateReason: reason, stateAtMs: atMs, stateRole: 'host' });
  const entries = copies.map((version) => {
    const details = { version: version.number, versionId: version.id, reason };
    return pluginAuditEntry(app.id, version, `version.${action}`, { details });
  });
  await recordAll(deps, tx, actor, entries);
  await abortRollOuts(deps, tx, actor, copies, reason);
  const plugins = new Map(copies.map((version): [string, PluginKey] => [version.name, version]));
  const pending: PluginKey[] = [];
  for (const plugin of plugins.values()) {
    await requireNoPendingRebind(tx, plugin);
    if (plugins.size > maxCopiesRebound) await tx.putPendingRebind(plugin, { after: '', selection: null });
    if (plugins.size > maxCopiesRebound || (await rebind(tx, plugin, atMs))) pending.push(plugin);
  }
  return pending;
}

type GuestQueries = Pick<Queries, 'guestsOfVersions' | 'guestsBoundTo' | 'rollOutsOfVersions'>;

async function readGuestsOfVersion(read: GuestQueries, version: VersionRecord): Promise<VersionWithGuests> {
  const page = await readGuestsOfPage(read, { items: [version], next: undefined }, ({ id }) => id);
  const [only] = page.items;
  if (only === undefined) throw new Error('A page never ends before its first entry.');
  return only;
}

/**
 * Reads the guests of a page's versions.
 *
 * @param isDescending whether the page lists the newest version first
 */
async function readGuestsOfPage<V extends VersionRecord>(
  read: GuestQueries,
  page: PageOf<V>,
  cursorOf: (version: V) => string,
  isDescending?: true,
): Promise<PageOf<VersionWithGuests<V>>> {
  const rowsBy = (query: 'guestsOfVersions' | 'guestsBoundTo'): RelatedRows<V, VersionGuest> => ({
    cursorOf,
    keyOf: ({ id }) => id,
    keyOfRow: ({ versionId }) => versionId,
    load: (versions, limit) => {
      const ids = versions.map(({ id }) => id);
      // For a single version, the first guests are read even if the list is descending.
      return read[query](ids, { limit, isDescending: isDescending === true && ids.length > 1 });
    },
    ...(isDescending && { isDescending }),
  });
  const published = await readRelatedRows(page, rowsBy('guestsOfVersions'));
  const { items, rows, hasMoreRows, ...others } = await readRelatedRows(published, rowsBy('guestsBoundTo'));
  const found = items.length === 0 ? [] : await read.rollOutsOfVersions(items.map(({ id }) => id));
  const rollOuts = new Map(found.map((rollOut) => [rollOut.versionId, rollOut]));
  const guestIdsOf = ({ id }: V, guests: ReadonlyMap<string, readonly VersionGuest[]>) =>
    (guests.get(id) ?? []).map(({ guestId }) => guestId).sort();
  const withGuests = (version: V): VersionWithGuests<V> => ({
    version,
    rollOut: rollOuts.get(version.id),
    guestIds: guestIdsOf(version, published.rows),
    boundGuestIds: guestIdsOf(version, rows),
    hasMoreGuests: published.hasMoreRows || hasMoreRows,
  });
  return { ...others, items: items.map(withGuests) };
}
