import { quotaUse } from '@tenon/protocol';
import { readAccountQuotas, readAppQuotas } from '../../domain/quotas.ts';
import { json, type Route, route } from '../route.ts';
import { toQuotaUse } from '../wire.ts';

const description = 'Without the quotas on publishes per hour and on a single plugin.';

const useOf = (name: string, what: string, limit: number, used: number) => ({
  quotas: [{ name, what, isBytes: false, limit, used }],
});

export const quotaRoutes: readonly Route[] = [
  route('GET', '/api/v1/me/quotas', {
    access: { kind: 'user', scope: 'read', userLevel: true },
    doc: {
      id: 'readAccountQuotas',
      tag: 'Account',
      summary: "Read your account's quota usage",
      answers: {
        200: json('each quota', quotaUse, useOf('applications', 'applications that the account owns', 20, 3)),
      },
    },
    handle: async ({ context }, { admission }) => toQuotaUse(await readAccountQuotas(context, admission.actor.userId)),
  }),
  route('GET', '/api/v1/apps/:appId/quotas', {
    access: { kind: 'app', purpose: 'readMembers' },
    doc: {
      id: 'readAppQuotas',
      tag: 'Applications',
      summary: "Read an application's quota usage",
      description,
      answers: { 200: json('each quota', quotaUse, useOf('plugins', 'plugins', 10_000, 12)) },
    },
    handle: async ({ context }, { admission }) => toQuotaUse(await readAppQuotas(context, admission.access.app.id)),
  }),
];
