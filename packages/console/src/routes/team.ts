import { appData, extensionPointData, overviewData, pluginData } from './first-requests.ts';
import type { PageRoute } from './page-route.ts';

/** Pages of an application's team. The first route that matches a URL applies. */
export const teamRoutes: readonly PageRoute[] = [
  {
    path: '/apps/:appId',
    access: 'signedIn',
    data: overviewData,
    load: async () => (await import('../pages/team/overview.tsx')).AppOverviewPage,
  },
  {
    path: '/apps/:appId/plugins',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/plugins.tsx')).AppPluginsPage,
  },
  {
    path: '/apps/:appId/extension-points',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/extension-points.tsx')).ExtensionPointsPage,
  },
  {
    path: '/apps/:appId/extension-points/new',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/extension-point-new.tsx')).NewExtensionPointPage,
  },
  {
    path: '/apps/:appId/extension-points/:extensionPointId',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/team/extension-point.tsx')).ExtensionPointPage,
  },
  {
    path: '/apps/:appId/extension-points/:extensionPointId/edit',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/team/extension-point-edit.tsx')).EditExtensionPointPage,
  },
  {
    path: '/apps/:appId/extension-points/:extensionPointId/rules',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/team/extension-point-rules.tsx')).ExtensionPointRulesPage,
  },
  {
    path: '/apps/:appId/extension-points/:extensionPointId/new-simulation',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/simulations/new-simulation.tsx')).NewSimulationPage,
  },
  {
    path: '/apps/:appId/extension-points/:extensionPointId/simulations/:name',
    access: 'signedIn',
    data: extensionPointData,
    load: async () => (await import('../pages/simulations/simulation.tsx')).SimulationPage,
  },
  {
    path: '/apps/:appId/extension-points/:extensionPointId/plugins/:userId/:name',
    access: 'signedIn',
    data: pluginData,
    load: async () => (await import('../pages/plugin/team-plugin.tsx')).TeamPluginPage,
  },
  {
    path: '/apps/:appId/guests',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/guests.tsx')).GuestsPage,
  },
  {
    path: '/apps/:appId/guests/import',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/guest-import.tsx')).GuestImportPage,
  },
  {
    path: '/apps/:appId/invitations',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/invitations.tsx')).InvitationsPage,
  },
  {
    path: '/apps/:appId/guests/:guestId',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/guest.tsx')).GuestPage,
  },
  {
    path: '/apps/:appId/approvals',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/approvals.tsx')).ApprovalsPage,
  },
  {
    path: '/apps/:appId/roll-outs',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/roll-outs/roll-outs.tsx')).RollOutsPage,
  },
  {
    path: '/apps/:appId/audit',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/audit.tsx')).AuditPage,
  },
  {
    path: '/apps/:appId/settings',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/settings.tsx')).AppSettingsPage,
  },
  {
    path: '/apps/:appId/webhooks',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/webhooks.tsx')).WebhooksPage,
  },
  {
    path: '/apps/:appId/webhooks/:webhookId',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/webhooks.tsx')).WebhookPage,
  },
  {
    path: '/apps/:appId/withdraw',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/withdraw.tsx')).WithdrawPage,
  },
  {
    path: '/apps/:appId/trusted-publishing',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/trusted-publishing.tsx')).TrustedPublishingPage,
  },
  {
    path: '/apps/:appId/members',
    access: 'signedIn',
    data: appData,
    load: async () => (await import('../pages/team/members.tsx')).MembersPage,
  },
];
