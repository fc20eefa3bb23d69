import { bindingList } from '@tenon/protocol';
import type { FastifyReply } from 'fastify';
import { type BindingListAnswer, readBindings } from '../../domain/bindings.ts';
import { evaluateConditions } from '../conditions.ts';
import { guestKeyOfTarget } from '../guest-key-path.ts';
import { HttpError } from '../http-error.ts';
import { type Route, route } from '../route.ts';
import { example } from './examples.ts';

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
            'cache-control': '`private, no-cache`',
            vary: '`authorization`',
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
    handle: async ({ context }, { request, admission }, reply) => {
      const answer = await readBindings(context, admission.access, guestKeyOfTarget(request.originalUrl));
      return sendBindings(answer, request.headers, reply);
    },
  }),
];

function sendBindings(
  { body, etag }: BindingListAnswer,
  requestHeaders: Parameters<typeof evaluateConditions>[0],
  reply: FastifyReply,
): FastifyReply {
  const outcome = evaluateConditions(requestHeaders, etag);
  if (outcome === 'precondition_failed')
    throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
  reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  if (outcome === 'not_modified') return reply.code(304).send();
  return reply.header('content-type', 'application/json').send(body);
}
