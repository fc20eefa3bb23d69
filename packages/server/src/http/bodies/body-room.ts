import type { ServerResponse } from 'node:http';
import type { UserId } from '@tenon/protocol';
import type { Parts } from '../../services.ts';
import { networkOf } from '../client-address.ts';
import { type HttpError, unavailable } from '../http-error.ts';
import type { Request } from '../request.ts';
import type { Admission } from '../route.ts';
import type { ByteBudget, ByteLease } from './body-memory.ts';

/** Whose account a caller uses, whichever of its tokens, keys and sessions they came with; `undefined` where nobody had to say. */
export function accountOf(admission: Admission): UserId | undefined {
  if ('actor' in admission) return admission.actor.userId;
  if ('apiKey' in admission) return admission.apiKey.userId;
  return 'session' in admission ? admission.session.userId : undefined;
}

/** In whose name a request uses memory: its account, or its network where it needs none. */
export function callerOf(parts: Pick<Parts, 'clients'>, admission: Admission, request: Request): string {
  return accountOf(admission) ?? networkOf(parts.clients.of(request.message));
}

/** A share of the memory for bodies that ends when the response has been sent, or its client has gone. */
export function leaseFor(budget: ByteBudget, caller: string, response: ServerResponse): ByteLease {
  const lease = budget.lease(caller);
  if (response.destroyed) lease.end();
  else response.once('close', () => lease.end());
  return lease;
}

/** Counts bytes of a response against the memory for bodies. @throws HttpError `unavailable` when that is full */
export function demandRoom(lease: ByteLease, bytes: number): void {
  if (lease.take(bytes)) return;
  throw noRoom();
}

export function noRoom(): HttpError {
  return unavailable(
    'Other requests and responses fill the memory that is set aside for bodies. Try again shortly.',
    2,
  );
}
