import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthenticatedActor } from '../domain/authenticate.ts';
import type { BindingListAnswer } from '../domain/bindings.ts';
import { memoryKey, type Snapshot } from '../domain/snapshots.ts';
import { hasTwoAuthorizations, usedBy } from './authenticate.ts';
import { evaluateConditions } from './conditions.ts';
import { corsHeaders } from './cors.ts';
import type { Parts } from './parts.ts';

/*
 * Hosts ask for the same binding lists over and over, and nearly always nothing has changed. Who is let in, and what the answer
 * is, follow from the authorization field, the target and what is stored; so for as long as the store's revision stays the
 * same, the same question has the same answer, until the token's time is up. It is given on Node's own response, before the
 * framework sees the request, which is what it takes to come near a bare server's rate.
 */

interface AskedBefore {
  readonly answer: BindingListAnswer;
  readonly actor: Pick<AuthenticatedActor, 'tokenId' | 'sessionId' | 'expiresAtMs'>;
}

const memory = memoryKey<AskedBefore>('binding lists by question');

/** Longer questions than any host's are not remembered, so that what an entry weighs has a bound. */
const maxKeyLength = 1024;

/** Answers of A2 are for the asker's own caches, which ask each time. */
export const bindingListHeaders = { 'cache-control': 'private, no-cache', vary: 'authorization' } as const;

/** What all answers of A2 have, as Node takes it without looking at each. */
const constantFields = Object.entries({
  'x-content-type-options': 'nosniff',
  ...corsHeaders,
  ...bindingListHeaders,
}).flat();

/**
 * Keeps what was answered to a question.
 *
 * @param snapshot what was current before the asker was let in
 */
export function rememberAnswer(
  snapshot: Snapshot,
  question: { readonly authorization: string | undefined; readonly target: string },
  answer: BindingListAnswer,
  { tokenId, sessionId, expiresAtMs }: AuthenticatedActor,
): void {
  const key = keyOf(question.authorization, question.target);
  if (key !== undefined) snapshot.memory(memory).set(key, { answer, actor: { tokenId, sessionId, expiresAtMs } });
}

/** Answers what was asked before; `false`, and nothing is done, when that can't be. */
export function answerAskedBefore(
  { context, uses }: Parts,
  message: IncomingMessage,
  response: ServerResponse,
  requestIdOf: (message: IncomingMessage) => string,
): boolean {
  const { headers, method, url = '' } = message;
  const key = keyOf(headers.authorization, url);
  if (key === undefined || (method !== 'GET' && method !== 'HEAD')) return false;
  const known = context.snapshots.current().memory(memory).get(key);
  if (known === undefined || known.actor.expiresAtMs <= context.clock()) return false;
  const { json, etag, reprDigest } = known.answer;
  const outcome = evaluateConditions(headers, etag);
  if (outcome === 'precondition_failed' || hasTwoAuthorizations(message)) return false;
  uses.note(usedBy(known.actor));
  const fields = ['x-request-id', requestIdOf(message), 'etag', etag, ...constantFields];
  if (outcome === 'not_modified') {
    response.writeHead(304, fields).end();
    return true;
  }
  fields.push('repr-digest', reprDigest, 'content-type', 'application/json', 'content-length', String(json.length));
  response.writeHead(200, fields);
  if (method === 'HEAD') response.end();
  else response.end(json, 'latin1'); // as text it goes out in one write with the header
  return true;
}

function keyOf(authorization: string | undefined, target: string): string | undefined {
  if (authorization === undefined || authorization.length + target.length > maxKeyLength) return undefined;
  return `${authorization} ${target}`;
}
