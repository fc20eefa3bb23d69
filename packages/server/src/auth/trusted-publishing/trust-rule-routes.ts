import { pageQuery, type TrustRule, trustRule, trustRuleInput } from '@tenon/protocol';
import { jsonBody } from '../../http/bodies/json-body.ts';
import { example } from '../../http/examples.ts';
import { toList, toPage } from '../../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../../http/route.ts';
import { time, timeOrNull } from '../../http/wire-time.ts';
import { toOwnPlugin } from '../token-restriction.ts';
import type { TrustRuleWithUser } from './trust-rule-queries.ts';
import {
  createTrustRule,
  deleteTrustRule,
  deleteTrustRuleOfApp,
  listTrustRules,
  listTrustRulesOfApp,
} from './trust-rules.ts';

const route = routeTagged('Tokens and keys');

const inputExample = {
  plugin: { extensionPointId: example.extensionPointId, name: 'median' },
  provider: 'github' as const,
  claims: { repository: 'octo/median', environment: 'release' },
};

const ruleExample: TrustRule = {
  ...inputExample,
  id: 'tru_01j29hxk3mfpq8ad68ha6hbsex',
  user: { id: example.userId, name: 'Ada' },
  appId: example.appId,
  guestId: null,
  issuer: 'https://token.actions.githubusercontent.com',
  createdAt: example.time,
  lastUsedAt: null,
};

export const trustRuleRoutes: readonly Route[] = [
  route('GET', '/api/v1/trust-rules', {
    access: { kind: 'user', scope: 'read', userLevel: true },
    query: pageQuery,
    id: 'listTrustRules',
    summary: 'List your rules of trusted publishing',
    responses: { 200: jsonList('the rules', trustRule, ruleExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listTrustRules(deps, auth.actor, toPage(query)), toTrustRule),
  }),
  route('POST', '/api/v1/trust-rules', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    body: jsonBody(trustRuleInput, inputExample),
    id: 'createTrustRule',
    summary: 'Let CI jobs publish in your name, without a stored token',
    description:
      'A job whose identity token has the issuer, the claims, and the URL of this server as its only audience gets a token for ' +
      '15 minutes ([RFC 8693](https://www.rfc-editor.org/rfc/rfc8693)). In a browser session, it needs step-up.',
    responses: { 201: json('the rule', trustRule, ruleExample) },
    errors: ['forbidden', 'step_up_required', 'limit_exceeded'],
    handle: async ({ deps }, { auth, body }) => toTrustRule(await createTrustRule(deps, auth.actor, body)),
  }),
  route('DELETE', '/api/v1/trust-rules/:trustRuleId', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    id: 'deleteTrustRule',
    summary: 'Delete a rule of trusted publishing, and revoke its tokens',
    responses: { 204: { description: 'deleted' } },
    errors: ['not_found'],
    handle: ({ deps }, { auth, params }) => deleteTrustRule(deps, auth.actor, params.trustRuleId),
  }),
  route('GET', '/api/v1/apps/:appId/trust-rules', {
    access: { kind: 'app', purpose: 'readGuests' },
    query: pageQuery,
    id: 'listAppTrustRules',
    summary: "List the rules by which CI jobs publish an application's plugins",
    description: 'Members can see the rules of all publishers.',
    responses: { 200: jsonList('the rules', trustRule, ruleExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listTrustRulesOfApp(deps, auth.access, toPage(query)), toTrustRule),
  }),
  route('DELETE', '/api/v1/apps/:appId/trust-rules/:trustRuleId', {
    access: { kind: 'app', purpose: 'decideOnPlugins' },
    id: 'deleteAppTrustRule',
    summary: "Delete a publisher's rule of trusted publishing, and revoke its tokens",
    responses: { 204: { description: 'deleted' } },
    errors: ['not_found'],
    handle: ({ deps }, { auth, params }) => deleteTrustRuleOfApp(deps, auth.access, params.trustRuleId),
  }),
];

function toTrustRule(rule: TrustRuleWithUser): TrustRule {
  const { id, userId, userName, appId, guestId, provider, issuer, claims, createdAtMs, lastUsedAtMs } = rule;
  return {
    id,
    user: { id: userId, name: userName },
    appId,
    plugin: toOwnPlugin(rule),
    guestId,
    provider,
    issuer,
    claims,
    createdAt: time(createdAtMs),
    lastUsedAt: timeOrNull(lastUsedAtMs),
  };
}
