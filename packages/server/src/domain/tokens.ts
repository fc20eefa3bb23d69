import {
  type ApiKeyId,
  type AppId,
  isId,
  makeSecret,
  newId,
  type SessionId,
  secretRandomBytes,
  type TokenScope,
  type UserId,
} from '@tenon/protocol';
import { type Actor, requireActiveToken, requireUnrestrictedToken } from './access.ts';
import { type AuditActor, record } from './audit/record.ts';
import { requireRecentPassword } from './confirmation.ts';
import type { Context } from './context.ts';
import { DomainError, invalidField, notFound } from './errors.ts';
import { type PageOf, readPage } from './paging.ts';
import type { Page, Transaction } from './ports.ts';
import { requireQuota } from './quotas.ts';
import type { ApiKeyRecord, TokenRecord } from './records.ts';
import { hashSecret } from './secrets.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** How long a token with these scopes works when it is made by hand, in days: by default, and at most. */
export function tokenLifetimeDays(scopes: readonly TokenScope[]): {
  readonly byDefault: number;
  readonly most: number;
} {
  const onlyReads = scopes.every((scope) => scope === 'read');
  return onlyReads ? { byDefault: 90, most: 3650 } : { byDefault: 7, most: 90 };
}

/**
 * When a token or an API key ends that is made by hand now.
 *
 * @param days as the caller asks; the default when left out
 * @throws DomainError `invalid_field` for more days than allowed
 */
export function lifetimeEnd(
  lifetime: { readonly byDefault: number; readonly most: number },
  days: number | undefined,
  nowMs: number,
): number {
  const { byDefault, most } = lifetime;
  if (days !== undefined && days > most) {
    throw invalidField('/expiresInDays', `must be at most ${most} (got ${days}); it is ${byDefault} by default`);
  }
  return nowMs + (days ?? byDefault) * dayMs;
}

type Deps = Pick<Context, 'store' | 'clock' | 'random'>;

/** What a new token is to be. */
export interface TokenFields {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly appId: AppId | null;
  /** The session whose pages it is for; none for a program's. */
  readonly sessionId?: SessionId;
  readonly expiresAtMs: number;
}

/** A new token, and its secret, which is kept nowhere. */
export interface NewToken {
  readonly record: TokenRecord;
  readonly secret: string;
}

/** Makes a token that is still to be stored; nothing is asked. */
export function makeToken(parts: Pick<Deps, 'clock' | 'random'>, userId: UserId, fields: TokenFields): NewToken {
  const secret = makeSecret('accessToken', parts.random(secretRandomBytes));
  const record: TokenRecord = {
    sessionId: null,
    ...fields,
    id: newId('token'),
    userId,
    secretHash: hashSecret(secret),
    createdAtMs: parts.clock(),
    lastUsedAtMs: null,
  };
  return { record, secret };
}

/** Demands that an account may have one more token. @throws DomainError `quota_exceeded` */
export async function requireTokenQuota(
  { limits, clock }: Pick<Context, 'limits' | 'clock'>,
  tx: Transaction,
  userId: UserId,
): Promise<void> {
  requireQuota(limits.quotas, 'tokens', userId, await tx.countTokens(userId, clock()));
}

/** Stores a program's token, and tells by what means it was made. */
export async function storeToken(
  parts: Pick<Deps, 'clock'>,
  tx: Transaction,
  by: AuditActor,
  token: TokenRecord,
  means: 'operator' | 'token' | 'login',
): Promise<void> {
  await tx.insertToken(token);
  const { userId, scopes, appId, expiresAtMs } = token;
  await record(parts, tx, by, {
    action: 'token.create',
    accountId: userId,
    target: token,
    details: { scopes, appId, expiresAt: new Date(expiresAtMs).toISOString(), means },
  });
}

/** Makes a token for a user, and stores it, for the operator; nothing is asked. */
export async function issueToken(parts: Deps, userId: UserId, fields: TokenFields): Promise<NewToken> {
  const token = makeToken(parts, userId, fields);
  await parts.store.write((tx) => storeToken(parts, tx, 'operator', token.record, 'operator'));
  return token;
}

/** A token as a user asks for it. What is left out follows the asking token. */
export interface TokenInput {
  readonly name: string;
  readonly scopes?: readonly TokenScope[] | undefined;
  readonly appId?: string | undefined;
  readonly expiresInDays?: number | undefined;
}

/**
 * Makes a token by means of another, never a broader one; nor one that lives longer, unless the asking token is that of a
 * browser's session, where a person is present: the password must have been entered there recently.
 *
 * @throws DomainError `forbidden` for a broader or longer-lived one, `invalid_field` for an application that the user may not
 *   see or a lifetime that is too long, `password_required`
 */
export async function createToken(
  context: Context,
  actor: Actor,
  input: TokenInput,
): Promise<{ readonly record: TokenRecord; readonly secret: string }> {
  const scopes = input.scopes ?? actor.scopes;
  const missing = scopes.filter((scope) => !actor.scopes.includes(scope));
  if (missing.length > 0) {
    const names = missing.map((scope) => `"${scope}"`).join(', ');
    throw new DomainError('forbidden', `A token makes none that is broader than itself: this one lacks ${names}.`);
  }
  const appId = await resolveAppRestriction(context, actor, input.appId);
  const expiresAtMs = expiryOf(actor, input.expiresInDays, tokenLifetimeDays(scopes), context.clock());
  await requireRecentPassword(context, actor.sessionId);
  const token = makeToken(context, actor.userId, { name: input.name, scopes, appId, expiresAtMs });
  await context.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    await requireTokenQuota(context, tx, actor.userId);
    await storeToken(context, tx, actor, token.record, 'token');
  });
  return token;
}

/** A program's token makes nothing that outlives it. */
function expiryOf(
  actor: Actor,
  days: number | undefined,
  lifetime: { readonly byDefault: number; readonly most: number },
  nowMs: number,
): number {
  const latestMs = actor.sessionId === null ? actor.expiresAtMs : Number.POSITIVE_INFINITY;
  const wantedMs = lifetimeEnd(lifetime, days, nowMs);
  if (days === undefined) return Math.min(wantedMs, latestMs);
  if (wantedMs <= latestMs) return wantedMs;
  throw new DomainError(
    'forbidden',
    `A token makes none that outlives it: this one ends at ${new Date(latestMs).toISOString()}.`,
  );
}

async function resolveAppRestriction(
  context: Context,
  actor: Actor,
  wanted: string | undefined,
): Promise<AppId | null> {
  if (wanted === undefined) {
    requireUnrestrictedToken(actor);
    return null;
  }
  const { read } = context.store;
  const mayUse = actor.appId === null || actor.appId === wanted;
  if (mayUse && isId('app', wanted)) {
    const [member, guests] = await Promise.all([
      read.member(wanted, actor.userId),
      read.guestsHeldBy(actor.userId, wanted, { limit: 1 }),
    ]);
    if (member !== undefined || guests.length > 0) return wanted;
  }
  throw invalidField('/appId', 'there is no such application, or it is not yours to see');
}

/**
 * The token by which the actor was let in, as it is now.
 *
 * @throws DomainError `invalid_token` when it was revoked meanwhile
 */
export async function readOwnToken({ store }: Context, actor: Actor): Promise<TokenRecord> {
  return requireActiveToken(store.read, actor);
}

/** The actor's tokens; a token restricted to an application shows those that are restricted to it too. */
export function listTokens(context: Context, actor: Actor, page: Page): Promise<PageOf<TokenRecord>> {
  return readPage(
    page,
    (token: TokenRecord) => token.id,
    (range) => context.store.read.tokens(actor.userId, actor.appId ?? undefined, range),
  );
}

/** @throws DomainError `not_found` */
export async function revokeToken(context: Context, actor: Actor, tokenId: string): Promise<void> {
  await context.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const token = isId('token', tokenId) ? await tx.token(tokenId) : undefined;
    if (token?.userId !== actor.userId || !isWithin(actor, token)) throw notFound('token');
    await record(context, tx, actor, { action: 'token.revoke', target: token });
    await tx.deleteToken(token.id);
  });
}

function isWithin(actor: Actor, token: TokenRecord): boolean {
  return actor.appId === null || actor.appId === token.appId;
}

/** How long an API key works, in days: by default, and at most. */
export const apiKeyLifetimeDays = { byDefault: 90, most: 365 } as const;

/**
 * Makes an API key by means of a token. A program's token makes none that outlives it, and takes the key with it when it is revoked;
 * in a browser's session the password must have been entered recently.
 *
 * @throws DomainError `forbidden` for a longer-lived one, `invalid_field` for a lifetime that is too long, `password_required`
 */
export async function createApiKey(
  context: Context,
  actor: Actor,
  { name, expiresInDays }: { readonly name: string; readonly expiresInDays?: number | undefined },
): Promise<NewApiKey> {
  const expiresAtMs = expiryOf(actor, expiresInDays, apiKeyLifetimeDays, context.clock());
  await requireRecentPassword(context, actor.sessionId);
  const tokenId = actor.sessionId === null ? actor.tokenId : null;
  const key = makeApiKey(context, actor.userId, { name, tokenId, expiresAtMs });
  await context.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const taken = await tx.countApiKeys(actor.userId, context.clock());
    requireQuota(context.limits.quotas, 'api-keys', actor.userId, taken);
    await tx.insertApiKey(key.record);
    await recordApiKey(context, tx, actor, key.record);
  });
  return key;
}

/** A new API key, and its secret, which is kept nowhere. */
export interface NewApiKey {
  readonly record: ApiKeyRecord;
  readonly secret: string;
}

function makeApiKey(
  parts: Pick<Deps, 'clock' | 'random'>,
  userId: UserId,
  fields: Pick<ApiKeyRecord, 'name' | 'tokenId' | 'expiresAtMs'>,
): NewApiKey {
  const secret = makeSecret('apiKey', parts.random(secretRandomBytes));
  const record: ApiKeyRecord = {
    ...fields,
    id: newId('apiKey'),
    userId,
    secretHash: hashSecret(secret),
    createdAtMs: parts.clock(),
    lastUsedAtMs: null,
  };
  return { record, secret };
}

function recordApiKey(parts: Pick<Deps, 'clock'>, tx: Transaction, by: AuditActor, key: ApiKeyRecord): Promise<void> {
  const details = { expiresAt: new Date(key.expiresAtMs).toISOString() };
  return record(parts, tx, by, { action: 'api_key.create', accountId: key.userId, target: key, details });
}

/**
 * Makes an API key for a user, and stores it, for the operator; nothing is asked.
 *
 * @throws DomainError `invalid_field` for a lifetime that is too long
 */
export async function issueApiKey(parts: Deps, userId: UserId, name: string, days?: number): Promise<NewApiKey> {
  const expiresAtMs = lifetimeEnd(apiKeyLifetimeDays, days, parts.clock());
  const key = makeApiKey(parts, userId, { name, tokenId: null, expiresAtMs });
  await parts.store.write(async (tx) => {
    await tx.insertApiKey(key.record);
    await recordApiKey(parts, tx, 'operator', key.record);
  });
  return key;
}

export function listApiKeys(context: Context, actor: Actor, page: Page): Promise<PageOf<ApiKeyRecord>> {
  return readPage(
    page,
    (key: ApiKeyRecord) => key.id,
    (range) => context.store.read.apiKeys(actor.userId, range),
  );
}

/** @throws DomainError `not_found` */
export async function revokeApiKey(context: Context, actor: Actor, apiKeyId: string): Promise<void> {
  await context.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const key = isId('apiKey', apiKeyId) ? await tx.apiKey(apiKeyId as ApiKeyId) : undefined;
    if (key?.userId !== actor.userId) throw notFound('API key');
    await tx.deleteApiKey(key.id);
    await record(context, tx, actor, { action: 'api_key.revoke', target: key });
  });
}
