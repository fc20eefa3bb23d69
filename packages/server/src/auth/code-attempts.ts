import type { SessionId } from '@tenon/protocol';
import { networkOf } from '../http/client-address.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { Request } from '../http/request.ts';
import type { Services } from '../services.ts';
import { type OutcomeRules, withAttemptLimits } from './attempts.ts';
import { OauthError } from './oauth/errors.ts';

/*
 * Rate limits for guessing codes. Only unknown codes count, so that users behind one address don't block each other.
 */

/**
 * Looks up the code of an invitation or a link. Unknown codes are counted by the client's network.
 *
 * @throws TooManyAttemptsError before anything is looked up
 */
export function withCodeTries<T>(services: Services, request: Request, lookUp: () => Promise<T>): Promise<T> {
  return withCodeLimits(services, [`code ${networkOfRequest(services, request)}`], lookUp, { ofError: ifNotFound });
}

/**
 * Looks up a user code, which is short. Unknown codes are counted by the client's network and by the session, because a
 * client may have many addresses or many sessions, but hardly both.
 *
 * @throws TooManyAttemptsError before anything is looked up
 */
export function withUserCodeTries<T>(
  services: Services,
  request: Request,
  sessionId: SessionId,
  lookUp: () => Promise<T>,
): Promise<T> {
  const keys = [`user code ${networkOfRequest(services, request)}`, `user code ${sessionId}`];
  return withCodeLimits(services, keys, lookUp, { ofError: ifNotFound });
}

/**
 * Redeems an authorization code or a device code. Unknown codes are counted by the client's network.
 *
 * @throws TooManyAttemptsError before anything is looked up
 */
export function withGrantTries<T>(services: Services, request: Request, redeem: () => Promise<T>): Promise<T> {
  return withCodeLimits(services, [`grant ${networkOfRequest(services, request)}`], redeem, {
    ofError: (error) => (error instanceof OauthError && error.code === 'invalid_grant' ? 'wrong' : 'undecided'),
  });
}

/**
 * Revokes a token. Unknown tokens are counted by the client's network; a known one is always revoked.
 *
 * @param revoke returns whether the token was known
 * @throws TooManyAttemptsError for an unknown token
 */
export async function withRevocationTries(
  services: Services,
  request: Request,
  revoke: () => Promise<boolean>,
): Promise<void> {
  if (await revoke()) return;
  const keys = [`revocation ${networkOfRequest(services, request)}`];
  await withCodeLimits(services, keys, async () => {}, { ofResult: () => 'wrong' }); // only counts
}

function withCodeLimits<T>(
  { codeTries }: Services,
  keys: readonly string[],
  work: () => Promise<T>,
  rules: OutcomeRules<T>,
): Promise<T> {
  const message = 'Too many unknown codes were tried.';
  return withAttemptLimits(
    keys.map((key) => ({ limiter: codeTries, key, message })),
    work,
    rules,
  );
}

function networkOfRequest({ clients }: Services, { message }: Request): string {
  return networkOf(clients.of(message));
}

function ifNotFound(error: unknown): 'wrong' | 'undecided' {
  return error instanceof DomainError && error.code === 'not_found' ? 'wrong' : 'undecided';
}
