import type { Reply } from '../http/reply.ts';
import { type Route, routeTagged } from '../http/route.ts';
import { cacheContent } from './response-cache.ts';
import { contentHeaders, contentRequestHeaders, contentResponses, sendContent } from './send-content.ts';

/** Contents never change, so clients may cache them forever. Shared caches may not: access is checked per request. */
const cacheControl = 'private, max-age=31536000, immutable';

/** The path of A3. */
const contentPath = '/api/v1/c/:contentAddress';

const route = routeTagged('Distribution');

export const contentRoutes: readonly Route[] = [
  route('GET', contentPath, {
    access: { kind: 'content' },
    id: 'readContent',
    summary: "Fetch content: a plugin's bytes by their address",
    description: 'For members of the application and the publisher. Older and yanked versions stay available.',
    requestHeaders: contentRequestHeaders,
    responses: contentResponses(cacheControl),
    errors: ['not_found', 'insufficient_scope', 'precondition_failed', 'range_not_satisfiable', 'content_damaged'],
    handle: async (services, { request, auth: { actor, address }, since }, reply) => {
      const { target, headers } = request;
      const { userId, appId } = actor;
      const cell = services.usage.cell(actor, { kind: 'content', address, userId, tokenAppId: appId });
      const cacheable = { authorization: headers.authorization, target, route: contentPath, since, usage: cell };
      cacheContent(services.deps, cacheable, actor, address, contentHeaders(address, cacheControl));
      const sent = await sendContent(services, address, cacheControl, request, reply);
      if (cell !== undefined && request.method === 'GET' && beginsContent(sent)) services.usage.note(cell, headers);
      return sent;
    },
  }),
];

/** Whether a response has the first byte. A client that resumes a download requests the rest. */
function beginsContent({ statusCode, fields }: Reply): boolean {
  return statusCode === 200 || (statusCode === 206 && String(fields['content-range']).startsWith('bytes 0-'));
}
