import type { ServerResponse } from 'node:http';
import type { UserId } from '@tenon/protocol';
import type { Services } from '../../services.ts';
import { networkOf } from '../client-address.ts';
import { type HttpError, unavailable } from '../http-error.ts';
import type { Request } from '../request.ts';
import type { AuthContext } from '../route.ts';
import type { ByteBudget, ByteLease } from './body-memory.ts';

/** Returns the account of a token, key or session; `undefined` for requests without credentials. */
export function accountOf(auth: AuthContext): UserId | undefined {
  if ('actor' in auth) return auth.actor.userId;
  if ('apiKey' in auth) return auth.apiKey.userId;
  return 'session' in auth ? auth.session.userId : undefined;
}

/** Returns the key of a request for memory limits and fair queues: its account, or else its client's network. */
export function callerOf(services: Pick<Services, 'clients'>, auth: AuthContext, request: Request): string {
  return accountOf(auth) ?? networkOf(services.clients.of(request.message));
}

/** Returns a lease of the memory for bodies that ends when the response has been sent or the client has disconnected. */
export function leaseFor(budget: ByteBudget, caller: string, response: ServerResponse): ByteLease {
  const lease = budget.lease(caller);
  if (response.destroyed) lease.end();
  else response.once('close', () => lease.end());
  return lease;
}

/** Reserves memory for a response. @throws HttpError `unavailable` when the memory for bodies is full */
export function reserveBytes(lease: ByteLease, bytes: number): void {
  if (lease.take(bytes)) return;
  throw bodyMemoryFull();
}

/** Returns a function that reserves memory until the response has been sent. @throws HttpError `unavailable` */
export function reserveFrom(
  services: Pick<Services, 'bodyBudget' | 'clients'>,
  auth: AuthContext,
  request: Request,
  response: ServerResponse,
): (bytes: number) => void {
  const lease = leaseFor(services.bodyBudget, callerOf(services, auth, request), response);
  return (bytes) => reserveBytes(lease, bytes);
}

export function bodyMemoryFull(): HttpError {
  return unavailable(
    'Other requests and responses fill the memory that is set aside for bodies. Try again shortly.',
    2,
  );
}
