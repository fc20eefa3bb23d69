import { pageQuery, quotaOverride, quotaOverrideInput, quotaUse } from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { toQuotaOverride, toQuotaUse } from './account-wire.ts';
import { listQuotaOverrides, readQuotasOf, setQuotaOverride } from './quota-overrides.ts';
import { readAccountQuotas, readAppQuotas } from './quotas.ts';

const exampleOf = (name: string, what: string, limit: number, used: number) => ({
  quotas: [{ name, what, isBytes: false, limit, used, source: 'default' as const }],
});

const appRoute = routeTagged('Applications');
const accountRoute = routeTagged('Account');
const userRoute = routeTagged('Users');

const operatorAccess = { kind: 'user', scope: 'manage', userLevel: true, operator: true } as const;
const overridePath = '/api/v1/quota-overrides/:subjectId/:name';
const subject = 'The subject is an account (`usr_…`) or an application (`app_…`).';

export const quotaRoutes: readonly Route[] = [
  accountRoute('GET', '/api/v1/me/quotas', {
    access: { kind: 'user', scope: 'read', userLevel: true },
    id: 'readAccountQuotas',
    summary: "Read your account's quota usage",
    responses: {
      200: json('each quota', quotaUse, exampleOf('applications', 'applications that the account owns', 20, 3)),
    },
    handle: async ({ deps }, { auth }) => toQuotaUse(await readAccountQuotas(deps, deps.store.read, auth.actor.userId)),
  }),
  appRoute('GET', '/api/v1/apps/:appId/quotas', {
    access: { kind: 'app', purpose: 'readMembers' },
    id: 'readAppQuotas',
    summary: "Read an application's quota usage",
    description: 'The response omits the quotas on publishes per hour and on a single plugin.',
    responses: { 200: json('each quota', quotaUse, exampleOf('plugins', 'plugins', 10_000, 12)) },
    handle: async ({ deps }, { auth }) => toQuotaUse(await readAppQuotas(deps, deps.store.read, auth.access.app.id)),
  }),
  userRoute('GET', '/api/v1/quota-overrides', {
    access: operatorAccess,
    query: pageQuery,
    id: 'listQuotaOverrides',
    summary: 'List the quotas that operators have set for one account or application',
    description: 'For operators.',
    responses: {
      200: jsonList('the quotas', quotaOverride, {
        subjectId: example.appId,
        subjectName: 'Acme Spreadsheet',
        name: 'plugins',
        limit: 20_000,
        updatedAt: example.time,
      }),
    },
    errors: ['forbidden'],
    handle: async ({ deps }, { query }) => toList(await listQuotaOverrides(deps, toPage(query)), toQuotaOverride),
  }),
  userRoute('GET', '/api/v1/quota-overrides/:subjectId', {
    access: operatorAccess,
    id: 'readQuotasOf',
    summary: 'Read the quota usage of any account or application',
    description: `For operators. ${subject}`,
    responses: { 200: json('each quota', quotaUse, exampleOf('plugins', 'plugins', 10_000, 12)) },
    errors: ['forbidden', 'not_found'],
    handle: async ({ deps }, { params }) => toQuotaUse(await readQuotasOf(deps, params.subjectId)),
  }),
  userRoute('PUT', overridePath, {
    access: operatorAccess,
    body: jsonBody(quotaOverrideInput, { limit: 20_000 }),
    id: 'setQuotaOverride',
    summary: 'Set a quota of one account or application, on all nodes within a second',
    description: `For operators. It takes precedence over \`TENON_QUOTAS\`. ${subject}`,
    responses: { 204: { description: 'set' } },
    errors: ['forbidden', 'step_up_required', 'not_found', 'invalid_request'],
    handle: async ({ deps }, { auth, params, body }) =>
      void (await setQuotaOverride(deps, auth.actor, params.subjectId, params.name, body.limit)),
  }),
  userRoute('DELETE', overridePath, {
    access: operatorAccess,
    id: 'deleteQuotaOverride',
    summary: 'Remove a quota that operators have set, so that the setting or the default applies',
    description: `For operators. ${subject}`,
    responses: { 204: { description: 'not set' } },
    errors: ['forbidden', 'step_up_required', 'not_found', 'invalid_request'],
    handle: async ({ deps }, { auth, params }) =>
      void (await setQuotaOverride(deps, auth.actor, params.subjectId, params.name, null)),
  }),
];
