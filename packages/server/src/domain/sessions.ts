import { isId, newId, type TokenScope, tokenScope, type UserId } from '@tenon/protocol';
import { type Actor, requireActiveToken } from './access.ts';
import { type AuditUserActor, record } from './audit/record.ts';
import { sessionActor, sessionTarget } from './audit/session-actor.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import type { MemoryKind } from './memories/memories.ts';
import { type PageOf, readPage } from './paging.ts';
import type { Page, Queries, Transaction } from './ports.ts';
import type { SessionRecord } from './records.ts';
import { hashSecret, isCode, makeCode } from './secrets.ts';
import { makeToken, type NewToken } from './tokens.ts';

/** What a browser brings along when somebody signs in. */
export interface Browser {
  readonly userAgent: string | null;
  /** The network address that it comes from. */
  readonly address: string;
  /** What of the address stands for one client, where guesses are counted. */
  readonly network: string;
  /** The secret of the session that it has had so far. */
  readonly sessionSecret: string | undefined;
  /** The secret by which an account knows it. */
  readonly browserSecret: string | undefined;
}

/** A browser in which somebody has just signed in, with the secrets that it is to keep. */
export interface StartedSession {
  readonly session: SessionRecord;
  readonly sessionSecret: string;
  readonly browserSecret: string;
}

/** How long an account knows a browser, from the last time that it got to know it. */
export const knownBrowserLifetimeMs = 365 * 24 * 60 * 60 * 1000;

/**
 * In how many browsers one can be signed in at once, and how many an account knows: beyond it, the oldest session ends, and
 * the oldest browser is forgotten.
 */
const maxBrowsers = 100;

const maxUserAgentLength = 300;

/**
 * Whether an account knows the browser: somebody who had the password has signed in there. It is looked up whether or not
 * there is an account, so that the time tells nothing.
 */
export async function isKnownBrowser(context: Context, userId: UserId | undefined, secret: string): Promise<boolean> {
  return isKnownBrowserSecret(context.store.read, userId, secret, context.clock());
}

async function isKnownBrowserSecret(
  queries: Queries,
  userId: UserId | undefined,
  secret: string,
  nowMs: number,
): Promise<boolean> {
  if (!isCode(secret)) return false;
  const browser = await queries.knownBrowserByHash(hashSecret(secret));
  return browser !== undefined && browser.userId === userId && browser.createdAtMs + knownBrowserLifetimeMs > nowMs;
}

/**
 * Signs somebody in, who has shown who they are: a new session with a new secret. What the browser was signed in as before
 * ends, whoever that was.
 */
export async function startSession(
  context: Context,
  tx: Transaction,
  userId: UserId,
  browser: Browser,
): Promise<StartedSession> {
  const nowMs = context.clock();
  const before = browser.sessionSecret && (await tx.sessionByHash(hashSecret(browser.sessionSecret)));
  if (before) await deleteSession(context, tx, sessionActor(before), before, 'signed_in_anew');
  const [oldest, ...others] = await tx.sessions(userId, { limit: maxBrowsers });
  if (oldest !== undefined && others.length === maxBrowsers - 1) {
    await deleteSession(context, tx, 'system', oldest, 'too_many');
  }

  const sessionSecret = makeCode(context.random);
  const session: SessionRecord = {
    id: newId('session'),
    userId,
    secretHash: hashSecret(sessionSecret),
    userAgent: browser.userAgent?.slice(0, maxUserAgentLength) ?? null,
    address: browser.address,
    createdAtMs: nowMs,
    lastUsedAtMs: nowMs,
    expiresAtMs: nowMs + context.limits.sessionLifetimeMs,
    confirmedAtMs: nowMs,
  };
  await tx.insertSession(session);
  const by = { ...sessionActor(session), address: session.address };
  await record(context, tx, by, { action: 'session.start', target: sessionTarget(session) });
  return { session, sessionSecret, browserSecret: await rememberBrowser(context, tx, userId, browser.browserSecret) };
}

async function rememberBrowser(
  context: Context,
  tx: Transaction,
  userId: UserId,
  secret: string | undefined,
): Promise<string> {
  const nowMs = context.clock();
  if (secret !== undefined && (await isKnownBrowserSecret(tx, userId, secret, nowMs))) return secret;
  const made = makeCode(context.random);
  await tx.insertKnownBrowser({ secretHash: hashSecret(made), userId, createdAtMs: nowMs });
  await tx.keepKnownBrowsers(userId, maxBrowsers);
  return made;
}

/** By their secrets. */
const sessions: MemoryKind<SessionRecord> = {
  name: 'sessions',
  subjects: ({ id, userId }) => [id, userId],
};

/**
 * Finds the session whose secret this is.
 *
 * @throws DomainError `not_signed_in` for none, or one that has ended
 */
export async function authenticateSession(context: Context, secret: string | undefined): Promise<SessionRecord> {
  const session = await findSession(context, secret);
  if (session === undefined) throw notSignedIn();
  return session;
}

/** As {@link authenticateSession}; `undefined` where that throws. */
export async function findSession(context: Context, secret: string | undefined): Promise<SessionRecord | undefined> {
  if (secret === undefined || !isCode(secret)) return undefined;
  const load = () => context.store.read.sessionByHash(hashSecret(secret));
  const session = await context.memories.of(sessions).getOrLoad(secret, load);
  return session !== undefined && session.expiresAtMs > context.clock() ? session : undefined;
}

/** Ends the session of who signs out in it. */
export async function endSession(context: Context, session: SessionRecord): Promise<void> {
  await context.store.write((tx) => deleteSession(context, tx, sessionActor(session), session, 'signed_out'));
}

/** Why a session ended before its time. */
type SessionEnd = 'signed_out' | 'ended_elsewhere' | 'signed_in_anew' | 'too_many';

async function deleteSession(
  context: Context,
  tx: Transaction,
  by: AuditUserActor | 'system',
  session: SessionRecord,
  cause: SessionEnd,
): Promise<void> {
  const target = sessionTarget(session);
  await record(context, tx, by, { action: 'session.end', accountId: session.userId, target, details: { cause } });
  await tx.deleteSession(session.id);
}

/** The sessions of the actor that have not ended. */
export async function listSessions(context: Context, actor: Actor, page: Page): Promise<PageOf<SessionRecord>> {
  const found = await readPage(
    page,
    (session: SessionRecord) => session.id,
    (range) => context.store.read.sessions(actor.userId, range),
  );
  const nowMs = context.clock();
  return { ...found, items: found.items.filter((session) => session.expiresAtMs > nowMs) };
}

/** @throws DomainError `not_found` for one that has ended, or is somebody else's */
export async function endOwnSession(context: Context, actor: Actor, sessionId: string): Promise<void> {
  await context.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const session = isId('session', sessionId) ? await tx.session(sessionId) : undefined;
    if (session?.userId !== actor.userId || session.expiresAtMs <= context.clock()) throw notFound('session');
    await deleteSession(context, tx, actor, session, session.id === actor.sessionId ? 'signed_out' : 'ended_elsewhere');
  });
}

/** How long the token of a session's pages works. They fetch another one in time. */
const sessionTokenLifetimeMs = 60 * 60 * 1000;

/**
 * Makes an access token of all scopes for the pages of a browser that is signed in. It ends with the session.
 *
 * @throws DomainError `not_signed_in` when that has ended meanwhile
 */
export async function issueSessionToken(context: Context, session: SessionRecord): Promise<NewToken> {
  const token = makeToken(context, session.userId, {
    name: 'browser session',
    scopes: tokenScope.anyOf.map((scope): TokenScope => scope.const),
    appId: null,
    sessionId: session.id,
    expiresAtMs: Math.min(context.clock() + sessionTokenLifetimeMs, session.expiresAtMs),
  });
  await context.store.write(async (tx) => {
    if ((await tx.session(session.id)) === undefined) throw notSignedIn();
    await tx.insertToken(token.record);
  });
  return token;
}

function notSignedIn(): DomainError {
  return new DomainError('not_signed_in', 'Nobody is signed in in this browser.');
}
