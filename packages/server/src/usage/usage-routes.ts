import {
  defaultUsageDays,
  maxSeriesIds,
  pluginId,
  type UsageQuery,
  usageQuery,
  usageReport,
  usageSeriesList,
  usageSeriesQuery,
} from '@tenon/protocol';
import { type AppAccess, findGuest, isMember } from '../auth/access.ts';
import { DomainError } from '../http/domain-errors.ts';
import { example } from '../http/examples.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { artifactPath, pluginTarget } from '../plugins/plugin-routes.ts';
import { findPlugin } from '../plugins/plugins.ts';
import type { Services } from '../services.ts';
import { lastDays, readUsage, type UsageTarget } from './read-usage.ts';
import { toUsageReport, toUsageSeries, usageCsv, wireTime } from './usage-wire.ts';

const route = routeTagged('Usage');

const lastUseExample = {
  lastListRequestAt: example.time,
  lastContentFetchAt: null,
  lastUsedAt: example.time,
};

const reportExample = {
  by: 'day' as const,
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  ...lastUseExample,
  totals: { listRequests: 120, contentFetches: 0, tokens: 2 },
  points: [{ at: '2026-03-01T00:00:00.000Z', listRequests: 120, contentFetches: 0, tokens: 2 }],
  versions: [
    {
      pluginId: `${example.extensionPointId}/plugin/${example.userId}/median`,
      versionId: example.versionId,
      number: 3,
      semver: '1.4.0',
      listRequests: 120,
      contentFetches: 0,
      loadReports: 118,
      lastUsedAt: example.time,
      lastReportedAt: example.time,
    },
  ],
  userAgents: [{ userAgent: 'tenon-client/0.1.0', requests: 120 }],
};

const seriesExample = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-03T00:00:00.000Z',
  objects: [
    {
      id: example.guestId,
      ...lastUseExample,
      totals: { listRequests: 120, contentFetches: 0 },
      listRequests: [0, 120],
      contentFetches: [0, 0],
    },
  ],
};

/** The parts that the declarations of reports share. */
const ofReport = (of: string) => ({
  query: usageQuery,
  summary: `Read the usage of ${of}`,
  responses: {
    200: {
      description: 'the report; with `format=csv` or `accept: text/csv` its points as CSV',
      contentType: 'text/csv',
      headers: { 'content-disposition': 'the file name of the CSV' },
      orJson: { schema: usageReport, example: reportExample },
    },
  },
});

export const usageRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps/:appId/usage', {
    ...ofReport('an application'),
    access: { kind: 'app', purpose: 'readUsage' },
    id: 'readAppUsage',
    handle: (services, { auth, query, request }, reply) =>
      respond(services, auth.access, { id: auth.access.app.id }, query, request, reply),
  }),
  route('GET', '/api/v1/extension-points/:extensionPointId/usage', {
    ...ofReport('an extension point'),
    access: { kind: 'extensionPoint', purpose: 'readUsage' },
    id: 'readExtensionPointUsage',
    handle: (services, { auth, query, request }, reply) =>
      respond(services, auth.access, { id: auth.access.extensionPoint.id }, query, request, reply),
  }),
  route('GET', '/api/v1/apps/:appId/guests/:guestId/usage', {
    ...ofReport('a guest'),
    access: { kind: 'app', purpose: 'readUsage' },
    id: 'readGuestUsage',
    handle: async (services, { auth, params, query, request }, reply) => {
      const { id } = await findGuest(services.deps.store.read, auth.access, params.guestId);
      return respond(services, auth.access, { id, guestId: id }, query, request, reply);
    },
  }),
  route('GET', `${artifactPath}/usage`, {
    ...ofReport('a plugin and its versions'),
    access: { kind: 'extensionPoint', purpose: 'readPlugins' },
    id: 'readPluginUsage',
    description: 'Members can read the usage of every plugin, guests of their own, without tokens and user agents.',
    handle: async (services, { auth, params, query, request }, reply) => {
      const { actor, access } = auth;
      const plugin = await findPlugin(services.deps.store.read, actor, access, pluginTarget(params));
      const id = pluginId(plugin.extensionPointId, plugin.userId, plugin.name);
      return respond(services, access, { id, plugin }, query, request, reply);
    },
  }),
  route('GET', '/api/v1/apps/:appId/usage/series', {
    access: { kind: 'app', purpose: 'readPlugins' },
    query: usageSeriesQuery,
    id: 'listUsageSeries',
    summary: 'Read the usage per day of up to 100 guests, plugins, versions, or extension points',
    description: 'For charts in lists. Guests get their own plugins and the versions of these.',
    responses: { 200: json('the series, in the order of `ids`', usageSeriesList, seriesExample) },
    handle: async ({ deps }, { auth: { actor, access }, query }) => {
      const ids = idsOf(query.ids);
      const period = lastDays(deps.clock(), query.days ?? defaultUsageDays);
      const { read } = deps.store;
      const found = (await read.usageSubjects(ids)).filter(
        ({ appId, userId }) => appId === access.app.id && (isMember(access) || userId === actor.userId),
      );
      const subjects = new Map(found.map((subject) => [subject.id, subject]));
      const counts = Map.groupBy(await read.usageCounts([...subjects.keys()], period), ({ subjectId }) => subjectId);
      return {
        from: wireTime(period.fromMs),
        to: wireTime(period.toMs),
        objects: ids.flatMap((id) => {
          const subject = subjects.get(id);
          return subject === undefined ? [] : [toUsageSeries(subject, period, counts.get(id) ?? [])];
        }),
      };
    },
  }),
];

/** @throws DomainError `invalid_request` */
function idsOf(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').filter((id) => id !== ''))];
  if (ids.length >= 1 && ids.length <= maxSeriesIds) return ids;
  throw new DomainError(
    'invalid_request',
    `In the query, "ids" must have 1 to ${maxSeriesIds} ids (got ${ids.length}).`,
  );
}

async function respond(
  { deps }: Services,
  access: AppAccess,
  target: UsageTarget,
  query: UsageQuery,
  request: Request,
  reply: Reply,
) {
  const report = toUsageReport(await readUsage(deps, target, query), isMember(access));
  reply.header('vary', 'authorization, accept');
  if (!wantsCsv(query, request)) return report;
  return reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="usage-${target.id.replaceAll('/', '-')}.csv"`)
    .send(usageCsv(report));
}

function wantsCsv({ format }: UsageQuery, { headers }: Request): boolean {
  return format === undefined ? /^text\/csv\s*(?:[;,]|$)/i.test(headers.accept ?? '') : format === 'csv';
}
