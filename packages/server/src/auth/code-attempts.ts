import type { SessionId } from '@tenon/protocol';
import { networkOf } from '../http/client-address.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { Request } from '../http/request.ts';
import type { Services } from '../services.ts';
import { type OutcomeRules, withAttemptLimits } from './attempts.ts';
import { OauthError } from './oauth/errors.ts';

/*
 * Unknown codes are counted, so that trying them out leads nowhere. Codes that exist are not, so that people behind one address
 * don't stand in each other's way.
 */

/**
 * Looks up the code of an invitation or a link. Unknown codes are counted by the client's network.
 *
 * @throws TooManyAttemptsError before anything is looked up
 */
export function withCodeTries<T>(services: Services, request: Request, lookUp: () => Promise<T>): Promise<T> {
  return tried(services, [networkOfRequest(services, request)], lookUp, { ofError: ifNotFound });
}

/**
 * Looks up a user code, which is short. Unknown codes are counted by the client's network and by the session: a client that has
 * many of one has few of the other.
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
  return tried(services, keys, lookUp, { ofError: ifNotFound });
}

/**
 * Redeems an authorization code or a device code. Unknown codes are counted by the client's network.
 *
 * @throws TooManyAttemptsError before anything is looked up
 */
export function withGrantTries<T>(services: Services, request: Request, redeem: () => Promise<T>): Promise<T> {
  return tried(services, [`grant ${networkOfRequest(services, request)}`], redeem, {
    ofError: (error) => (error instanceof OauthError && error.code === 'invalid_grant' ? 'wrong' : 'undecided'),
  });
}

/**
 * Revokes a token. Unknown tokens are counted by the client's network; a known one is revoked however many were unknown.
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
  await tried(services, keys, async () => {}, { ofResult: () => 'wrong' });
}

function tried<T>(
  { codeTries }: Services,
  keys: readonly string[],
  work: () => Promise<T>,
  judge: OutcomeRules<T>,
): Promise<T> {
  const message = 'Too many unknown codes were tried.';
  return withAttemptLimits(
    keys.map((key) => ({ limiter: codeTries, key, message })),
    work,
    judge,
  );
}

function networkOfRequest({ clients }: Services, { message }: Request): string {
  return networkOf(clients.of(message));
}

function ifNotFound(error: unknown): 'wrong' | 'undecided' {
  return error instanceof DomainError && error.code === 'not_found' ? 'wrong' : 'undecided';
}
