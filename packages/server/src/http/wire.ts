import {
  type Account,
  type ApiKeyInfo,
  type App,
  type ExtensionPoint,
  type Guest,
  type Invitation,
  type Member,
  type OneTimeLinkInfo,
  type Plugin,
  pluginId,
  type Session,
  type TokenInfo,
} from '@tenon/protocol';
import type { Actor, AppAccess } from '../domain/access.ts';
import type { Account as AccountWithEmail } from '../domain/accounts.ts';
import type { NamedMember } from '../domain/apps.ts';
import type { GuestWithUsers, InvitationWithKey } from '../domain/guests.ts';
import { invitationStatus } from '../domain/invitations.ts';
import type { OneTimeLinkSummary } from '../domain/one-time-links.ts';
import type { PluginWithBindings } from '../domain/plugins.ts';
import type { ApiKeyRecord, ExtensionPointRecord, SessionRecord, TokenRecord } from '../domain/records.ts';

/** What the store keeps, as it goes over the wire. */

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : time(ms);
}

export function toApp({ app, role, guests }: AppAccess): App {
  return {
    id: app.id,
    name: app.name,
    role,
    guestIds: guests.map((guest) => guest.id),
    createdAt: time(app.createdAtMs),
    updatedAt: time(app.updatedAtMs),
  };
}

export function toMember(member: NamedMember): Member {
  const { userId, userName, role, createdAtMs } = member;
  return { userId, name: userName, role, createdAt: time(createdAtMs) };
}

export function toExtensionPoint(extensionPoint: ExtensionPointRecord): ExtensionPoint {
  const { id, appId, name, schemaJson, createdAtMs, updatedAtMs } = extensionPoint;
  const schema = JSON.parse(schemaJson) as ExtensionPoint['schema'];
  return { id, appId, name, schema, createdAt: time(createdAtMs), updatedAt: time(updatedAtMs) };
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

export function toInvitation(invitation: InvitationWithKey, nowMs: number): Invitation {
  const { id, guestId, guestKey, email, name, createdAtMs, expiresAtMs, settledAtMs } = invitation;
  return {
    id,
    guestId,
    guestKey,
    status: invitationStatus(invitation, nowMs),
    email,
    name,
    createdAt: time(createdAtMs),
    expiresAt: time(expiresAtMs),
    settledAt: timeOrNull(settledAtMs),
  };
}

/** `updatedAt` is the newest version's: a binding's own time is in A2's answer. */
export function toPlugin({ plugin, bindings }: PluginWithBindings): Plugin {
  const { extensionPointId, userId, name, contentAddress, size, versionId, versionNumber } = plugin;
  return {
    id: pluginId(extensionPointId, userId, name),
    extensionPointId,
    userId,
    name,
    contentAddress,
    size,
    version: { id: versionId, number: versionNumber, createdAt: time(plugin.publishedAtMs) },
    guestIds: bindings.map((binding) => binding.guestId).sort(),
    createdAt: time(plugin.createdAtMs),
    updatedAt: time(plugin.publishedAtMs),
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

export function toApiKeyInfo({ id, name, createdAtMs, lastUsedAtMs }: ApiKeyRecord): ApiKeyInfo {
  return { id, name, createdAt: time(createdAtMs), lastUsedAt: timeOrNull(lastUsedAtMs) };
}

export function toAccount({ user, email }: AccountWithEmail): Account {
  return { id: user.id, name: user.name, email };
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
