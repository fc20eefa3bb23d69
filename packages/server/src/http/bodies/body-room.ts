import type { ServerResponse } from 'node:http';
import type { UserId } from '@tenon/protocol';
import type { Services } from '../../services.ts';
import { networkOf } from '../client-address.ts';
import { type HttpError, unavailable } from '../http-error.ts';
import type { Request } from '../request.ts';
import type { AuthContext } from '../route.ts';
import type { ByteBudget, ByteLease } from './body-memory.ts';

/** Whose account a caller uses, whichever of its tokens, keys and sessions they came with; `undefined` where nobody had to say. */
export function accountOf(auth: AuthContext): UserId | undefined {
  if ('actor' in auth) return auth.actor.userId;
  if ('apiKey' in auth) return auth.apiKey.userId;
  return 'session' in auth ? auth.session.userId : undefined;
}

/** In whose name a request uses memory: its account, or its network where it needs none. */
export function callerOf(services: Pick<Services, 'clients'>, auth: AuthContext, request: Request): string {
  return accountOf(auth) ?? networkOf(services.clients.of(request.message));
}

/** A share of the memory for bodies that ends when the response has been sent, or its client has gone. */
export function leaseFor(budget: ByteBudget, caller: string, response: ServerResponse): ByteLease {
  const lease = budget.lease(caller);
  if (response.destroyed) lease.end();
  else response.once('close', () => lease.end());
  return lease;
}

/** Counts bytes of a response against the memory for bodies. @throws HttpError `unavailable` when that is full */
export function reserveBytes(lease: ByteLease, bytes: number): void {
  if (lease.take(bytes)) return;
  throw bodyMemoryFull();
}

export function bodyMemoryFull(): HttpError {
  return unavailable(
    'Other requests and responses fill the memory that is set aside for bodies. Try again shortly.',
    2,
  );
}
