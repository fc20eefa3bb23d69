import type { PageRoute } from './page-route.ts';

/** Pages of an application's team. */
export const teamRoutes: readonly PageRoute[] = [];
