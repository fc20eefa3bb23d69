import { appData, extensionPointData } from './first-requests.ts';
import type { PageRoute } from './page-route.ts';

/** Pages of guests, and pages to approve a login. */
export const guestRoutes: readonly PageRoute[] = [
  {
    path: '/accept-invite',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/accept-invite.tsx')).AcceptInvitePage,
  },
  {
    path: '/oauth/authorize',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/authorize.tsx')).AuthorizePage,
  },
  {
    path: '/device',
    access: 'anyone',
    isBare: true,
    load: async () => (await import('../pages/device.tsx')).DevicePage,
  },
  {
    path: '/apps/:appId/my-plugins',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/guest/app.tsx')).GuestAppPage,
  },
  {
    path: '/apps/:appId/my-plugins/:extensionPointId',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/guest/extension-point.tsx')).PublishPage,
  },
  {
    path: '/apps/:appId/my-plugins/:extensionPointId/:name',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/plugin/guest-plugin.tsx')).GuestPluginPage,
  },
];
