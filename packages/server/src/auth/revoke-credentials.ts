import type { RevokedCredentials, SessionId, TokenId, UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { type Actor, requireActiveToken } from './access.ts';
import { requireStepUp } from './confirmation.ts';

interface RevokeOptions {
  readonly nowMs: number;
  /** The session that stays. */
  readonly exceptSession?: SessionId | undefined;
  /** The program's token that stays. */
  readonly exceptToken?: TokenId | undefined;
  /** Whether access tokens and API keys are revoked too. Default: true. */
  readonly revokeTokens?: boolean;
}

/**
 * Revokes what was made with a user's ways to sign in: sessions, access tokens, API keys, authorization codes, approved logins whose
 * token was not fetched yet, unused links, requested changes of the address, and known browsers. The ways to sign in stay: password, passkeys, identities of providers.
 */
export async function revokeAllCredentials(
  tx: Transaction,
  userId: UserId,
  { nowMs, exceptSession, exceptToken, revokeTokens = true }: RevokeOptions,
): Promise<void> {
  await tx.deleteSessionsOf(userId, exceptSession);
  await tx.expireLinksOf(userId, nowMs);
  await tx.deleteEmailChangesOf(userId);
  await tx.deletePendingSignInsOf(userId);
  await tx.deletePendingLoginsOf(userId);
  await tx.deleteKnownBrowsersOf(userId);
  if (revokeTokens) await tx.deleteTokensAndKeysOf(userId, exceptToken);
}

/** Counts a user's credentials that have not expired. */
export async function countCredentials(
  queries: Pick<Queries, 'countSessions' | 'countTokens' | 'countApiKeys'>,
  userId: UserId,
  nowMs: number,
): Promise<RevokedCredentials> {
  return {
    sessions: await queries.countSessions(userId, nowMs),
    tokens: await queries.countTokens(userId, nowMs),
    apiKeys: await queries.countApiKeys(userId, nowMs),
  };
}

/**
 * Revokes the actor's own credentials, as {@link revokeAllCredentials}: all others, or also the session or the program's token of the
 * request.
 *
 * @returns the numbers of the revoked ones
 * @throws DomainError `step_up_required`
 */
export function revokeOwnCredentials(
  deps: Pick<Deps, 'store' | 'clock'>,
  actor: Actor,
  includesCurrent: boolean,
): Promise<RevokedCredentials> {
  const { userId, sessionId, tokenId } = actor;
  return deps.store.write(async (tx) => {
    const { name } = await requireActiveToken(tx, actor);
    await requireStepUp(deps, sessionId, tx);
    const nowMs = deps.clock();
    const user = await tx.user(userId);
    const before = await countCredentials(tx, userId, nowMs);
    const kept = includesCurrent ? {} : sessionId === null ? { exceptToken: tokenId } : { exceptSession: sessionId };
    const revoked = {
      ...before,
      sessions: before.sessions - Number(kept.exceptSession !== undefined),
      tokens: before.tokens - Number(kept.exceptToken !== undefined),
    };
    await record(deps, tx, actor, {
      action: 'account.revoke_credentials',
      target: { id: userId, name: user?.name ?? name },
      details: { ...revoked, includesCurrent },
    });
    await revokeAllCredentials(tx, userId, { nowMs, ...kept });
    return revoked;
  });
}
