import {
  type Account,
  type ApiKeyInfo,
  type App,
  type Approval,
  type ExtensionPoint,
  type Guest,
  type Invitation,
  type Member,
  type MemberInvitation,
  type OneTimeLinkInfo,
  type Plugin,
  pluginId,
  type QuotaUse,
  type SchemaTrial,
  type Session,
  type TokenInfo,
  type Version,
  type VersionSummary,
  type GuestBinding as WireGuestBinding,
  type Withdrawal,
} from '@tenon/protocol';
import type { Actor, AppAccess } from '../domain/access.ts';
import type { Account as AccountWithEmail } from '../domain/accounts.ts';
import type { GuestWithUsers } from '../domain/guests.ts';
import { invitationStatus } from '../domain/invitations.ts';
import type { NamedMember } from '../domain/members.ts';
import type { OneTimeLinkSummary } from '../domain/one-time-links.ts';
import { describePluginStatus } from '../domain/plugin-status.ts';
import type { PluginWithBindings } from '../domain/plugins.ts';
import type { AwaitingVersion, GuestBinding, GuestInvitation, TeamInvitation } from '../domain/ports.ts';
import type { QuotaUsage } from '../domain/quotas.ts';
import type {
  ApiKeyRecord,
  ExtensionPointRecord,
  InvitationRecord,
  SessionRecord,
  TokenRecord,
  VersionRecord,
} from '../domain/records.ts';
import type { Trial, TriedVersion } from '../domain/schema-trial.ts';
import type { VersionWithGuests } from '../domain/versions.ts';
import type { NamedWithdrawal } from '../domain/withdrawals.ts';
import { createParsedSchemas } from './parsed-schemas.ts';

const schemaOf = createParsedSchemas();

/** What the store keeps, as it goes over the wire. */

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : time(ms);
}

export function toApp({ app, role, guests, hasMoreGuests }: AppAccess): App {
  return {
    id: app.id,
    name: app.name,
    role,
    guestIds: guests.map((guest) => guest.id),
    hasMoreGuests,
    createdAt: time(app.createdAtMs),
    updatedAt: time(app.updatedAtMs),
  };
}

export function toQuotaUse(taken: readonly QuotaUsage[]): QuotaUse {
  return {
    quotas: taken.map(({ name, what, isBytes = false, limit, used }) => ({ name, what, isBytes, limit, used })),
  };
}

export function toMember(member: NamedMember): Member {
  const { userId, userName, role, guests, hasMoreGuests, createdAtMs } = member;
  const guestIds = guests.map(({ id }) => id);
  return { userId, name: userName, role, guestIds, hasMoreGuests, createdAt: time(createdAtMs) };
}

export function toExtensionPoint(extensionPoint: ExtensionPointRecord): ExtensionPoint {
  const { id, appId, name, schemaJson, requiresApproval, limits, createdAtMs, updatedAtMs } = extensionPoint;
  return {
    id,
    appId,
    name,
    schema: schemaOf(schemaJson),
    requiresApproval,
    limits,
    createdAt: time(createdAtMs),
    updatedAt: time(updatedAtMs),
  };
}

export function toSchemaTrial({
  schemaJson,
  limits,
  checked,
  breakingCount,
  breaking,
  unreadable,
  hasMoreUnreadable,
}: Trial): SchemaTrial {
  return {
    schema: schemaOf(schemaJson),
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

export function toGuest({ guest, users }: GuestWithUsers): Guest {
  return {
    id: guest.id,
    guestKey: guest.guestKey,
    users: users.map(({ userId, userName, acceptedAtMs }) => ({
      userId,
      name: userName,
      acceptedAt: time(acceptedAtMs),
    })),
    createdAt: time(guest.createdAtMs),
  };
}

export function toInvitation(invitation: GuestInvitation, nowMs: number): Invitation {
  const { id, guestId, guestKey } = invitation;
  return { id, guestId, guestKey, ...toInvitationFields(invitation, nowMs) };
}

export function toMemberInvitation(invitation: TeamInvitation, nowMs: number): MemberInvitation {
  const { id, role, createdBy, inviterName } = invitation;
  const invitedBy = { userId: createdBy, name: inviterName };
  return { id, role, invitedBy, ...toInvitationFields(invitation, nowMs) };
}

function toInvitationFields(invitation: InvitationRecord, nowMs: number) {
  const { email, name, createdAtMs, expiresAtMs, settledAtMs } = invitation;
  return {
    status: invitationStatus(invitation, nowMs),
    email,
    name,
    createdAt: time(createdAtMs),
    expiresAt: time(expiresAtMs),
    settledAt: timeOrNull(settledAtMs),
  };
}

/** `updatedAt` is the newest version's: a binding's own time is in A2's answer. */
export function toPlugin(found: PluginWithBindings): Plugin {
  const { extensionPointId, userId, name, newest, createdAtMs } = found.plugin;
  const { state, reason, detail, bindings } = describePluginStatus(found);
  return {
    id: pluginId(extensionPointId, userId, name),
    extensionPointId,
    userId,
    name,
    contentAddress: newest.contentAddress,
    size: newest.size,
    version: toVersionSummary(newest),
    status: { state, reason, detail, bindings: [...bindings] },
    guestIds: bindings.filter(({ version }) => version !== null).map(({ guestId }) => guestId),
    hasMoreGuests: found.hasMoreBindings,
    createdAt: time(createdAtMs),
    updatedAt: time(newest.createdAtMs),
  };
}

function toVersionSummary(version: VersionRecord): VersionSummary {
  const { id, number, semver, note, state, stateReason, createdAtMs } = version;
  return { id, number, semver, note, state, stateReason, createdAt: time(createdAtMs) };
}

export function toVersion({ version, guestIds, boundGuestIds, hasMoreGuests }: VersionWithGuests): Version {
  return {
    ...toVersionSummary(version),
    contentAddress: version.contentAddress,
    size: version.size,
    stateChangedAt: time(version.stateAtMs),
    decidedBy: version.stateSide,
    guestIds: [...guestIds],
    boundGuestIds: [...boundGuestIds],
    hasMoreGuests,
  };
}

export function toApproval(awaiting: VersionWithGuests<AwaitingVersion>): Approval {
  const { extensionPointId, extensionPointName, userId, userName, name } = awaiting.version;
  return {
    pluginId: pluginId(extensionPointId, userId, name),
    extensionPoint: { id: extensionPointId, name: extensionPointName },
    user: { id: userId, name: userName },
    name,
    version: toVersion(awaiting),
  };
}

export function toWithdrawal(of: NamedWithdrawal): Withdrawal {
  const { contentAddress, userId, userName, name, state, reason, atMs } = of;
  const user = { id: userId, name: userName };
  return { contentAddress, user, pluginName: name, state, reason, withdrawnAt: time(atMs) };
}

export function toGuestBinding(binding: GuestBinding): WireGuestBinding {
  const { extensionPointId, userId, userName, name, block } = binding;
  return {
    pluginId: pluginId(extensionPointId, userId, name),
    name,
    user: { id: userId, name: userName },
    version: binding.versionNumber,
    contentAddress: binding.contentAddress,
    pinnedVersion: binding.pinnedNumber,
    rolledBackTo: binding.selectedNumber,
    isBlocked: block !== null,
    blockReason: block?.reason ?? null,
    updatedAt: binding.updatedAtMs === 0 ? null : time(binding.updatedAtMs),
  };
}

export function toTokenInfo(token: TokenRecord): TokenInfo {
  const { id, name, scopes, appId, createdAtMs, expiresAtMs, lastUsedAtMs } = token;
  return {
    id,
    name,
    scopes: [...scopes],
    appId,
    createdAt: time(createdAtMs),
    expiresAt: time(expiresAtMs),
    lastUsedAt: timeOrNull(lastUsedAtMs),
  };
}

export function toApiKeyInfo({ id, name, createdAtMs, expiresAtMs, lastUsedAtMs }: ApiKeyRecord): ApiKeyInfo {
  const times = { createdAt: time(createdAtMs), expiresAt: time(expiresAtMs), lastUsedAt: timeOrNull(lastUsedAtMs) };
  return { id, name, ...times };
}

export function toAccount({ user, isOperator, mayCreateApps }: AccountWithEmail): Account {
  return { id: user.id, name: user.name, email: user.email, isOperator, mayCreateApps };
}

export function toSession(session: SessionRecord, actor: Actor): Session {
  const { id, userAgent, address, createdAtMs, lastUsedAtMs, expiresAtMs } = session;
  return {
    id,
    userAgent,
    address,
    isCurrent: id === actor.sessionId,
    createdAt: time(createdAtMs),
    lastUsedAt: time(lastUsedAtMs),
    expiresAt: time(expiresAtMs),
  };
}

export function toOneTimeLinkInfo({ purpose, email, expiresAtMs }: OneTimeLinkSummary): OneTimeLinkInfo {
  return { purpose, email, expiresAt: time(expiresAtMs) };
}
