import { guestRoutes } from './guest.ts';
import { ownRoutes } from './own.ts';
import type { PageRoute } from './page-route.ts';
import { teamRoutes } from './team.ts';

/** Every page; the server knows the same paths (`packages/server/src/console/console-routes.ts`). */
export const pageRoutes: readonly PageRoute[] = [...ownRoutes, ...teamRoutes, ...guestRoutes];
