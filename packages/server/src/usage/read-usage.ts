import {
  defaultUsageDays,
  type GuestId,
  maxHourlyUsageDays,
  maxUsageDays,
  type UsageQuery,
  type VersionId,
} from '@tenon/protocol';
import type { PluginKey } from '../db/records.ts';
import type { Queries } from '../db/store.ts';
import type { UsageDayRecord, UsageSubjectRecord } from '../db/usage-records.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { UsagePeriod, VersionUsageRecord } from './usage-queries.ts';

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** How many versions a report has. */
const maxVersions = 100;

/** What a report reads: a subject, and for a plugin its key, for a guest its id. */
export interface UsageTarget {
  readonly id: string;
  readonly plugin?: PluginKey;
  readonly guestId?: GuestId;
}

export interface Usage {
  readonly period: UsagePeriod;
  readonly by: 'day' | 'hour';
  readonly subject: UsageSubjectRecord | undefined;
  readonly days: readonly UsageDayRecord[];
  readonly versions: readonly VersionUsageRecord[];
}

/** Returns the period of the last days, today included. */
export function lastDays(nowMs: number, days: number): UsagePeriod {
  const toMs = startOfDay(nowMs) + dayMs;
  return { fromMs: toMs - days * dayMs, toMs };
}

export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** @throws DomainError `invalid_request` */
export function periodOf({ days, from, to, by }: UsageQuery, nowMs: number): UsagePeriod {
  if (days !== undefined && (from !== undefined || to !== undefined)) {
    throw new DomainError('invalid_request', 'In the query, "days" cannot be combined with "from" and "to".');
  }
  const toMs = to === undefined ? startOfDay(nowMs) + dayMs : dayOf('to', to) + dayMs;
  const fromMs = from === undefined ? toMs - (days ?? defaultUsageDays) * dayMs : dayOf('from', from);
  const count = (toMs - fromMs) / dayMs;
  const max = by === 'hour' ? maxHourlyUsageDays : maxUsageDays;
  if (count < 1) throw new DomainError('invalid_request', 'In the query, "from" must not be after "to".');
  if (count > max) {
    throw new DomainError('invalid_request', `In the query, the period must have at most ${max} days (got ${count}).`);
  }
  return { fromMs, toMs };
}

function dayOf(name: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)) return ms;
  throw new DomainError('invalid_request', `In the query, "${name}" must be a day such as 2026-03-01.`);
}

/** @throws DomainError `invalid_request` for an invalid period */
export async function readUsage(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id, plugin, guestId }: UsageTarget,
  query: UsageQuery,
): Promise<Usage> {
  const { read } = store;
  const period = periodOf(query, clock());
  const [[subject], days, versions] = await Promise.all([
    read.usageSubjects([id]),
    read.usageDays(id, period),
    plugin === undefined ? [] : read.versionUsage(plugin, period, maxVersions),
  ]);
  return {
    period,
    by: query.by ?? 'day',
    subject,
    days,
    versions: guestId === undefined ? versions : await loadedVersions(read, days),
  };
}

/** The versions that clients have reported for a guest. */
async function loadedVersions(read: Queries, days: readonly UsageDayRecord[]): Promise<VersionUsageRecord[]> {
  const reports = new Map<VersionId, { loadReports: number; reportedAtMs: number }>();
  for (const { detail } of days) {
    for (const [id, [count, atMs]] of Object.entries(detail.loaded ?? {})) {
      const known = reports.get(id as VersionId) ?? { loadReports: 0, reportedAtMs: 0 };
      reports.set(id as VersionId, {
        loadReports: known.loadReports + count,
        reportedAtMs: Math.max(known.reportedAtMs, atMs),
      });
    }
  }
  const latest = [...reports].sort(([, a], [, b]) => b.reportedAtMs - a.reportedAtMs).slice(0, maxVersions);
  const versions = new Map((await read.versionsById(latest.map(([id]) => id))).map((version) => [version.id, version]));
  return latest.flatMap(([id, report]) => {
    const version = versions.get(id); // it may be deleted
    if (version === undefined) return [];
    const { extensionPointId, userId, name, number, semver } = version;
    const counts = { listRequests: 0, contentFetches: 0, listedAtMs: null, fetchedAtMs: null };
    return [{ extensionPointId, userId, name, versionId: id, number, semver, ...counts, ...report }];
  });
}
