import {
  type AppId,
  isId,
  makeSecret,
  newId,
  type SessionId,
  secretRandomBytes,
  type TokenScope,
  type UserId,
} from '@tenon/protocol';
import { type AuditActor, record } from '../audit/record.ts';
import { type PageOf, readPageById } from '../db/paging.ts';
import type { ApiKeyRecord, TokenRecord } from '../db/records.ts';
import type { CreationSort, SortedPage, Transaction, WithLastAddress } from '../db/store.ts';
import { type TokenOrigin, unrestricted } from '../db/trust-records.ts';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField, notFound } from '../http/domain-errors.ts';
import { isWithin, toCidr } from '../http/networks.ts';
import { type Actor, requireActiveToken, requireUnrestrictedToken } from './access.ts';
import { requireStepUp } from './confirmation.ts';
import { takeQuota } from './quotas.ts';
import { hashSecret } from './secrets.ts';
import { toOwnPlugin } from './token-restriction.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The lifetime of a new token or API key, in days. */
interface LifetimeDays {
  readonly default: number;
  readonly max: number;
}

/** Returns the lifetime of a token with these scopes. */
export function tokenLifetimeDays(scopes: readonly TokenScope[]): LifetimeDays {
  const onlyReads = scopes.every((scope) => scope === 'read');
  return onlyReads ? { default: 90, max: 3650 } : { default: 7, max: 90 };
}

/**
 * Returns when a new token or API key expires.
 *
 * @param days the requested lifetime; `undefined` for the default
 * @throws DomainError `invalid_field` for more days than allowed
 */
export function lifetimeEnd(lifetime: LifetimeDays, days: number | undefined, nowMs: number): number {
  const { max } = lifetime;
  if (days !== undefined && days > max) {
    throw invalidField('/expiresInDays', `must be at most ${max} (got ${days}). Default: ${lifetime.default}`);
  }
  return nowMs + (days ?? lifetime.default) * dayMs;
}

type TokenDeps = Pick<Deps, 'store' | 'clock' | 'random'>;

export interface TokenFields extends Partial<TokenOrigin> {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** The application that the token is restricted to. */
  readonly appId: AppId | null;
  /** The browser's session that the token belongs to. Omitted for a program's token. */
  readonly sessionId?: SessionId;
  readonly expiresAtMs: number;
}

type Restriction = Pick<TokenRecord, 'appId' | 'extensionPointId' | 'pluginName' | 'networks'>;

/** A new credential. Only the hash of its secret is stored. */
interface WithSecret<R> {
  readonly record: R;
  readonly secret: string;
}

export type NewToken = WithSecret<TokenRecord>;
type NewApiKey = WithSecret<ApiKeyRecord>;

/** Creates a token without storing it, and without any check. */
export function makeToken(deps: Pick<TokenDeps, 'clock' | 'random'>, userId: UserId, fields: TokenFields): NewToken {
  const secret = makeSecret('accessToken', deps.random(secretRandomBytes));
  const record: TokenRecord = {
    sessionId: null,
    ...unrestricted,
    ...fields,
    id: newId('token'),
    userId,
    secretHash: hashSecret(secret),
    createdAtMs: deps.clock(),
    lastUsedAtMs: null,
  };
  return { record, secret };
}

/** @throws DomainError `quota_exceeded` if the account may not have another token */
export async function requireTokenQuota(
  deps: Pick<Deps, 'settings' | 'clock'>,
  tx: Transaction,
  userId: UserId,
): Promise<void> {
  await takeQuota(deps, tx, 'tokens', userId, await tx.countTokens(userId, deps.clock()));
}

/**
 * Stores a program's token, with an audit event.
 *
 * @param means how the token was created
 */
export async function storeToken(
  deps: Pick<TokenDeps, 'clock'>,
  tx: Transaction,
  actor: AuditActor,
  token: TokenRecord,
  means: 'operator' | 'token' | 'login' | 'trusted_publishing',
): Promise<void> {
  await tx.insertToken(token);
  const { userId, scopes, appId, expiresAtMs, guestId, networks, trustRuleId, claims } = token;
  const expiresAt = new Date(expiresAtMs).toISOString();
  const restrictions = { plugin: toOwnPlugin(token), guestId, networks, trustRuleId, claims };
  await record(deps, tx, actor, {
    action: 'token.create',
    accountId: userId,
    target: token,
    details: { scopes, appId, expiresAt, means, ...withoutNulls(restrictions) },
  });
}

/** Creates and stores a token for a user in the name of the operator, without any check. */
export async function issueToken(deps: TokenDeps, userId: UserId, fields: TokenFields): Promise<NewToken> {
  const token = makeToken(deps, userId, fields);
  await deps.store.write((tx) => storeToken(deps, tx, 'operator', token.record, 'operator'));
  return token;
}

/** A user's request for a token. Omitted fields have the values of the actor's token. */
export interface TokenInput {
  readonly name: string;
  readonly scopes?: readonly TokenScope[] | undefined;
  readonly appId?: string | undefined;
  readonly plugin?: { readonly extensionPointId: string; readonly name: string } | undefined;
  /** Addresses and CIDR blocks. */
  readonly networks?: readonly string[] | undefined;
  readonly expiresInDays?: number | undefined;
}

/**
 * Creates a token for the actor. It can't have more scopes, applications or networks than the actor's token. It can't outlive a program's
 * token; in a browser's session it can, but needs step-up.
 *
 * @throws DomainError `forbidden` for more scopes, more networks or a longer lifetime than the actor's token has; `invalid_field` for an
 *   application or extension point that the actor may not see, invalid networks, a plugin with the scope `manage`, or a lifetime above
 *   the maximum; `step_up_required`, `quota_exceeded`
 */
export async function createToken(deps: Deps, actor: Actor, input: TokenInput): Promise<NewToken> {
  const scopes = input.scopes ?? actor.scopes.filter((scope) => input.plugin === undefined || scope !== 'manage');
  const missing = scopes.filter((scope) => !actor.scopes.includes(scope));
  if (missing.length > 0) {
    const names = missing.map((scope) => `"${scope}"`).join(', ');
    throw new DomainError('forbidden', `A token can't create a token with more scopes. Your token lacks ${names}.`);
  }
  const restriction = await resolveRestriction(deps, actor, input, scopes);
  const expiresAtMs = expiryOf(actor, input.expiresInDays, tokenLifetimeDays(scopes), deps.clock());
  await requireStepUp(deps, actor.sessionId);
  const token = makeToken(deps, actor.userId, { name: input.name, scopes, ...restriction, expiresAtMs });
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    await requireTokenQuota(deps, tx, actor.userId);
    await storeToken(deps, tx, actor, token.record, 'token');
  });
  return token;
}

/**
 * Returns when a token or API key that the actor creates expires: not after the actor's token, if that is a program's.
 *
 * @throws DomainError `forbidden`, `invalid_field`
 */
function expiryOf(actor: Actor, days: number | undefined, lifetime: LifetimeDays, nowMs: number): number {
  const latestMs = actor.sessionId === null ? actor.expiresAtMs : Number.POSITIVE_INFINITY;
  const requestedMs = lifetimeEnd(lifetime, days, nowMs);
  if (days === undefined) return Math.min(requestedMs, latestMs);
  if (requestedMs <= latestMs) return requestedMs;
  throw new DomainError(
    'forbidden',
    `A token can't create a token or a key that outlives it. Your token expires at ${new Date(latestMs).toISOString()}.`,
  );
}

/** Checks the application, plugin and networks that a new token is to be restricted to. */
async function resolveRestriction(
  deps: Deps,
  actor: Actor,
  { appId, plugin, networks }: TokenInput,
  scopes: readonly TokenScope[],
): Promise<Restriction> {
  const ofNetworks = resolveNetworks(actor, networks);
  if (plugin === undefined) {
    const ofApp = await resolveAppRestriction(deps, actor, appId);
    return { appId: ofApp, extensionPointId: null, pluginName: null, networks: ofNetworks };
  }
  if (scopes.includes('manage')) {
    throw invalidField('/scopes', 'must be "read" and "publish" at most for a token that is restricted to a plugin');
  }
  const { extensionPointId, name: pluginName } = plugin;
  const found = isId('extensionPoint', extensionPointId)
    ? await deps.store.read.extensionPoint(extensionPointId)
    : undefined;
  const isOfApp = found !== undefined && (appId === undefined || appId === found.appId);
  if (!isOfApp || !(await maySeeApp(deps, actor, found.appId))) {
    throw invalidField(
      '/plugin/extensionPointId',
      'there is no such extension point, or you are not allowed to see it',
    );
  }
  return { appId: found.appId, extensionPointId: found.id, pluginName, networks: ofNetworks };
}

/** Returns the networks of a new token as CIDR blocks. Omitted, they are those of the actor's token. */
function resolveNetworks({ networks: own }: Actor, requested: readonly string[] | undefined): readonly string[] | null {
  if (requested === undefined) return own?.cidrs ?? null;
  return requested.map((text, at) => {
    const cidr = toCidr(text);
    if (cidr === undefined) {
      throw invalidField(`/networks/${at}`, 'must be an IPv4 or IPv6 address, or a CIDR block such as 192.0.2.0/24');
    }
    if (own === null || isWithin(cidr, own.cidrs)) return cidr;
    throw new DomainError(
      'forbidden',
      `A token can't create a token for more networks. Yours has ${own.cidrs.join(', ')}.`,
    );
  });
}

/** Checks the application that a new token is to be restricted to. */
async function resolveAppRestriction(deps: Deps, actor: Actor, appId: string | undefined): Promise<AppId | null> {
  if (appId === undefined) {
    requireUnrestrictedToken(actor);
    return null;
  }
  if (isId('app', appId) && (await maySeeApp(deps, actor, appId))) return appId;
  throw invalidField('/appId', 'there is no such application, or you are not allowed to see it');
}

async function maySeeApp({ store: { read } }: Deps, actor: Actor, appId: AppId): Promise<boolean> {
  if (actor.appId !== null && actor.appId !== appId) return false;
  const [member, guests] = await Promise.all([
    read.member(appId, actor.userId),
    read.guestsHeldBy(actor.userId, appId, { limit: 1 }),
  ]);
  return member !== undefined || guests.length > 0;
}

/** Lists the actor's tokens. If the actor's token is restricted to an application, lists only tokens with the same restriction. */
export function listTokens(
  deps: Deps,
  actor: Actor,
  page: SortedPage<CreationSort>,
): Promise<PageOf<TokenRecord & WithLastAddress>> {
  return readPageById(page, (range) => deps.store.read.tokens(actor.userId, actor.appId ?? undefined, range));
}

/** @throws DomainError `not_found` */
export async function revokeToken(deps: Deps, actor: Actor, tokenId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const token = isId('token', tokenId) ? await tx.token(tokenId) : undefined;
    if (token?.userId !== actor.userId || !isInScopeOf(actor, token)) throw notFound('token');
    await record(deps, tx, actor, { action: 'token.revoke', target: token });
    await tx.deleteToken(token.id);
  });
}

function isInScopeOf(actor: Actor, token: TokenRecord): boolean {
  return actor.appId === null || actor.appId === token.appId;
}

function withoutNulls(fields: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

const apiKeyLifetimeDays: LifetimeDays = { default: 90, max: 365 };

/**
 * Creates an API key for the actor. A key that a program's token creates can't outlive the token, and is revoked with it. In a
 * browser's session, it needs step-up.
 *
 * @throws DomainError `forbidden` for a key that would outlive the token, and for a token that is restricted to networks;
 *   `invalid_field` for a lifetime above the maximum,
 *   `step_up_required`, `quota_exceeded`
 */
export async function createApiKey(
  deps: Deps,
  actor: Actor,
  { name, expiresInDays }: { readonly name: string; readonly expiresInDays?: number | undefined },
): Promise<NewApiKey> {
  if (actor.networks !== null) {
    throw new DomainError('forbidden', 'The token is restricted to networks, and API keys work from all networks.');
  }
  const expiresAtMs = expiryOf(actor, expiresInDays, apiKeyLifetimeDays, deps.clock());
  await requireStepUp(deps, actor.sessionId);
  const tokenId = actor.sessionId === null ? actor.tokenId : null;
  const key = makeApiKey(deps, actor.userId, { name, tokenId, expiresAtMs });
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const used = await tx.countApiKeys(actor.userId, deps.clock());
    await takeQuota(deps, tx, 'api-keys', actor.userId, used);
    await storeApiKey(deps, tx, actor, key.record);
  });
  return key;
}

function makeApiKey(
  deps: Pick<TokenDeps, 'clock' | 'random'>,
  userId: UserId,
  fields: Pick<ApiKeyRecord, 'name' | 'tokenId' | 'expiresAtMs'>,
): NewApiKey {
  const secret = makeSecret('apiKey', deps.random(secretRandomBytes));
  const record: ApiKeyRecord = {
    ...fields,
    id: newId('apiKey'),
    userId,
    secretHash: hashSecret(secret),
    createdAtMs: deps.clock(),
    lastUsedAtMs: null,
  };
  return { record, secret };
}

async function storeApiKey(deps: TokenDeps, tx: Transaction, actor: AuditActor, key: ApiKeyRecord): Promise<void> {
  await tx.insertApiKey(key);
  const details = { expiresAt: new Date(key.expiresAtMs).toISOString() };
  await record(deps, tx, actor, { action: 'api_key.create', accountId: key.userId, target: key, details });
}

/**
 * Creates and stores an API key for a user in the name of the operator.
 *
 * @throws DomainError `invalid_field` for a lifetime above the maximum
 */
export async function issueApiKey(deps: TokenDeps, userId: UserId, name: string, days?: number): Promise<NewApiKey> {
  const expiresAtMs = lifetimeEnd(apiKeyLifetimeDays, days, deps.clock());
  const key = makeApiKey(deps, userId, { name, tokenId: null, expiresAtMs });
  await deps.store.write((tx) => storeApiKey(deps, tx, 'operator', key.record));
  return key;
}

export function listApiKeys(
  deps: Deps,
  actor: Actor,
  page: SortedPage<CreationSort>,
): Promise<PageOf<ApiKeyRecord & WithLastAddress>> {
  return readPageById(page, (range) => deps.store.read.apiKeys(actor.userId, range));
}

/** @throws DomainError `not_found` */
export async function revokeApiKey(deps: Deps, actor: Actor, apiKeyId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const key = isId('apiKey', apiKeyId) ? await tx.apiKey(apiKeyId) : undefined;
    if (key?.userId !== actor.userId) throw notFound('API key');
    await tx.deleteApiKey(key.id);
    await record(deps, tx, actor, { action: 'api_key.revoke', target: key });
  });
}
