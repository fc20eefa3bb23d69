import { pluginId, type UsagePoint, type UsageReport, type UsageSeries, type VersionUsage } from '@tenon/protocol';
import { csvLine } from '@tenon/protocol/csv';
import type { UsageDayRecord, UsageSubjectRecord } from '../db/usage-records.ts';
import { dayMs, type Usage } from './read-usage.ts';
import { estimate, mergeSketch, type Sketch } from './sketch.ts';
import type { UsagePeriod, VersionUsageRecord } from './usage-queries.ts';

const hoursPerDay = 24;
const hourMs = dayMs / hoursPerDay;

export const wireTime = (ms: number): string => new Date(ms).toISOString();
const maybeTime = (ms: number | null): string | null => (ms === null ? null : wireTime(ms));

/**
 * Converts usage to the wire format.
 *
 * @param isMember whether the caller is a member of the team. Guests don't learn about the host's tokens and programs
 */
export function toUsageReport({ period, by, subject, days, versions }: Usage, isMember: boolean): UsageReport {
  const { fromMs, toMs } = period;
  const points = by === 'day' ? pointsByDay(period, days, isMember) : pointsByHour(period, days);
  const sum = (count: (day: UsageDayRecord) => number) => days.reduce((total, day) => total + count(day), 0);
  return {
    by,
    from: wireTime(fromMs),
    to: wireTime(toMs),
    ...lastUseOf(subject),
    totals: {
      listRequests: sum(({ listRequests }) => listRequests),
      contentFetches: sum(({ contentFetches }) => contentFetches),
      tokens: isMember ? countTokens(days) : null,
    },
    points,
    versions: versions.map(toVersionUsage),
    userAgents: isMember ? agentsOf(days) : [],
  };
}

export function toUsageSeries(
  subject: UsageSubjectRecord,
  { fromMs, toMs }: UsagePeriod,
  days: readonly Pick<UsageDayRecord, 'dayMs' | 'listRequests' | 'contentFetches'>[],
): UsageSeries {
  const listRequests: number[] = new Array((toMs - fromMs) / dayMs).fill(0);
  const contentFetches = [...listRequests];
  for (const day of days) {
    const at = (day.dayMs - fromMs) / dayMs;
    listRequests[at] = day.listRequests;
    contentFetches[at] = day.contentFetches;
  }
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return {
    id: subject.id,
    ...lastUseOf(subject),
    totals: { listRequests: sum(listRequests), contentFetches: sum(contentFetches) },
    listRequests,
    contentFetches,
  };
}

/** Returns the points of a report as CSV. */
export function usageCsv({ by, points }: UsageReport): string {
  const lines = points.map(({ at, listRequests, contentFetches, tokens }) => [
    by === 'day' ? at.slice(0, 10) : at,
    String(listRequests),
    String(contentFetches),
    tokens === null ? '' : String(tokens),
  ]);
  return [[by, 'list_requests', 'content_fetches', 'tokens'], ...lines].map(csvLine).join('');
}

function lastUseOf(subject: Pick<UsageSubjectRecord, 'listedAtMs' | 'fetchedAtMs'> | undefined) {
  const { listedAtMs = null, fetchedAtMs = null } = subject ?? {};
  return {
    lastListRequestAt: maybeTime(listedAtMs),
    lastContentFetchAt: maybeTime(fetchedAtMs),
    lastUsedAt: maybeTime(lastOf(listedAtMs, fetchedAtMs)),
  };
}

function lastOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function pointsByDay({ fromMs, toMs }: UsagePeriod, days: readonly UsageDayRecord[], isMember: boolean): UsagePoint[] {
  const byTime = new Map(days.map((day) => [day.dayMs, day]));
  return timesOf(fromMs, toMs, dayMs).map((ms) => {
    const day = byTime.get(ms);
    return {
      at: wireTime(ms),
      listRequests: day?.listRequests ?? 0,
      contentFetches: day?.contentFetches ?? 0,
      tokens: isMember ? countTokens(day === undefined ? [] : [day]) : null,
    };
  });
}

function pointsByHour({ fromMs, toMs }: UsagePeriod, days: readonly UsageDayRecord[]): UsagePoint[] {
  const byTime = new Map(
    days.flatMap(({ dayMs: startMs, detail }) =>
      Object.entries(detail.hours ?? {}).map(([hour, counts]) => [startMs + Number(hour) * hourMs, counts] as const),
    ),
  );
  return timesOf(fromMs, toMs, hourMs).map((ms) => {
    const [listRequests = 0, contentFetches = 0] = byTime.get(ms) ?? [];
    return { at: wireTime(ms), listRequests, contentFetches, tokens: null };
  });
}

function timesOf(fromMs: number, toMs: number, stepMs: number): number[] {
  return Array.from({ length: (toMs - fromMs) / stepMs }, (_, index) => fromMs + index * stepMs);
}

function countTokens(days: readonly UsageDayRecord[]): number {
  const sketch: Sketch = new Map();
  for (const { detail } of days) mergeSketch(sketch, detail.tokens);
  return estimate(sketch);
}

function agentsOf(days: readonly UsageDayRecord[]): UsageReport['userAgents'] {
  const counts = new Map<string, number>();
  for (const { detail } of days) {
    for (const [agent, count] of Object.entries(detail.agents ?? {})) {
      counts.set(agent, (counts.get(agent) ?? 0) + count);
    }
  }
  return [...counts]
    .map(([userAgent, requests]) => ({ userAgent, requests }))
    .sort((a, b) => b.requests - a.requests || (a.userAgent < b.userAgent ? -1 : 1));
}

function toVersionUsage(version: VersionUsageRecord): VersionUsage {
  const { extensionPointId, userId, name, versionId, number, semver } = version;
  return {
    pluginId: pluginId(extensionPointId, userId, name),
    versionId,
    number,
    semver,
    listRequests: version.listRequests,
    contentFetches: version.contentFetches,
    loadReports: version.loadReports,
    lastUsedAt: maybeTime(lastOf(version.listedAtMs, version.fetchedAtMs)),
    lastReportedAt: maybeTime(version.reportedAtMs),
  };
}
