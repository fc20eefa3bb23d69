import { massYank, massYankInput, massYankQuery, publishedVersion, publishedVersionQuery } from '@tenon/protocol';
import { jsonBody } from '../http/bodies/json-body.ts';
import { DomainError } from '../http/domain-errors.ts';
import { massYankExample, publishedVersionExample } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { listPublishedVersions, type PublishFilter, yankPublished } from './mass-yank.ts';
import { toMassYank, toPublishedVersion } from './mass-yank-wire.ts';

const route = routeTagged('Team control');

const input = {
  credentialId: 'tok_01j29hxk3mfpq8ad68ha6hbsex',
  since: '2026-03-01T12:00:00Z',
  reason: 'The CI token was stolen.',
};

const effects =
  'Yanks published versions and those that wait for their minimum age, rejects those that are tested, have failed, or await approval, and ' +
  'revokes the credential. One transaction does it, for at most 5,000 versions. With `dryRun=true`, nothing changes. Give ' +
  '`credentialId`, `trustRuleId`, or `userId`.';

const listed = { 200: jsonList('the versions, the oldest first', publishedVersion, publishedVersionExample) };
const withdrawn = { 200: json('what was withdrawn', massYank, massYankExample) };

export const massYankRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps/:appId/published-versions', {
    access: { kind: 'app', purpose: 'decideOnPlugins' },
    query: publishedVersionQuery,
    id: 'listPublishedVersions',
    summary: 'List what a credential, a rule of trusted publishing, or a user published in an application',
    description: 'Versions that an older server stored have no credential: select them by `userId`.',
    responses: listed,
    handle: async ({ deps }, { auth: { access }, query }) => {
      const actor = { kind: 'team', access } as const;
      return toList(await listPublishedVersions(deps, actor, toFilter(query), toPage(query)), toPublishedVersion);
    },
  }),
  route('POST', '/api/v1/apps/:appId/published-versions/yank', {
    access: { kind: 'app', purpose: 'decideOnPlugins' },
    query: massYankQuery,
    body: jsonBody(massYankInput, input),
    id: 'yankPublishedVersions',
    summary: 'Yank everything that a credential, a rule, or a user published in an application',
    description: `${effects} A credential that has published nothing in the application is not revoked.`,
    responses: withdrawn,
    errors: ['step_up_required', 'limit_exceeded', 'conflict'],
    handle: async ({ deps }, { auth: { access }, query, body }) => {
      const isDryRun = query.dryRun === 'true';
      const yank = { filter: toFilter(body), reason: body.reason, isDryRun };
      return toMassYank(await yankPublished(deps, { kind: 'team', access }, yank), isDryRun);
    },
  }),
  route('GET', '/api/v1/me/published-versions', {
    access: { kind: 'user', scope: 'read', userLevel: true },
    query: publishedVersionQuery,
    id: 'listOwnPublishedVersions',
    summary: 'List what you published, in all applications',
    responses: listed,
    handle: async ({ deps }, { auth: { actor }, query }) => {
      const found = await listPublishedVersions(deps, { kind: 'publisher', actor }, toFilter(query), toPage(query));
      return toList(found, toPublishedVersion);
    },
  }),
  route('POST', '/api/v1/me/published-versions/yank', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    query: massYankQuery,
    body: jsonBody(massYankInput, input),
    id: 'yankOwnPublishedVersions',
    summary: 'Yank everything that one of your credentials published, in all applications',
    description: effects,
    responses: withdrawn,
    errors: ['step_up_required', 'limit_exceeded', 'conflict'],
    handle: async ({ deps }, { auth: { actor }, query, body }) => {
      const isDryRun = query.dryRun === 'true';
      const yank = { filter: toFilter(body), reason: body.reason, isDryRun };
      return toMassYank(await yankPublished(deps, { kind: 'publisher', actor }, yank), isDryRun);
    },
  }),
];

interface Selection extends Omit<PublishFilter, 'sinceMs'> {
  readonly since?: string | undefined;
}

function toFilter({ credentialId, trustRuleId, userId, since }: Selection): PublishFilter {
  const sinceMs = since === undefined ? 0 : Date.parse(since);
  if (since === undefined || (/^\d{4}-\d\d-\d\dT/.test(since) && Number.isFinite(sinceMs))) {
    return { credentialId, trustRuleId, userId, sinceMs };
  }
  throw new DomainError('invalid_request', '"since" must be a time such as 2026-03-01T12:00:00Z.');
}
