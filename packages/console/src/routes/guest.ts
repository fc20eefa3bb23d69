import type { PageRoute } from './page-route.ts';

/** Pages of guests, and those on which one approves something. */
export const guestRoutes: readonly PageRoute[] = [];
