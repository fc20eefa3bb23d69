import type { Static } from 'typebox';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { Type } from './type.ts';

/* How hosts use applications, extension points, plugins, versions, and guests. */

/** The default number of days of a report. */
export const defaultUsageDays = 30;

/** The maximum number of days of a report by day. */
export const maxUsageDays = 400;

/** The maximum number of days of a report by hour. */
export const maxHourlyUsageDays = 31;

/** The maximum number of days of series. */
export const maxSeriesDays = 90;

/** The maximum number of ids for which series can be requested at once. */
export const maxSeriesIds = 100;

/** How many content addresses {@link loadedHeader} may have. */
export const maxLoadedAddresses = 16;

/**
 * The header of a conditional list request with the content addresses of the plugins of this list that the client has loaded, separated by
 * commas.
 */
export const loadedHeader = 'tenon-loaded';

const day = (what: string) => Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: what });

/** The query of a report. */
export const usageQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxUsageDays,
      description: `the number of days up to today; ${defaultUsageDays} when it is left out, as are \`from\` and \`to\``,
    }),
  ),
  from: Type.Optional(day('the first day, such as `2026-03-01` (UTC); not with `days`')),
  to: Type.Optional(day('the last day; today when it is left out')),
  by: Type.Optional(
    oneOf(['day', 'hour'], {
      description: `one point per day or hour; \`hour\` for at most ${maxHourlyUsageDays} days`,
    }),
  ),
  format: Type.Optional(
    oneOf(['json', 'csv'], { description: 'return the series as this; by default as `accept` says' }),
  ),
});
export type UsageQuery = Static<typeof usageQuery>;

const count = (what: string) => Type.Integer({ minimum: 0, description: what });
const listRequests = count('requests for binding lists; of a plugin or a version, for lists that bind it');
const contentFetches = count('fetches of contents');
const tokens = nullable(
  count('the estimated number of distinct tokens; `null` by hour, and for guests, who may not know it'),
);

export const usagePoint = Type.Object({
  at: timestamp('when the day or hour begins'),
  listRequests,
  contentFetches,
  tokens,
});
export type UsagePoint = Static<typeof usagePoint>;

const lastUse = {
  lastListRequestAt: nullable(timestamp('the last request for a binding list, also before the period')),
  lastContentFetchAt: nullable(timestamp('the last fetch of a content, also before the period')),
  lastUsedAt: nullable(timestamp('the later of the two')),
};

/** How hosts use a version of a plugin. */
export const versionUsage = Type.Object({
  pluginId: Type.String(),
  versionId: id('version', 'the version'),
  number: Type.Integer(),
  semver: nullable(Type.String()),
  listRequests: count("requests for lists that bind the version; 0 in a guest's report"),
  contentFetches: count("fetches of the version's content; 0 in a guest's report"),
  loadReports: count(`list requests whose client has loaded the version (\`${loadedHeader}\`)`),
  lastUsedAt: nullable(timestamp("the last list request or content fetch; `null` in a guest's report")),
  lastReportedAt: nullable(timestamp('when a client last reported that it has loaded the version')),
});
export type VersionUsage = Static<typeof versionUsage>;

export const usageReport = Type.Object({
  by: oneOf(['day', 'hour']),
  from: timestamp('when the first point begins'),
  to: timestamp('when the last point ends'),
  ...lastUse,
  totals: Type.Object({ listRequests, contentFetches, tokens }, { description: 'the sums of the period' }),
  points: Type.Array(usagePoint, { description: 'one per day or hour, the oldest first, without gaps' }),
  versions: Type.Array(versionUsage, {
    description: "of a plugin: its versions that were used; of a guest: those that the guest's hosts have loaded",
  }),
  userAgents: Type.Array(
    Type.Object({
      userAgent: Type.String({ description: 'product and version; `other` for all that do not fit' }),
      requests: count('the requests with it'),
    }),
    { description: 'the programs that sent the requests, the most frequent first; empty for guests' },
  ),
});
export type UsageReport = Static<typeof usageReport>;

/** The query for the series of many subjects. */
export const usageSeriesQuery = Type.Object({
  ids: Type.String({
    maxLength: 20_000,
    description: `1 to ${maxSeriesIds} ids, separated by commas: of guests, plugins, versions, extension points, or the application`,
  }),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxSeriesDays,
      description: `the number of days up to today; ${defaultUsageDays} when it is left out`,
    }),
  ),
});

const perDay = (what: string) => Type.Array(count(''), { description: `${what} per day, the oldest first` });

export const usageSeries = Type.Object({
  id: Type.String(),
  ...lastUse,
  totals: Type.Object({ listRequests, contentFetches }),
  listRequests: perDay('requests for binding lists'),
  contentFetches: perDay('fetches of contents'),
});
export type UsageSeries = Static<typeof usageSeries>;

export const usageSeriesList = Type.Object({
  from: timestamp('when the first day begins'),
  to: timestamp('when the last day ends'),
  objects: Type.Array(usageSeries, { description: 'without ids that were never used, or that you may not see' }),
});
export type UsageSeriesList = Static<typeof usageSeriesList>;
