import { quotaUse } from '@tenon/protocol';
import { json, type Route, routeTagged } from '../http/route.ts';
import { toQuotaUse } from './account-wire.ts';
import { readAccountQuotas, readAppQuotas } from './quotas.ts';

const exampleOf = (name: string, what: string, limit: number, used: number) => ({
  quotas: [{ name, what, isBytes: false, limit, used }],
});

const appRoute = routeTagged('Applications');
const accountRoute = routeTagged('Account');

export const quotaRoutes: readonly Route[] = [
  accountRoute('GET', '/api/v1/me/quotas', {
    access: { kind: 'user', scope: 'read', userLevel: true },
    id: 'readAccountQuotas',
    summary: "Read your account's quota usage",
    responses: {
      200: json('each quota', quotaUse, exampleOf('applications', 'applications that the account owns', 20, 3)),
    },
    handle: async ({ deps }, { auth }) => toQuotaUse(await readAccountQuotas(deps, auth.actor.userId)),
  }),
  appRoute('GET', '/api/v1/apps/:appId/quotas', {
    access: { kind: 'app', purpose: 'readMembers' },
    id: 'readAppQuotas',
    summary: "Read an application's quota usage",
    description: 'The response omits the quotas on publishes per hour and on a single plugin.',
    responses: { 200: json('each quota', quotaUse, exampleOf('plugins', 'plugins', 10_000, 12)) },
    handle: async ({ deps }, { auth }) => toQuotaUse(await readAppQuotas(deps, auth.access.app.id)),
  }),
];
