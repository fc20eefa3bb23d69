import { bindingList, loadedHeader, maxLoadedAddresses } from '@tenon/protocol';
import { bodyMemoryFull } from '../http/bodies/body-room.ts';
import { evaluateConditions } from '../http/conditions.ts';
import { DomainError } from '../http/domain-errors.ts';
import { example } from '../http/examples.ts';
import { HttpError } from '../http/http-error.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { readBindings } from './bindings.ts';
import { bindingListHeaders, cacheBindings, reserveBodyMemory, sendBindings } from './response-cache.ts';

/** The path of A2. */
export const bindingsPath = '/api/v1/extension-points/:extensionPointId/bindings/*';

const route = routeTagged('Distribution');

export const bindingRoutes: readonly Route[] = [
  route('GET', bindingsPath, {
    access: { kind: 'extensionPoint', purpose: 'readBindings' },
    rawWildcard: true,
    id: 'readBindings',
    summary: 'Fetch the binding list of a guest key: its plugins by name',
    description:
      'Send the guest key percent-encoded as one path segment, or raw, as several segments if it has slashes. The ' +
      'response is `{}` for a key without plugins, and for a key that no guest has.',
    wildcard: { name: 'guestKey', description: 'the guest key' },
    requestHeaders: {
      'if-none-match': 'the entity tags that you have cached',
      [loadedHeader]: `for the usage: the content addresses that you have loaded of this list, at most ${maxLoadedAddresses}, separated by commas; ignored if malformed`,
    },
    responses: {
      200: json(
        'the plugins by name, names in code-unit order',
        bindingList,
        {
          median: {
            id: `${example.extensionPointId}/plugin/${example.userId}/median`,
            contentAddress: example.contentAddress,
            updatedAt: example.time,
          },
        },
        {
          etag: 'strong; changes exactly when the body changes',
          'repr-digest': "`sha-256=:…:`, the body's digest (RFC 9530)",
          'cache-control': `\`${bindingListHeaders['cache-control']}\``,
          vary: `\`${bindingListHeaders.vary}\``,
        },
      ),
      304: { description: 'not modified' },
    },
    errors: ['invalid_request', 'precondition_failed'],
    handle: async (services, { request, auth, since }, reply) => {
      const { deps, usage } = services;
      const { access } = auth;
      const { headers, target, message } = request;
      const { response } = reply;
      const guestKey = decodeGuestKey(request.rawWildcard);
      const bindings = await readBindings(deps, access, guestKey);
      const list = {
        kind: 'list',
        appId: access.app.id,
        extensionPointId: access.extensionPoint.id,
        guestKey,
      } as const;
      const cell = usage.cell(access.actor, list);
      const cacheable = { authorization: headers.authorization, target, route: bindingsPath, since, usage: cell };
      cacheBindings(deps, cacheable, access, guestKey);
      const outcome = evaluateConditions(headers, bindings.etag);
      if (outcome === 'precondition_failed') {
        throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
      }
      const { userId } = access.actor;
      if (!reserveBodyMemory(services, message, response, outcome, bindings.json.length, userId))
        throw bodyMemoryFull();
      if (cell !== undefined && request.method === 'GET') usage.note(cell, headers);
      sendBindings(services, message, response, request.id, bindings, outcome);
      reply.isSent = true;
      return reply;
    },
  }),
];

/**
 * Returns the guest key in the path of an A2 request: percent-decodes everything after `/bindings/`, which may have slashes.
 *
 * @param raw the undecoded text; `undefined` if the path before it has escapes
 * @throws DomainError `invalid_request` for an invalid escape or bytes that are not UTF-8, `not_found` for `undefined`
 */
export function decodeGuestKey(raw: string | undefined): string {
  if (raw === undefined) throw new DomainError('not_found', 'No resource exists at this path.');
  if (!raw.includes('%')) return raw;
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) {
    throw new DomainError(
      'invalid_request',
      'The guest key has a percent sign without two hexadecimal digits after it.',
    );
  }
  try {
    return decodeURIComponent(raw);
  } catch (cause) {
    throw new DomainError('invalid_request', "The guest key's bytes are not UTF-8.", { cause });
  }
}
