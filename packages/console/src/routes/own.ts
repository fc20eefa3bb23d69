import { tracePath } from '../state/trace-path.ts';
import type { PageRoute } from './page-route.ts';

/** Pages of the user's account, and pages for all users. */
export const ownRoutes: readonly PageRoute[] = [
  {
    path: '/',
    access: 'signedIn',
    data: () => ['/api/v1/apps?maxGuests=1&sort=name&limit=50'],
    load: async () => (await import('../pages/home.tsx')).HomePage,
  },
  { path: '/account', access: 'signedIn', load: async () => (await import('../pages/account.tsx')).AccountPage },
  {
    path: '/account/tokens',
    access: 'signedIn',
    load: async () => (await import('../pages/tokens.tsx')).TokensPage,
  },
  {
    path: '/account/activity',
    access: 'signedIn',
    load: async () => (await import('../pages/account-activity.tsx')).AccountActivityPage,
  },
  {
    path: '/status',
    access: 'signedIn',
    data: () => ['/api/v1/status'],
    load: async () => (await import('../pages/status.tsx')).StatusPage,
  },
  { path: '/users', access: 'signedIn', load: async () => (await import('../pages/users.tsx')).UsersPage },
  { path: '/quotas', access: 'signedIn', load: async () => (await import('../pages/quotas.tsx')).QuotasPage },
  { path: '/users/:userId', access: 'signedIn', load: async () => (await import('../pages/user.tsx')).UserPage },
  {
    path: tracePath,
    access: 'signedIn',
    isOwnDocument: true,
    load: async () => (await import('../pages/trace.tsx')).TracePage,
  },
  {
    path: '/sign-in',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/sign-in.tsx')).SignInPage,
  },
  {
    path: '/sign-up',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/sign-up.tsx')).SignUpPage,
  },
  {
    path: '/set-up',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/set-up.tsx')).SetUpPage,
  },
  {
    path: '/reset-password',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/reset-password.tsx')).ResetPasswordPage,
  },
];
