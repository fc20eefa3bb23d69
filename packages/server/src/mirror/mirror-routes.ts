import type { MirrorSettings } from '../config/mirror-file.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { Route, Tag } from '../http/route.ts';

/** The tags of the routes that change what is the mirror's own: sessions and tokens of its accounts. Instrumentation changes nothing. */
const ownTags: ReadonlySet<Tag> = new Set(['Browser session', 'Command-line login', 'Account', 'Instrumentation']);

/** The routes of other tags that change what is the mirror's own. */
const ownRoutes: ReadonlySet<string> = new Set([
  'POST /api/v1/tokens',
  'DELETE /api/v1/tokens/:tokenId',
  'POST /api/v1/api-keys',
  'DELETE /api/v1/api-keys/:apiKeyId',
]);

/** The source signs it. A mirror has only the public keys. */
const signedBySource = '/api/v1/extension-points/:extensionPointId/attestation';

/** Whether a mirror refuses a route, because it would change what the source decides, or sign it. */
export function isRefusedByMirror({ method, path, tag }: Pick<Route, 'method' | 'path' | 'tag'>): boolean {
  if (path === signedBySource) return true;
  return method !== 'GET' && !ownTags.has(tag) && !ownRoutes.has(`${method} ${path}`);
}

/** Returns the routes of a mirror. It refuses a change before it reads credentials or a body, with `mirror_read_only`. */
export function mirrorRoutes(routes: readonly Route[], { source }: Pick<MirrorSettings, 'source'>): readonly Route[] {
  return routes.map((route) => {
    if (!isRefusedByMirror(route)) return route;
    const { query: _query, body: _body, ...others } = route;
    return {
      ...others,
      access: { kind: 'public' },
      beforeBody() {
        throw new DomainError('mirror_read_only', `This server is a read-only mirror. Send changes to ${source}.`);
      },
    };
  });
}
