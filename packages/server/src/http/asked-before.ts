import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Actor, accessCacheTags, type ExtensionPointAccess } from '../domain/access.ts';
import type { BindingListResponse } from '../domain/bindings.ts';
import type { Context } from '../domain/context.ts';
import type { MemoryKind } from '../domain/memories/memories.ts';
import { listSubject, type Subject } from '../domain/memories/subject.ts';
import type { Moment } from '../domain/memories/touch-log.ts';
import { hasRepeatedField, usedBy } from './authenticate.ts';
import { evaluateConditions } from './conditions.ts';
import { corsHeaders } from './cors.ts';
import { leaseFor } from './count-response.ts';
import { showsBrowser, transportSecurity } from './known-hosts.ts';
import type { Parts } from './parts.ts';

/*
 * Hosts ask for the same binding lists over and over, and nearly always nothing has changed. Who is let in, and what the answer
 * is, follow from the authorization field, the target and what is stored; so until the token, the asker's account, the
 * application, the extension point or the list is touched, the same question has the same answer, as long as the token's time isn't
 * up. It is given on Node's own response, before the framework sees the request, which is what it takes to come near a bare
 * server's rate.
 */

interface AskedBefore {
  readonly answer: BindingListResponse;
  readonly actor: Pick<Actor, 'userId' | 'tokenId' | 'sessionId' | 'expiresAtMs'>;
  readonly subjects: readonly Subject[];
}

const kind: MemoryKind<AskedBefore> = {
  name: 'binding lists by question',
  subjects: ({ subjects }) => subjects,
  weigh: ({ answer }) => answer.json.length, // mostly the list's own, but an older one is kept by this alone
};

/** Longer questions than any host's are not remembered, so that what an entry weighs has a bound. */
const maxKeyLength = 1024;

/** Longer lists count against the memory for bodies while they are sent. */
const countedLength = 16 * 1024;

/** Answers of A2 are for the asker's own caches, which ask each time. */
export const bindingListHeaders = { 'cache-control': 'private, no-cache', vary: 'authorization' } as const;

/** What all answers of A2 have, as Node takes it without looking at each. */
const constantFields = Object.entries({
  'x-content-type-options': 'nosniff',
  ...corsHeaders,
  ...bindingListHeaders,
}).flat();

/** Who asks for what. */
interface Question {
  readonly authorization: string | undefined;
  /** As it was sent. */
  readonly target: string;
  /** What the target means by it. */
  readonly guestKey: string;
}

/**
 * Keeps what was answered to a question.
 *
 * @param since a moment before the asker was let in
 */
export function rememberAnswer(
  { memories }: Context,
  question: Question,
  answer: BindingListResponse,
  access: ExtensionPointAccess,
  since: Moment,
): void {
  const key = keyOf(question.authorization, question.target);
  if (key === undefined) return;
  const { actor } = access;
  const subjects = [...accessCacheTags(access), listSubject(access.extensionPoint.id, question.guestKey)];
  memories.of(kind).set(key, { answer, actor, subjects }, since);
}

/** What was answered to a question, if that still holds. */
export function recallAnswer(
  { memories, clock }: Context,
  question: Pick<Question, 'authorization' | 'target'>,
): AskedBefore | undefined {
  const key = keyOf(question.authorization, question.target);
  const known = key === undefined ? undefined : memories.of(kind).get(key);
  return known === undefined || known.actor.expiresAtMs <= clock() ? undefined : known;
}

/** Answers what was asked before; `false`, and nothing is done, when that can't be. */
export function answerAskedBefore(
  { context, uses, bodyBudget, addresses }: Parts,
  message: IncomingMessage,
  response: ServerResponse,
  requestIdOf: (message: IncomingMessage) => string,
): boolean {
  const { headers, method, url: target = '' } = message;
  if (method !== 'GET' && method !== 'HEAD') return false;
  // The framework looks at the host of what browsers send.
  if (showsBrowser(message) || headers.cookie !== undefined) return false;
  const known = recallIfTold(context, { authorization: headers.authorization, target });
  if (known === undefined) return false;
  const { json, etag, reprDigest } = known.answer;
  const outcome = evaluateConditions(headers, etag);
  if (outcome === 'precondition_failed') return false;
  if (hasRepeatedField(message, 'authorization') || hasRepeatedField(message, 'host')) return false;
  uses.note(usedBy(known.actor));
  // A small one fits into the socket's own buffers. For a large one without room the framework answers, with an error.
  const isLarge = outcome !== 'not_modified' && method === 'GET' && json.length > countedLength;
  if (isLarge && !leaseFor(bodyBudget, known.actor.userId, response).take(json.length)) return false;
  const fields = ['x-request-id', requestIdOf(message), 'etag', etag, ...constantFields];
  if (addresses.base().startsWith('https:')) fields.push(...transportSecurity);
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

/** The framework asks the store again, and answers with what keeps it from telling; thrown here it would end the process. */
function recallIfTold(context: Context, question: Parameters<typeof recallAnswer>[1]): AskedBefore | undefined {
  try {
    return recallAnswer(context, question);
  } catch {
    return undefined;
  }
}

function keyOf(authorization: string | undefined, target: string): string | undefined {
  if (authorization === undefined || authorization.length + target.length > maxKeyLength) return undefined;
  return `${authorization} ${target}`;
}
