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
import type { CacheSpec } from '../cache/cache.ts';
import { type CacheTag, membershipTag } from '../cache/cache-tag.ts';
import { readLimited } from '../db/paging.ts';
import type {
  AppRecord,
  ExtensionPointRecord,
  GuestRecord,
  HeldGuest,
  PluginRole,
  TokenRecord,
  UserRecord,
} from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { TokenRestriction } from '../db/trust-records.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import type { NetworkSet } from '../http/networks.ts';
import { type PluginPath, requireWithinRestriction } from './token-restriction.ts';

/** A signed-in user, and what the presented token allows. */
export interface Actor extends TokenRestriction {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  readonly scopes: readonly TokenScope[];
  /** The one application that the token is restricted to. */
  readonly appId: AppId | null;
  /** The browser's session that the token belongs to; `null` for a program's token. */
  readonly sessionId: SessionId | null;
  readonly expiresAtMs: number;
  /** The networks that the token may be used from; `null` for all. */
  readonly networks: NetworkSet | null;
  /** Whether the session has used a passkey; for a program's token, whether the user has one. */
  readonly hasPasskey: boolean;
}

/** A user's role in an application. A member may also be a guest. */
export type Role = MemberRole | 'guest';

interface Permission {
  readonly scope: TokenScope;
  readonly roles: readonly Role[];
  /** The scope with which guests may do it to their own plugins. */
  readonly ownScope?: TokenScope;
}

const members = ['owner', 'admin', 'viewer'] as const;
const managers = ['owner', 'admin'] as const;

/** All permissions inside an application. `docs/reference/http-api.md` shows the same table. */
export const permissions = {
  readApp: { scope: 'read', roles: [...members, 'guest'] },
  updateApp: { scope: 'manage', roles: managers },
  deleteApp: { scope: 'manage', roles: ['owner'] },
  readAudit: { scope: 'read', roles: ['owner'] },
  manageWebhooks: { scope: 'manage', roles: ['owner'] },
  readMembers: { scope: 'read', roles: members },
  changeMembers: { scope: 'manage', roles: ['owner'] },
  leaveTeam: { scope: 'manage', roles: members },
  readExtensionPoints: { scope: 'read', roles: [...members, 'guest'] },
  changeExtensionPoints: { scope: 'manage', roles: managers },
  readGuests: { scope: 'read', roles: members },
  changeGuests: { scope: 'manage', roles: managers },
  readBindings: { scope: 'read', roles: members },
  readPlugins: { scope: 'read', roles: [...members, 'guest'] },
  readUsage: { scope: 'read', roles: members },
  publish: { scope: 'publish', roles: ['guest'] },
  changePlugins: { scope: 'manage', roles: managers, ownScope: 'publish' },
  deletePlugins: { scope: 'manage', roles: managers, ownScope: 'publish' },
  decideOnPlugins: { scope: 'manage', roles: managers },
} as const satisfies Record<string, Permission>;

export type PermissionName = keyof typeof permissions;

/** An actor who is authorized in an application. */
export interface AppAccess {
  readonly actor: Actor;
  readonly app: AppRecord;
  /** The actor's role as a member; `guest` if the actor is only a guest. */
  readonly role: Role;
  /** The first {@link maxRelatedRows} guests that the actor holds in the application. */
  readonly guests: readonly HeldGuest[];
  /** Whether the user holds more guests than these. */
  readonly hasMoreGuests: boolean;
}

export interface ExtensionPointAccess extends AppAccess {
  readonly extensionPoint: ExtensionPointRecord;
}

/** A user's role and guests in an application. They don't depend on the token. */
type Membership = Omit<AppAccess, 'actor'>;

/** The approximate memory use of a guest besides its key and label, in bytes. */
const guestBytes = 200;

/** Cached by the ids of the user and the application, separated by a space. */
const memberships: CacheSpec<Membership> = {
  name: 'memberships',
  tags: (_membership, key) => [key, ...key.split(' ')],
  sizeOf: ({ guests }) =>
    guests.reduce((sum, { guestKey, label }) => sum + guestBytes + guestKey.length + (label?.length ?? 0), 0),
};

/** Cached by id. */
const extensionPointRecords: CacheSpec<ExtensionPointRecord> = {
  name: 'extension points',
  tags: ({ id, appId }) => [id, appId],
  sizeOf: ({ schemaJson }) => schemaJson.length,
};

/** The cache tags that invalidate an actor's access to an extension point. */
export function accessCacheTags({ actor, app, extensionPoint }: ExtensionPointAccess): readonly CacheTag[] {
  return [...actorCacheTags(actor), membershipTag(actor.userId, app.id), app.id, extensionPoint.id];
}

/** The cache tags that invalidate an authenticated token. */
export function actorCacheTags({ tokenId, userId, sessionId, appId }: Actor): readonly CacheTag[] {
  return [tokenId, userId, sessionId, appId].filter((id) => id !== null);
}

/**
 * Authorizes an actor to use a permission in an application.
 *
 * @throws DomainError `not_found` if the application doesn't exist or the actor may not see it; otherwise `insufficient_scope`,
 *   `passkey_required`, `not_a_guest` (to publish) or `forbidden`
 */
export async function authorizeApp(
  deps: Deps,
  actor: Actor,
  permission: PermissionName,
  appId: string,
): Promise<AppAccess> {
  const access = isId('app', appId) ? await findAppAccess(deps, actor, appId) : undefined;
  if (access === undefined) throw notFound('application');
  requirePasskey(actor.hasPasskey, access);
  requirePermission(actor, access, permission);
  requireWithinRestriction(actor, permission);
  return { ...access, actor };
}

/**
 * As {@link authorizeApp}, for an extension point.
 *
 * @param plugin the plugin of the request's path; a token that is restricted to a plugin needs it
 */
export async function authorizeExtensionPoint(
  deps: Deps,
  actor: Actor,
  permission: PermissionName,
  extensionPointId: string,
  plugin?: PluginPath,
): Promise<ExtensionPointAccess> {
  if (!isId('extensionPoint', extensionPointId)) throw notFound('extension point');
  const extensionPoint = await findExtensionPoint(deps, extensionPointId);
  const access = extensionPoint && (await findAppAccess(deps, actor, extensionPoint.appId));
  if (extensionPoint === undefined || access === undefined) throw notFound('extension point');
  requirePasskey(actor.hasPasskey, access);
  requirePermission(actor, access, permission);
  requireWithinRestriction(actor, permission, extensionPointId, plugin);
  return { ...access, actor, extensionPoint };
}

/** @throws DomainError `insufficient_scope` */
export function requireScope(actor: Actor, scope: TokenScope): void {
  if (actor.scopes.includes(scope)) return;
  throw new DomainError(
    'insufficient_scope',
    `The token lacks the scope "${scope}"; it has ${actor.scopes.map((name) => `"${name}"`).join(', ')}.`,
  );
}

/** @throws DomainError `forbidden` for a token that is restricted to one application, plugin, or guest */
export function requireUnrestrictedToken(actor: Actor): void {
  if (actor.appId === null) return;
  throw new DomainError(
    'forbidden',
    'The token is restricted to one application, and this request needs a token without that restriction.',
  );
}

/**
 * Repeats the authorization in the transaction that makes the change. While the request waited, the token may have been revoked, or
 * the actor's role or guest removed.
 *
 * @returns the current access
 * @throws DomainError as {@link authorizeApp}, and `invalid_token` if the token was revoked
 */
export async function renewAccess<A extends AppAccess>(tx: Queries, access: A, permission: PermissionName): Promise<A> {
  const { actor, app } = access;
  await requireActiveToken(tx, actor);
  const membership = await readMembership(tx, actor, app.id);
  if (membership === undefined) throw notFound('application');
  if (membership.app.requiresPasskey) requirePasskey((await tx.passkeyOfToken(actor.tokenId)) !== null, membership);
  requirePermission(actor, membership, permission);
  return { ...access, ...membership };
}

/**
 * Requires that the actor's token still exists. Since the request was authenticated, the token may have been revoked, its session
 * ended, or its account suspended or deleted. Call it in the transaction that makes the change.
 *
 * @throws DomainError `invalid_token`, `account_suspended`
 */
export async function requireActiveToken(tx: Queries, { tokenId }: Actor): Promise<TokenRecord> {
  const token = await tx.token(tokenId);
  if (token === undefined) throw new DomainError('invalid_token', 'The token was revoked during the request.');
  const user = await tx.user(token.userId);
  if (user !== undefined) requireNotSuspended(user);
  return token;
}

/** @throws DomainError `account_suspended` */
export function requireNotSuspended({ suspendedAtMs }: Pick<UserRecord, 'suspendedAtMs'>): void {
  if (suspendedAtMs === null) return;
  throw new DomainError('account_suspended', 'The account is suspended. Ask an operator of this server.');
}

/**
 * Returns the roles in which an actor may change a plugin: `publisher` for the actor's own plugin, `host` for managers of the
 * application.
 *
 * @throws DomainError `insufficient_scope` or `forbidden` if the actor has neither role
 */
export function requirePluginRoles(
  actor: Actor,
  access: Membership,
  plugin: { readonly userId: UserId },
): readonly PluginRole[] {
  const { scope, roles, ownScope }: Permission = permissions.changePlugins;
  const isManager = roles.includes(access.role);
  const isOwn = plugin.userId === actor.userId && access.guests.length > 0;
  const pluginRoles: PluginRole[] = [];
  if (isOwn && ownScope !== undefined && actor.scopes.includes(ownScope)) pluginRoles.push('publisher');
  if (isManager && actor.scopes.includes(scope)) pluginRoles.push('host');
  if (pluginRoles.length > 0) return pluginRoles;
  if (isManager) requireScope(actor, scope);
  throw new DomainError(
    'forbidden',
    `Only the plugin's publisher and users with the role ${roles.join(' or ')} can do this.`,
  );
}

/** @throws DomainError `forbidden` if the actor is only the plugin's publisher */
export function requireHostRole(pluginRoles: readonly PluginRole[]): void {
  if (pluginRoles.includes('host')) return;
  throw new DomainError('forbidden', `This requires the role ${permissions.decideOnPlugins.roles.join(' or ')}.`);
}

/** Whether the actor is a member of the application, and not only a guest. */
export function isMember(access: AppAccess): boolean {
  return access.role !== 'guest';
}

/** @throws DomainError `passkey_required` for a member of an application that requires passkeys */
function requirePasskey(hasPasskey: boolean, { app, role }: Membership): void {
  if (hasPasskey || !app.requiresPasskey || role === 'guest') return;
  throw passkeyRequired();
}

export function passkeyRequired(): DomainError {
  return new DomainError(
    'passkey_required',
    'The application requires passkeys of its members. In a browser, confirm with your passkey. Tokens work once your account has one.',
  );
}

function requirePermission(actor: Actor, { role, guests }: Membership, name: PermissionName): void {
  const { scope, roles, ownScope }: Permission = permissions[name];
  const isGuest = guests.length > 0;
  const isGuestPermission = ownScope !== undefined && isGuest;
  // The use case checks that the plugin is the guest's own.
  if (isGuestPermission && actor.scopes.includes(ownScope)) return;
  const isAllowed = roles.includes(role) || (roles.includes('guest') && isGuest);
  requireScope(actor, isGuestPermission && !isAllowed ? ownScope : scope);
  if (isAllowed) return;
  if (name === 'publish') {
    throw new DomainError(
      'not_a_guest',
      'To publish, you must hold a guest in the application, and you hold none. Accept an invitation first.',
    );
  }
  throw new DomainError('forbidden', `This requires the role ${roles.join(' or ')}; your role is ${role}.`);
}

function findAppAccess(deps: Deps, actor: Actor, appId: AppId): Promise<Membership | undefined> {
  if (actor.appId !== null && actor.appId !== appId) return Promise.resolve(undefined);
  const load = () => readMembership(deps.store.read, actor, appId);
  return deps.cache.of(memberships).getOrLoad(membershipTag(actor.userId, appId), load);
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

/**
 * Finds a guest of the application.
 *
 * @throws DomainError `not_found`
 */
export async function findGuest(
  read: Pick<Queries, 'guest'>,
  { app }: AppAccess,
  guestId: string,
): Promise<GuestRecord> {
  const guest = isId('guest', guestId) ? await read.guest(guestId) : undefined;
  if (guest?.appId !== app.id) throw notFound('guest');
  return guest;
}

function findExtensionPoint(deps: Deps, id: ExtensionPointId): Promise<ExtensionPointRecord | undefined> {
  return deps.cache.of(extensionPointRecords).getOrLoad(id, () => deps.store.read.extensionPoint(id));
}

/** Whether `TENON_CREATE_APPS` allows a user to create applications. */
export async function mayCreateApps(
  { settings: { createApps } }: Pick<Deps, 'settings'>,
  read: Pick<Queries, 'isOperator' | 'isMemberOfAny'>,
  userId: UserId,
): Promise<boolean> {
  if (createApps === 'all' || (await read.isOperator(userId))) return true;
  return createApps === 'members' && (await read.isMemberOfAny(userId));
}
