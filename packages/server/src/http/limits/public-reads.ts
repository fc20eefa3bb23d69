import type { Services } from '../../services.ts';
import { networkOf } from '../client-address.ts';
import { TooManyAttemptsError } from '../domain-errors.ts';
import type { Request } from '../request.ts';

/**
 * Counts a read of what the server offers to everyone: packages and documentation.
 *
 * @throws TooManyAttemptsError
 */
export function limitPublicReads({ publicReads, clients }: Services, { message }: Request): void {
  const seconds = publicReads.take(networkOf(clients.of(message)));
  if (seconds > 0) throw new TooManyAttemptsError('Your address fetched too many packages and pages.', seconds);
}
