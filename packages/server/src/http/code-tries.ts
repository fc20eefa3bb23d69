import type { FastifyRequest } from 'fastify';
import { DomainError } from '../domain/errors.ts';
import { rateLimited } from './authenticate.ts';
import { networkOf } from './client-address.ts';
import type { Parts } from './parts.ts';

/**
 * Looks the code of an invitation or a link up. Codes that nobody has are counted by the client's address, so that trying them out leads
 * nowhere; those that exist are not, so that people behind one address don't stand in each other's way.
 *
 * @throws HttpError `rate_limited`, before anything is looked up
 */
export async function withCodeTries<T>(parts: Parts, request: FastifyRequest, lookUp: () => Promise<T>): Promise<T> {
  const address = networkOf(parts.clients.of(request.raw));
  const seconds = await parts.codeTries.check(address);
  if (seconds > 0) throw rateLimited('Too many unknown codes came from your address.', seconds);
  try {
    return await lookUp();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not_found') await parts.codeTries.take(address);
    throw error;
  }
}
