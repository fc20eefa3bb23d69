import {
  type AppId,
  type ExtensionPointId,
  isId,
  type MemberRole,
  type SessionId,
  type TokenId,
  type TokenScope,
  type UserId,
} from '@tenon/protocol';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import type { MemoryKind } from './memories/memories.ts';
import { type Subject, standingSubject } from './memories/subject.ts';
import { readLimited } from './paging.ts';
import type { Queries } from './ports.ts';
import type { AppRecord, ExtensionPointRecord, GuestRecord, Side, TokenRecord } from './records.ts';

/** A signed-in user, and what the presented token allows. */
export interface Actor {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  readonly scopes: readonly TokenScope[];
  /** The one application that the token is restricted to. */
  readonly appId: AppId | null;
  /** The browser's session that the token belongs to; `null` for a program's token. */
  readonly sessionId: SessionId | null;
  readonly expiresAtMs: number;
}

/** What a user is in an application. One can be a member and a guest of the same one. */
export type Role = MemberRole | 'guest';

interface Permission {
  readonly scope: TokenScope;
  readonly roles: readonly Role[];
  /** The scope with which guests may do it too, to what is their own. */
  readonly ownScope?: TokenScope;
}

const members = ['owner', 'admin', 'viewer'] as const;
const managers = ['owner', 'admin'] as const;

/** Who may do what inside an application: the one table. `docs/reference/http-api.md` shows the same. */
export const permissions = {
  readApp: { scope: 'read', roles: [...members, 'guest'] },
  updateApp: { scope: 'manage', roles: managers },
  deleteApp: { scope: 'manage', roles: ['owner'] },
  readAudit: { scope: 'read', roles: ['owner'] },
  readMembers: { scope: 'read', roles: members },
  changeMembers: { scope: 'manage', roles: ['owner'] },
  leaveTeam: { scope: 'manage', roles: members },
  readExtensionPoints: { scope: 'read', roles: [...members, 'guest'] },
  changeExtensionPoints: { scope: 'manage', roles: managers },
  readGuests: { scope: 'read', roles: members },
  changeGuests: { scope: 'manage', roles: managers },
  readBindings: { scope: 'read', roles: members },
  readPlugins: { scope: 'read', roles: [...members, 'guest'] },
  publish: { scope: 'publish', roles: ['guest'] },
  changePlugins: { scope: 'manage', roles: managers, ownScope: 'publish' },
  decideOnPlugins: { scope: 'manage', roles: managers },
} as const satisfies Record<string, Permission>;

export type PermissionName = keyof typeof permissions;

/** What a user may see of an application, and as what. */
export interface AppAccess {
  /** Who was let in: what is done by means of it is told of as theirs. */
  readonly actor: Actor;
  readonly app: AppRecord;
  /** The member's role; `guest` for one who is a guest only. */
  readonly role: Role;
  /** The guests that the user holds in it; {@link maxRowsOfPage} at most. */
  readonly guests: readonly GuestRecord[];
  /** Whether the user holds more guests than these. */
  readonly hasMoreGuests: boolean;
}

export interface ExtensionPointAccess extends AppAccess {
  readonly extensionPoint: ExtensionPointRecord;
}

/** What is the same whichever of a user's tokens asks. */
type Membership = Omit<AppAccess, 'actor'>;

/** About how many bytes a guest takes in memory besides its key. */
const guestBytes = 200;

/** By the subject: the ids of the user and the application. */
const memberships: MemoryKind<Membership> = {
  name: 'standings',
  subjects: (_standing, key) => [key, ...key.split(' ')],
  weigh: ({ guests }) => guests.reduce((sum, { guestKey }) => sum + guestBytes + guestKey.length, 0),
};

/** By id. */
const extensionPointRecords: MemoryKind<ExtensionPointRecord> = {
  name: 'extension points',
  subjects: ({ id, appId }) => [id, appId],
  weigh: ({ schemaJson }) => schemaJson.length,
};

/** What it depends on that an actor is let in at an extension point. */
export function accessCacheTags({ actor, app, extensionPoint }: ExtensionPointAccess): readonly Subject[] {
  return [...actorCacheTags(actor), standingSubject(actor.userId, app.id), app.id, extensionPoint.id];
}

/** What it depends on that a token is somebody's. */
export function actorCacheTags({ tokenId, userId, sessionId, appId }: Actor): readonly Subject[] {
  return [tokenId, userId, sessionId, appId].filter((id) => id !== null);
}

/**
 * Lets an actor into an application for one purpose.
 *
 * @throws DomainError `not_found` when it isn't there or the actor may not see it; then `insufficient_scope`, `not_a_guest`
 *   (to publish) or `forbidden`
 */
export async function authorizeApp(
  context: Context,
  actor: Actor,
  purpose: PermissionName,
  appId: string,
): Promise<AppAccess> {
  const access = isId('app', appId) ? await findAppAccess(context, actor, appId) : undefined;
  if (access === undefined) throw notFound('application');
  requirePermission(actor, access, purpose);
  return { ...access, actor };
}

/** Lets an actor into an extension point for one purpose, as {@link authorizeApp} does for an application. */
export async function authorizeExtensionPoint(
  context: Context,
  actor: Actor,
  purpose: PermissionName,
  extensionPointId: string,
): Promise<ExtensionPointAccess> {
  if (!isId('extensionPoint', extensionPointId)) throw notFound('extension point');
  const extensionPoint = await findExtensionPoint(context, extensionPointId);
  const access = extensionPoint && (await findAppAccess(context, actor, extensionPoint.appId));
  if (extensionPoint === undefined || access === undefined) throw notFound('extension point');
  requirePermission(actor, access, purpose);
  return { ...access, actor, extensionPoint };
}

/**
 * Demands a scope of a token.
 *
 * @throws DomainError `insufficient_scope`
 */
export function requireScope(actor: Actor, scope: TokenScope): void {
  if (actor.scopes.includes(scope)) return;
  throw new DomainError(
    'insufficient_scope',
    `The token lacks the scope "${scope}"; it has ${actor.scopes.map((held) => `"${held}"`).join(', ')}.`,
  );
}

/**
 * Demands a token that is not restricted to one application.
 *
 * @throws DomainError `forbidden`
 */
export function requireUnrestrictedToken(actor: Actor): void {
  if (actor.appId === null) return;
  throw new DomainError('forbidden', 'The token is restricted to one application, and this reaches beyond it.');
}

/**
 * Authorizes an actor again, inside the transaction that makes the change: the token may have been revoked, or a role or a guest
 * removed, while the request waited.
 *
 * @returns the access as it is now
 * @throws DomainError as {@link authorizeApp}, and `invalid_token` when the token was revoked
 */
export async function renewAccess<A extends AppAccess>(tx: Queries, access: A, purpose: PermissionName): Promise<A> {
  const { actor, app } = access;
  await requireActiveToken(tx, actor);
  const standing = await readMembership(tx, actor, app.id);
  if (standing === undefined) throw notFound('application');
  requirePermission(actor, standing, purpose);
  return { ...access, ...standing };
}

/**
 * Requires that the token still exists: it may have been revoked, its session ended, or its account deleted since the request
 * was authenticated. Call it in the transaction that makes the change.
 *
 * @returns the token as it is
 * @throws DomainError `invalid_token`
 */
export async function requireActiveToken(tx: Queries, { tokenId }: Actor): Promise<TokenRecord> {
  const token = await tx.token(tokenId);
  if (token === undefined) throw new DomainError('invalid_token', 'The token was revoked meanwhile.');
  return token;
}

/**
 * The sides on which an actor may act on a plugin: the publisher's, for one's own as a guest, and the host's.
 *
 * @throws DomainError `insufficient_scope` or `forbidden` when there is none
 */
export function requirePluginRoles(
  actor: Actor,
  access: Membership,
  plugin: { readonly userId: UserId },
): readonly Side[] {
  const { scope, roles, ownScope }: Permission = permissions.changePlugins;
  const isManager = roles.includes(access.role);
  const isOwn = plugin.userId === actor.userId && access.guests.length > 0;
  const sides: Side[] = [];
  if (isOwn && ownScope !== undefined && actor.scopes.includes(ownScope)) sides.push('publisher');
  if (isManager && actor.scopes.includes(scope)) sides.push('host');
  if (sides.length > 0) return sides;
  if (isManager) requireScope(actor, scope);
  throw new DomainError('forbidden', `This takes the plugin's publisher, or the role ${roles.join(' or ')}.`);
}

/**
 * Demands that an actor acts on the host's side.
 *
 * @throws DomainError `forbidden`
 */
export function requireHostRole(sides: readonly Side[]): void {
  if (sides.includes('host')) return;
  throw new DomainError('forbidden', `This takes the role ${permissions.decideOnPlugins.roles.join(' or ')}.`);
}

/** Whether the actor sees the application as one of its members, and not as a guest alone. */
export function isMember(access: AppAccess): boolean {
  return access.role !== 'guest';
}

function requirePermission(actor: Actor, access: Membership, purpose: PermissionName): void {
  const { scope, roles, ownScope }: Permission = permissions[purpose];
  const isGuest = access.guests.length > 0;
  const isOwn = ownScope !== undefined && isGuest;
  if (isOwn && actor.scopes.includes(ownScope)) return; // what is whose is looked at by the use case
  const isAllowed = roles.includes(access.role) || (roles.includes('guest') && isGuest);
  requireScope(actor, isOwn && !isAllowed ? ownScope : scope);
  if (isAllowed) return;
  if (purpose === 'publish') {
    throw new DomainError(
      'not_a_guest',
      'Publishing binds a plugin under the guests that you hold in the application, and you hold none. Accept an invitation first.',
    );
  }
  throw new DomainError('forbidden', `This takes the role ${roles.join(' or ')}; yours is ${access.role}.`);
}

function findAppAccess(context: Context, actor: Actor, appId: AppId): Promise<Membership | undefined> {
  if (actor.appId !== null && actor.appId !== appId) return Promise.resolve(undefined);
  const read = () => readMembership(context.store.read, actor, appId);
  return context.memories.of(memberships).getOrLoad(standingSubject(actor.userId, appId), read);
}

async function readMembership(read: Queries, { userId }: Actor, appId: AppId): Promise<Membership | undefined> {
  const [app, member, { rows: guests, hasMore: hasMoreGuests }] = await Promise.all([
    read.app(appId),
    read.member(appId, userId),
    readLimited((limit) => read.guestsHeldBy(userId, appId, { limit })),
  ]);
  const role = member?.role ?? (guests.length > 0 ? 'guest' : undefined);
  return app === undefined || role === undefined ? undefined : { app, role, guests, hasMoreGuests };
}

function findExtensionPoint(context: Context, id: ExtensionPointId): Promise<ExtensionPointRecord | undefined> {
  return context.memories.of(extensionPointRecords).getOrLoad(id, () => context.store.read.extensionPoint(id));
}
