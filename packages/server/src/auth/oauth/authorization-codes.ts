import { record } from '../../audit/record.ts';
import type { AuthorizationCodeRecord } from '../../db/records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { requireSession } from '../confirmation.ts';
import { hashSecret, makeCode } from '../secrets.ts';
import { type NewToken, requireTokenQuota, storeToken } from '../tokens.ts';
import { type BrowserActor, grantScopes, isSessionOpen, type LoginDecision, requireSameUser } from './approval.ts';
import { redirectWith, redirectWithError, type ValidRequest } from './authorization-request.ts';
import { OauthError } from './errors.ts';
import { makeLoginToken } from './login-tokens.ts';
import { isCodeVerifier, verifiesChallenge } from './pkce.ts';

/** The lifetime of a code (RFC 6749 §4.1.2). It is short because the browser passes the code on to a program on the same machine. */
const codeLifetimeMs = 60_000;

/**
 * Approves or denies a login with a loopback redirect.
 *
 * @returns the URL to redirect the browser to: the client's, with a code or an error
 * @throws DomainError `conflict`, `invalid_field`, `step_up_required`, `invalid_credentials`, `rate_limited`, `not_signed_in`
 */
export async function decideAuthorization(
  deps: Deps,
  actor: BrowserActor,
  request: ValidRequest,
  decision: LoginDecision,
): Promise<string> {
  requireSameUser(actor, decision);
  const { returnTo, client, codeChallenge, deviceName } = request;
  const target = { id: client.id, name: deviceName };
  if (decision.decision === 'deny') {
    await deps.store.write((tx) =>
      record(deps, tx, actor, { action: 'login.deny', target, details: { means: 'redirect' } }),
    );
    return redirectWithError(returnTo, 'access_denied', 'The login was denied.');
  }
  const scopes = await grantScopes(deps, actor, decision, request.scopes);
  const secret = makeCode(deps.random);
  const nowMs = deps.clock();
  const code: AuthorizationCodeRecord = {
    codeHash: hashSecret(secret),
    userId: actor.userId,
    clientId: client.id,
    redirectUri: returnTo.redirectUri,
    codeChallenge,
    scopes,
    deviceName,
    sessionId: actor.sessionId,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + codeLifetimeMs,
    tokenId: null,
    usedAtMs: null,
  };
  await deps.store.write(async (tx) => {
    await requireSession(tx, actor.sessionId);
    await tx.insertAuthorizationCode(code);
    const details = { scopes, means: 'redirect' };
    await record(deps, tx, actor, { action: 'login.approve', target, details });
  });
  return redirectWith(returnTo, { code: secret });
}

/** The client's token request (RFC 6749 §4.1.3, RFC 7636 §4.5). */
interface CodeExchange {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/**
 * Exchanges a code for a token, once. If a code is used twice, it was stolen, so the token of its first use is revoked
 * (RFC 6749 §4.1.2).
 *
 * @throws OauthError `invalid_request` for an invalid verifier; `invalid_grant` for a code that is unknown, expired, used, or has
 *   another client, redirect or verifier, or if the session that approved it has ended
 */
export async function exchangeCode(deps: Deps, exchange: CodeExchange): Promise<NewToken> {
  if (!isCodeVerifier(exchange.codeVerifier)) {
    throw new OauthError('invalid_request', 'The code verifier must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~.');
  }
  const codeHash = hashSecret(exchange.code);
  // The transaction returns `undefined` instead of throwing, because the revocation for a reused code must be committed.
  const token = await deps.store.write(async (tx) => {
    const code = await tx.authorizationCodeByHash(codeHash);
    if (code !== undefined && code.usedAtMs !== null) await revokeTokenOf(deps, tx, code);
    if (code === undefined || !(await isExchangeable(deps, tx, code, exchange))) return undefined;
    const newToken = makeLoginToken(deps, code);
    const { id: tokenId, createdAtMs: usedAtMs } = newToken.record;
    await requireTokenQuota(deps, tx, code.userId);
    await storeToken(deps, tx, { userId: code.userId, sessionId: null }, newToken.record, 'login');
    await tx.useAuthorizationCode(codeHash, { tokenId, usedAtMs });
    return newToken;
  });
  if (token === undefined) {
    throw new OauthError('invalid_grant', 'The code is unknown, expired or used, or was given to another request.');
  }
  return token;
}

async function revokeTokenOf(deps: Deps, tx: Transaction, code: AuthorizationCodeRecord): Promise<void> {
  const token = code.tokenId === null ? undefined : await tx.token(code.tokenId);
  if (token === undefined) return;
  const details = { cause: 'code_used_again' };
  await record(deps, tx, 'system', { action: 'token.revoke', accountId: token.userId, target: token, details });
  await tx.deleteToken(token.id);
}

async function isExchangeable(
  deps: Deps,
  tx: Transaction,
  code: AuthorizationCodeRecord,
  { clientId, redirectUri, codeVerifier }: CodeExchange,
): Promise<boolean> {
  const isSameClient = code.clientId === clientId && code.redirectUri === redirectUri;
  if (!isSameClient || code.usedAtMs !== null || code.expiresAtMs <= deps.clock()) return false;
  if (!verifiesChallenge(codeVerifier, code.codeChallenge)) return false;
  if (!(await isSessionOpen(deps, tx, code.sessionId))) return false;
  const user = await tx.user(code.userId);
  return user !== undefined && user.deletedAtMs === null;
}
