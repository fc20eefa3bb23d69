import { isId, newId, type PasskeyId, type TokenScope, tokenScope, type UserId } from '@tenon/protocol';
import { type AuditUserActor, record, sessionActor, sessionTarget } from '../audit/record.ts';
import type { CacheSpec } from '../cache/cache.ts';
import { type PageOf, readPageById } from '../db/paging.ts';
import type { SessionRecord } from '../db/records.ts';
import type { Page, Queries, Transaction, WithLastAddress } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { queueNotice } from '../mail/notices.ts';
import { type Actor, requireActiveToken, requireNotSuspended } from './access.ts';
import { toHour } from './last-used-log.ts';
import { hashSecret, isCode, makeCode } from './secrets.ts';
import { makeToken, type NewToken } from './tokens.ts';

/** The browser in which a user signs in. */
export interface Browser {
  readonly userAgent: string | null;
  /** The client's network address. */
  readonly address: string;
  /** The prefix of the address that identifies one client for rate limits. */
  readonly network: string;
  /** The secret of the browser's previous session, from its cookie. */
  readonly sessionSecret: string | undefined;
  /** The secret that identifies a browser known to the account, from its cookie. */
  readonly browserSecret: string | undefined;
}

/** A new session, with the secrets for the browser's cookies. */
export interface StartedSession {
  readonly session: SessionRecord;
  readonly sessionSecret: string;
  readonly browserSecret: string;
}

/** How long an account knows a browser. */
export const knownBrowserLifetimeMs = 365 * 24 * 60 * 60 * 1000;

/** The maximum number of an account's sessions, and of its known browsers. A new one replaces the oldest. */
const maxBrowsers = 100;

const maxUserAgentLength = 300;

/**
 * Whether an account knows the browser, because its user has signed in there. The lookup runs even if there is no account, so that
 * the timing doesn't reveal whether there is one.
 */
export async function isKnownBrowser(
  queries: Queries,
  userId: UserId | undefined,
  secret: string,
  nowMs: number,
): Promise<boolean> {
  if (!isCode(secret)) return false;
  const browser = await queries.knownBrowserByHash(hashSecret(secret));
  return browser !== undefined && browser.userId === userId && browser.createdAtMs + knownBrowserLifetimeMs > nowMs;
}

/** How a user signed in, for the audit trail. */
export type SessionMeans = 'password' | 'password_link' | 'passkey' | 'recovery_code' | 'sign_up' | 'oidc';

/**
 * Starts a session for an authenticated user. Ends the browser's previous session, which may be another user's.
 *
 * @param provider the sign-in provider that authenticated the user
 * @throws DomainError `account_suspended`
 */
export async function startSession(
  deps: Deps,
  tx: Transaction,
  userId: UserId,
  browser: Browser,
  {
    means,
    passkeyId = null,
    provider,
  }: { readonly means: SessionMeans; readonly passkeyId?: PasskeyId | null; readonly provider?: string },
): Promise<StartedSession> {
  const nowMs = deps.clock();
  const user = await tx.user(userId);
  if (user !== undefined) requireNotSuspended(user);
  await tx.updateLastSeen(new Map([[userId, toHour(nowMs)]]));
  const previous = browser.sessionSecret && (await tx.sessionByHash(hashSecret(browser.sessionSecret)));
  if (previous) await deleteSession(deps, tx, sessionActor(previous), previous, 'signed_in_anew');
  const [oldest, ...others] = await tx.sessions(userId, { limit: maxBrowsers });
  if (oldest !== undefined && others.length === maxBrowsers - 1) {
    await deleteSession(deps, tx, 'system', oldest, 'too_many');
  }

  const sessionSecret = makeCode(deps.random);
  const session: SessionRecord = {
    id: newId('session'),
    userId,
    secretHash: hashSecret(sessionSecret),
    userAgent: browser.userAgent?.slice(0, maxUserAgentLength) ?? null,
    address: browser.address,
    createdAtMs: nowMs,
    lastUsedAtMs: nowMs,
    expiresAtMs: nowMs + deps.settings.sessionLifetimeMs,
    confirmedAtMs: nowMs,
    passkeyId,
  };
  await tx.insertSession(session);
  const actor = { ...sessionActor(session), address: session.address };
  const details = provider === undefined ? { means } : { means, provider };
  await record(deps, tx, actor, { action: 'session.start', target: sessionTarget(session), details });
  const browserSecret = await rememberBrowser(deps, tx, userId, browser.browserSecret);
  if (means !== 'sign_up' && browserSecret !== browser.browserSecret) {
    const facts = { address: session.address, userAgent: session.userAgent ?? '', at: new Date(nowMs).toISOString() };
    await queueNotice(deps, tx, userId, 'signIns', { facts });
  }
  return { session, sessionSecret, browserSecret };
}

async function rememberBrowser(
  deps: Deps,
  tx: Transaction,
  userId: UserId,
  secret: string | undefined,
): Promise<string> {
  const nowMs = deps.clock();
  if (secret !== undefined && (await isKnownBrowser(tx, userId, secret, nowMs))) return secret;
  const newSecret = makeCode(deps.random);
  await tx.insertKnownBrowser({ secretHash: hashSecret(newSecret), userId, createdAtMs: nowMs });
  await tx.trimKnownBrowsers(userId, maxBrowsers);
  return newSecret;
}

/** Cached by their secrets. */
const sessions: CacheSpec<SessionRecord> = {
  name: 'sessions',
  tags: ({ id, userId }) => [id, userId],
};

/**
 * Finds the session with a secret.
 *
 * @throws DomainError `not_signed_in` if there is none, or it has ended
 */
export async function authenticateSession(deps: Deps, secret: string | undefined): Promise<SessionRecord> {
  const session = await findSession(deps, secret);
  if (session === undefined) throw notSignedIn();
  return session;
}

/** As {@link authenticateSession}, but returns `undefined` instead of throwing. */
export async function findSession(deps: Deps, secret: string | undefined): Promise<SessionRecord | undefined> {
  if (secret === undefined || !isCode(secret)) return undefined;
  const load = () => deps.store.read.sessionByHash(hashSecret(secret));
  const session = await deps.cache.of(sessions).getOrLoad(secret, load);
  return session !== undefined && session.expiresAtMs > deps.clock() ? session : undefined;
}

/** Signs out: ends the session that makes the request. */
export async function endSession(deps: Deps, session: SessionRecord): Promise<void> {
  await deps.store.write((tx) => deleteSession(deps, tx, sessionActor(session), session, 'signed_out'));
}

/** Why a session ended before it expired. */
type SessionEnd =
  | 'signed_out'
  | 'ended_elsewhere'
  | 'signed_in_anew'
  | 'too_many'
  | 'provider_logout'
  | 'identity_removed';

/** Ends a session, with an audit event. */
export async function deleteSession(
  deps: Deps,
  tx: Transaction,
  actor: AuditUserActor | 'system',
  session: SessionRecord,
  cause: SessionEnd,
): Promise<void> {
  const target = sessionTarget(session);
  await record(deps, tx, actor, { action: 'session.end', accountId: session.userId, target, details: { cause } });
  await tx.deleteSession(session.id);
}

/** Lists the actor's sessions that have not expired. */
export async function listSessions(
  deps: Deps,
  actor: Actor,
  page: Page,
): Promise<PageOf<SessionRecord & WithLastAddress>> {
  const found = await readPageById(page, (range) => deps.store.read.sessions(actor.userId, range));
  const nowMs = deps.clock();
  return { ...found, items: found.items.filter((session) => session.expiresAtMs > nowMs) };
}

/** @throws DomainError `not_found` for a session that has ended or belongs to another user */
export async function endOwnSession(deps: Deps, actor: Actor, sessionId: string): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const session = isId('session', sessionId) ? await tx.session(sessionId) : undefined;
    if (session?.userId !== actor.userId || session.expiresAtMs <= deps.clock()) throw notFound('session');
    await deleteSession(deps, tx, actor, session, session.id === actor.sessionId ? 'signed_out' : 'ended_elsewhere');
  });
}

/** The lifetime of a session's access token. The console fetches another one before it expires. */
const sessionTokenLifetimeMs = 60 * 60 * 1000;

/**
 * Creates an access token for the console in a signed-in browser. It ends with the session.
 *
 * @param scopes default: all
 * @throws DomainError `not_signed_in` if the session has ended
 */
export async function issueSessionToken(
  deps: Deps,
  session: SessionRecord,
  scopes: readonly TokenScope[] = tokenScope.anyOf.map((scope): TokenScope => scope.const),
  lifetimeMs: number = sessionTokenLifetimeMs,
): Promise<NewToken> {
  const token = makeToken(deps, session.userId, {
    name: 'browser session',
    scopes: [...scopes],
    appId: null,
    sessionId: session.id,
    expiresAtMs: Math.min(deps.clock() + lifetimeMs, session.expiresAtMs),
  });
  await deps.store.write(async (tx) => {
    if ((await tx.session(session.id)) === undefined) throw notSignedIn();
    await tx.insertToken(token.record);
  });
  return token;
}

function notSignedIn(): DomainError {
  return new DomainError('not_signed_in', 'You are not signed in in this browser.');
}
