import type * as wire from '@tenon/protocol';
import { pluginId } from '@tenon/protocol';
import { type AppAccess, isMember } from '../auth/access.ts';
import type { BindingRecord, ExtensionPointRecord, VersionRecord } from '../db/records.ts';
import type { AppPlugin, GuestBinding, PluginBinding } from '../db/store.ts';
import { time, timeOrNull } from '../http/wire-time.ts';
import type { NamedBlock } from './blocked-publishers.ts';
import { ociNamesOf } from './oci-version-names.ts';
import { createParsedSchemas } from './parsed-schemas.ts';
import { describePluginStatus } from './plugin-status.ts';
import type { PluginWithBindings } from './plugins.ts';
import { toRollOutSummary } from './roll-outs/roll-out-wire.ts';
import type { Trial, TriedVersion } from './schema-trial.ts';
import type { SimilarPlugin } from './similar-name-queries.ts';
import type { AwaitingApproval, VersionWithGuests } from './versions.ts';
import type { NamedWithdrawal } from './withdrawals.ts';

const schemaOf = createParsedSchemas();

/** @param isForMember whether the caller may see rings */
export function toExtensionPoint(extensionPoint: ExtensionPointRecord, isForMember: boolean): wire.ExtensionPoint {
  const { id, appId, name, schemaJson, simulationsRevision: _, createdAtMs, updatedAtMs, ...others } = extensionPoint;
  const [schema, rollOut] = [schemaOf(schemaJson), isForMember ? extensionPoint.rollOut : null];
  const imported = isForMember ? Object.entries(extensionPoint.imports) : [];
  const imports = imported.map(([extensionPointId, atMs]) => ({ extensionPointId, changedAt: time(atMs) }));
  const times = { createdAt: time(createdAtMs), updatedAt: time(updatedAtMs) };
  return { id, appId, name, schema, ...others, rollOut, imports, ...times };
}

export function toSchemaTrial({
  schemaJson,
  warnings,
  limits,
  checked,
  breakingCount,
  breaking,
  unreadable,
  hasMoreUnreadable,
}: Trial): wire.SchemaTrial {
  return {
    schema: schemaOf(schemaJson),
    warnings: [...warnings],
    limits,
    checked,
    breaking: breakingCount,
    objects: breaking.map(({ mismatches, isBrokenAlready, ...tried }) => ({
      ...toTried(tried),
      mismatches: [...mismatches],
      isBrokenAlready,
    })),
    unreadable: unreadable.map(({ detail, ...tried }) => ({ ...toTried(tried), detail })),
    hasMoreUnreadable,
  };
}

function toTried({ version, guestIds, hasMoreGuests }: TriedVersion) {
  const { userName, name, number } = version;
  const id = pluginId(version.extensionPointId, version.userId, name);
  return { pluginId: id, userName, name, version: number, guestIds: [...guestIds], hasMoreGuests };
}

/** Extension points in lists can have only the names of their exports. */
export function withExportNames(extensionPoint: wire.ExtensionPoint): wire.ExtensionPoint {
  const names = Object.keys(extensionPoint.schema.exports);
  return { ...extensionPoint, schema: { exports: Object.fromEntries(names.map((name) => [name, {}])) } };
}

/** @param maxGuests the most bindings in the result; all by default */
export function toPlugin(found: PluginWithBindings, access: AppAccess, maxGuests = found.bindings.length): wire.Plugin {
  const { extensionPointId, userId, name, description, homepage, newest, createdAtMs } = found.plugin;
  const { state, reason, detail } = describePluginStatus(found);
  const boundFirst = found.bindings.toSorted((a, b) => Number(a.versionId === null) - Number(b.versionId === null));
  const bindings = boundFirst
    .slice(0, maxGuests)
    .sort((a, b) => (a.guestId < b.guestId ? -1 : 1))
    .map((binding) => toBinding(binding, access));
  return {
    id: pluginId(extensionPointId, userId, name),
    extensionPointId,
    userId,
    userName: found.publisherName,
    name,
    description,
    homepage,
    contentAddress: newest.contentAddress,
    size: newest.size,
    version: toVersionSummary(newest),
    status: {
      state,
      reason,
      isPublisherBlocked: found.plugin.publisherBlock !== null,
      detail,
      bindings,
      ...((found.plugin.publisherBlock ?? found.plugin.block)?.isConfirmed === false && { isUnconfirmed: true }),
    },
    ...(isMember(access) && found.similar !== undefined && { similarPlugins: found.similar.map(toSimilarPlugin) }),
    guestIds: bindings.filter(({ version }) => version !== null).map(({ guestId }) => guestId),
    hasMoreGuests: found.hasMoreBindings || found.bindings.length > maxGuests,
    createdAt: time(createdAtMs),
    updatedAt: time(newest.createdAtMs),
  };
}

function toSimilarPlugin({ extensionPointId, otherUserId, otherName, otherUserName }: SimilarPlugin) {
  const id = pluginId(extensionPointId, otherUserId, otherName);
  return { pluginId: id, name: otherName, user: { id: otherUserId, name: otherUserName } };
}

/** The most active versions, and the most guests, that the summary of a plugin names. */
const [namedVersions, namedGuests] = [5, 3];

export function toPluginSummary(found: PluginWithBindings<AppPlugin>, access: AppAccess): wire.PluginSummary {
  const { extensionPointId, extensionPointName, userId, name, description, newest, createdAtMs } = found.plugin;
  const { state, reason } = describePluginStatus(found);
  const bound = found.bindings.filter(({ versionNumber }) => versionNumber !== null);
  const versions = new Set(bound.map(({ versionNumber }) => versionNumber ?? 0));
  return {
    id: pluginId(extensionPointId, userId, name),
    extensionPoint: { id: extensionPointId, name: extensionPointName },
    user: { id: userId, name: found.publisherName },
    name,
    description,
    contentAddress: newest.contentAddress,
    size: newest.size,
    version: toVersionSummary(newest),
    state,
    reason,
    activeVersions: [...versions].sort((a, b) => b - a).slice(0, namedVersions),
    guests: bound
      .slice(0, namedGuests)
      .map(({ guestId: id, guestKey }) => ({ id, ...(isMember(access) && { guestKey }) })),
    guestCount: bound.length,
    hasMoreGuests: found.hasMoreBindings,
    createdAt: time(createdAtMs),
    updatedAt: time(newest.createdAtMs),
  };
}

/** Only members see the guest key. */
function toBinding(binding: PluginBinding, access: AppAccess) {
  const { guestId, guestKey, versionNumber, pinnedNumber, selectedNumber } = binding;
  return {
    guestId,
    ...(isMember(access) && { guestKey }),
    version: versionNumber,
    isPinned: pinnedNumber !== null,
    pinnedTo: pinnedNumber,
    rolledBackTo: selectedNumber,
  };
}

export function toVersionSummary(version: VersionRecord): wire.VersionSummary {
  const { id, number, semver, note, state, stateReason, verdict, provenance, createdAtMs, releaseAtMs } = version;
  const times = { createdAt: time(createdAtMs), releaseAt: timeOrNull(releaseAtMs) };
  return { id, number, semver, note, state, stateReason, verdict, provenance, ...times };
}

export function toVersion(
  found: VersionWithGuests,
  access: AppAccess,
  baseUrl: string,
  maxGuests = Number.POSITIVE_INFINITY,
): wire.Version {
  const { version, guestIds, boundGuestIds } = found;
  return {
    ...toVersionSummary(version),
    contentAddress: version.contentAddress,
    size: version.size,
    stateChangedAt: time(version.stateAtMs),
    decidedBy: version.stateRole,
    guestIds: guestIds.slice(0, maxGuests),
    boundGuestIds: boundGuestIds.slice(0, maxGuests),
    hasMoreGuests: found.hasMoreGuests || Math.max(guestIds.length, boundGuestIds.length) > maxGuests,
    rollOut: found.rollOut === undefined ? null : toRollOutSummary(found.rollOut),
    oci: ociNamesOf(version, access, baseUrl),
  };
}

export function toApproval(
  awaiting: AwaitingApproval,
  access: AppAccess,
  baseUrl: string,
  maxGuests?: number,
): wire.Approval {
  const { extensionPointId, extensionPointName, userId, userName, name } = awaiting.version;
  return {
    pluginId: pluginId(extensionPointId, userId, name),
    extensionPoint: { id: extensionPointId, name: extensionPointName },
    user: { id: userId, name: userName },
    name,
    guests: [...awaiting.guests],
    similarPlugins: awaiting.similar.map(toSimilarPlugin),
    version: toVersion(awaiting, access, baseUrl, maxGuests),
  };
}

export function toWithdrawal(withdrawal: NamedWithdrawal): wire.Withdrawal {
  const { contentAddress, userId, userName, name, state, reason, atMs } = withdrawal;
  const user = { id: userId, name: userName };
  return { contentAddress, user, pluginName: name, state, reason, withdrawnAt: time(atMs) };
}

export function toBlockedPublisher({ userId, userName, block }: NamedBlock): wire.BlockedPublisher {
  return { user: { id: userId, name: userName }, reason: block.reason, blockedAt: time(block.atMs) };
}

export function toGuestBinding(binding: GuestBinding): wire.GuestBinding {
  const { extensionPointId, extensionPointName, userId, userName, name, publisherBlock } = binding;
  const block = publisherBlock ?? binding.block;
  return {
    pluginId: pluginId(extensionPointId, userId, name),
    extensionPoint: { id: extensionPointId, name: extensionPointName },
    name,
    user: { id: userId, name: userName },
    contentAddress: binding.contentAddress,
    version: binding.versionNumber,
    pinnedVersion: binding.pinnedNumber,
    rolledBackTo: binding.selectedNumber,
    updatedAt: timeOfMove(binding),
    isBlocked: block !== null,
    blockReason: block?.reason ?? null,
  };
}

export function toPluginBinding(binding: PluginBinding, access: AppAccess): wire.PluginBinding {
  return { ...toBinding(binding, access), updatedAt: timeOfMove(binding) };
}

/** When a binding last changed; `null` if no version was ever bound. */
function timeOfMove({ updatedAtMs }: BindingRecord): string | null {
  return updatedAtMs === 0 ? null : time(updatedAtMs);
}
