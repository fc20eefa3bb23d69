import { bindingList } from '@tenon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticatedActor } from '../../domain/authenticate.ts';
import { type BindingListAnswer, readBindings } from '../../domain/bindings.ts';
import { memoryKey } from '../../domain/snapshots.ts';
import { evaluateConditions } from '../conditions.ts';
import { guestKeyOfTarget } from '../guest-key-path.ts';
import { HttpError } from '../http-error.ts';
import type { Parts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { example } from './examples.ts';

const cacheControl = 'private, no-cache';
const vary = 'authorization, origin';

export const bindingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/v1/extension-points/:extensionPointId/bindings/*',
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    doc: {
      id: 'readBindings',
      tag: 'Distribution',
      summary: 'List the plugins bound to a guest key (A2)',
      description:
        'The guest key comes percent-encoded as one segment, or raw, as several when it has slashes. A key that has no ' +
        'plugins, or that no guest has, gives `{}`.',
      wildcard: { name: 'guestKey', description: 'the guest key' },
      requestHeaders: { 'if-none-match': 'entity tags of answers that you have' },
      answers: {
        200: {
          description: 'the plugins by name, names in code-unit order',
          schema: bindingList,
          headers: {
            etag: 'strong; changes exactly when the body does',
            'cache-control': `\`${cacheControl}\``,
            vary: `\`${vary}\``,
          },
          example: {
            median: {
              id: `${example.extensionPointId}/plugin/${example.userId}/median`,
              contentAddress: example.contentAddress,
              updatedAt: example.time,
            },
          },
        },
        304: { description: 'you have it already' },
      },
      errors: ['invalid_request', 'precondition_failed'],
    },
    shortcut: answerAsBefore,
    handle: async ({ context }, { request, admission, snapshot }, reply) => {
      const answer = await readBindings(context, admission.access, guestKeyOfTarget(request.originalUrl));
      const key = askedBeforeKey(request);
      if (key !== undefined) snapshot.memory(askedBefore).set(key, { answer, actor: admission.actor });
      const outcome = evaluateConditions(request.headers, answer.etag);
      if (outcome === 'precondition_failed') {
        throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
      }
      reply.header('etag', answer.etag).header('cache-control', cacheControl).header('vary', vary);
      if (outcome === 'not_modified') return reply.code(304).send();
      return reply.header('content-type', 'application/json').send(answer.body);
    },
  }),
];

/*
 * Hosts ask for the same lists over and over, and nearly always nothing has changed. Whoever is let in, and what the answer is,
 * follow from the authorization field, the target and what is stored; so for as long as the store's revision stays the same,
 * the same question has the same answer, until the token's time is up. It is given here without the framework's help.
 */

interface AskedBefore {
  readonly answer: BindingListAnswer;
  readonly actor: AuthenticatedActor;
}

const askedBefore = memoryKey<AskedBefore>('binding lists by request');

/** Longer questions than any host's are not remembered under; what an entry weighs then has a bound. */
const maxKeyLength = 2048;

function askedBeforeKey({ headers, originalUrl }: FastifyRequest): string | undefined {
  const key = `${headers.authorization} ${originalUrl}`;
  return key.length <= maxKeyLength ? key : undefined;
}

function answerAsBefore({ context, uses }: Parts, request: FastifyRequest, reply: FastifyReply): boolean {
  const { headers, raw } = request;
  if (headers.origin !== undefined) return false;
  const key = askedBeforeKey(request);
  const known = key === undefined ? undefined : context.snapshots.current().memory(askedBefore).get(key);
  if (known === undefined || known.actor.expiresAtMs <= context.clock()) return false;
  const { body, etag } = known.answer;
  const outcome = evaluateConditions(headers, etag);
  if (outcome === 'precondition_failed') return false;
  uses.note(known.actor.tokenId);
  const common = ['x-request-id', request.id, 'etag', etag, 'cache-control', cacheControl, 'vary', vary];
  reply.hijack();
  if (outcome === 'not_modified') {
    reply.raw.writeHead(304, common).end();
    return true;
  }
  common.push('content-type', 'application/json', 'content-length', String(body.length));
  reply.raw.writeHead(200, common).end(raw.method === 'HEAD' ? undefined : body);
  return true;
}
