import type { ServerResponse } from 'node:http';
import type { FastifyRequest, onSendHookHandler } from 'fastify';
import { accountOf } from './account-of.ts';
import type { ByteBudget, ByteLease } from './bodies/byte-budget.ts';
import { networkOf } from './client-address.ts';
import { unavailable } from './http-error.ts';
import type { Parts } from './parts.ts';
import type { Admission } from './route.ts';

/** In whose name a request uses memory: its account, or its network where it needs none. */
export function callerOf(parts: Pick<Parts, 'clients'>, admission: Admission, request: FastifyRequest): string {
  return accountOf(admission) ?? networkOf(parts.clients.of(request.raw));
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
  throw unavailable('Other requests and responses fill the memory that is set aside for bodies. Try again shortly.', 2);
}

/**
 * Counts the responses that the framework sends as text, which stay in memory until the client has taken them. Only those of reads: a change
 * has been made by then and must not be answered with 503, and the share of its body lasts until its response has been sent.
 */
export function countTextHook(parts: Parts, admissionOf: (request: FastifyRequest) => Admission): onSendHookHandler {
  return (request, reply, payload, done) => {
    try {
      if (typeof payload === 'string' && request.method === 'GET' && !reply.raw.destroyed) {
        const lease = leaseFor(parts.bodyBudget, callerOf(parts, admissionOf(request), request), reply.raw);
        demandRoom(lease, Buffer.byteLength(payload));
      }
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  };
}
