import type { Route } from '../route.ts';
import { accountRoutes } from './account.ts';
import { accountDeletionRoutes } from './account-deletion.ts';
import { appRoutes } from './apps.ts';
import { auditRoutes } from './audit.ts';
import { bindingRoutes } from './bindings.ts';
import { consoleRoutes } from './console.ts';
import { contentRoutes } from './content.ts';
import { extensionPointRoutes } from './extension-points.ts';
import { guestRoutes } from './guests.ts';
import { healthRoutes } from './health.ts';
import { hostControlRoutes } from './host-control.ts';
import { instrumentRoutes } from './instrument.ts';
import { invitationRoutes } from './invitations.ts';
import { memberRoutes } from './members.ts';
import { newsRoutes } from './news.ts';
import { oauthRoutes } from './oauth.ts';
import { pluginRoutes } from './plugins.ts';
import { quotaRoutes } from './quotas.ts';
import { referenceRoutes } from './reference.ts';
import { sessionRoutes } from './session.ts';
import { sessionAuthorizationRoutes } from './session-authorization.ts';
import { statusRoutes } from './status.ts';
import { tokenRoutes } from './tokens.ts';
import { versionRoutes } from './versions.ts';

export const allRoutes: readonly Route[] = [
  ...bindingRoutes,
  ...newsRoutes,
  ...contentRoutes,
  ...pluginRoutes,
  ...versionRoutes,
  ...hostControlRoutes,
  ...appRoutes,
  ...memberRoutes,
  ...quotaRoutes,
  ...extensionPointRoutes,
  ...guestRoutes,
  ...invitationRoutes,
  ...tokenRoutes,
  ...accountRoutes,
  ...accountDeletionRoutes,
  ...auditRoutes,
  ...sessionRoutes,
  ...oauthRoutes,
  ...sessionAuthorizationRoutes,
  ...instrumentRoutes,
  ...consoleRoutes,
  ...healthRoutes,
  ...statusRoutes,
  ...referenceRoutes,
];

/** Returns the routes to serve: all, or only those of the instrumentation area and of both areas. */
export function routesOf(only: 'instrument' | undefined): readonly Route[] {
  if (only === undefined) return allRoutes;
  return allRoutes.filter(({ area = 'distribution' }) => area !== 'distribution');
}
