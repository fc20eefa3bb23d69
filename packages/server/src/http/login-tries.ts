import type { SessionId } from '@tenon/protocol';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../domain/errors.ts';
import { OauthError } from '../domain/oauth/errors.ts';
import { rateLimited } from './authenticate.ts';
import { networkOf } from './client-address.ts';
import type { Parts } from './parts.ts';

/**
 * Looks up a user code, which is short. Codes that no login has are counted by the client's address and by the session: who has
 * many of one has few of the other.
 *
 * @throws HttpError `rate_limited`, before anything is looked up
 */
export function withUserCodeTries<T>(
  parts: Parts,
  request: FastifyRequest,
  sessionId: SessionId,
  lookUp: () => Promise<T>,
): Promise<T> {
  const keys = [`user code ${networkOf(parts.clients.of(request.raw))}`, `user code ${sessionId}`];
  return counted(parts, keys, (error) => error instanceof DomainError && error.code === 'not_found', lookUp);
}

/**
 * Redeems what a client was given. What nobody was given is counted by the client's address.
 *
 * @throws HttpError `rate_limited`, before anything is looked up
 */
export function withGrantTries<T>(parts: Parts, request: FastifyRequest, redeem: () => Promise<T>): Promise<T> {
  const keys = [`grant ${networkOf(parts.clients.of(request.raw))}`];
  return counted(parts, keys, (error) => error instanceof OauthError && error.code === 'invalid_grant', redeem);
}

/** Counts before the work is done, so that many tries at the same time are counted too; takes it back unless the try was wrong. */
async function counted<T>(
  { codeTries }: Parts,
  keys: readonly string[],
  isWrong: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  const taken: string[] = [];
  const takeBack = (): void => {
    for (const key of taken) codeTries.give(key);
  };
  for (const key of keys) {
    const seconds = await codeTries.take(key);
    if (seconds > 0) {
      takeBack();
      throw rateLimited('Too many unknown codes were tried.', seconds);
    }
    taken.push(key);
  }
  try {
    const result = await work();
    takeBack();
    return result;
  } catch (error) {
    if (!isWrong(error)) takeBack();
    throw error;
  }
}
