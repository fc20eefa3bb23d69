import { type AppId, type ExtensionPointId, type GuestId, pluginId, type VersionId } from '@tenon/protocol';
import type { PluginKey } from '../db/records.ts';
import type { UsageDayRecord, UsageSubjectKey, UsageSubjectRecord } from '../db/usage-records.ts';
import { addToSketch, encodeSketch, type Sketch } from './sketch.ts';
import type { Tally } from './usage-batch.ts';
import { addAgent } from './usage-detail.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The sums of a subject for a day. */
interface DaySums {
  listRequests: number;
  contentFetches: number;
  loadReports: number;
  readonly hours: Map<number, [listRequests: number, contentFetches: number]>;
  readonly tokens: Sketch;
  readonly agents: Map<string, number>;
  readonly loaded: Map<VersionId, [reports: number, atMs: number]>;
}

type Reports = { readonly count: number; readonly lastMs: number };
type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Subject = Mutable<UsageSubjectRecord>;

const nothing = { extensionPointId: null, userId: null, name: null, versionId: null, guestId: null };

/** Adds up tallies per subject and day. */
export class UsageSums {
  readonly #subjects = new Map<string, Subject>();
  readonly #days = new Map<string, Map<number, DaySums>>();

  app = (appId: AppId): Subject => this.#subject({ id: appId, appId, ...nothing });

  extensionPoint = (appId: AppId, extensionPointId: ExtensionPointId): Subject =>
    this.#subject({ ...nothing, id: extensionPointId, appId, extensionPointId });

  guest = (appId: AppId, guestId: GuestId): Subject => this.#subject({ ...nothing, id: guestId, appId, guestId });

  plugin = (appId: AppId, { extensionPointId, userId, name }: PluginKey): Subject =>
    this.#subject({ ...nothing, id: pluginId(extensionPointId, userId, name), appId, extensionPointId, userId, name });

  version = (appId: AppId, { extensionPointId, userId, name }: PluginKey, versionId: VersionId): Subject =>
    this.#subject({ ...nothing, id: versionId, appId, extensionPointId, userId, name, versionId });

  addLists(subject: UsageSubjectRecord, tally: Tally): void {
    const known = this.#subject(subject);
    known.listedAtMs = Math.max(known.listedAtMs ?? 0, tally.lastMs);
    this.#addRequests(known, tally, 0);
  }

  addFetches(subject: UsageSubjectRecord, tally: Tally): void {
    const known = this.#subject(subject);
    known.fetchedAtMs = Math.max(known.fetchedAtMs ?? 0, tally.lastMs);
    this.#addRequests(known, tally, 1);
  }

  /** @param loaded for a guest: the loaded version */
  addReports(subject: UsageSubjectRecord, tally: Tally, { count, lastMs }: Reports, loaded?: VersionId): void {
    const known = this.#subject(subject);
    known.reportedAtMs = Math.max(known.reportedAtMs ?? 0, lastMs);
    const day = this.#day(known, tally);
    day.loadReports += count;
    if (loaded === undefined) return;
    const [reports = 0, atMs = 0] = day.loaded.get(loaded) ?? [];
    day.loaded.set(loaded, [reports + count, Math.max(atMs, lastMs)]);
  }

  records(): { subjects: UsageSubjectRecord[]; days: UsageDayRecord[] } {
    const days: UsageDayRecord[] = [];
    for (const [subjectId, byDay] of this.#days) {
      for (const [dayMs, { hours, tokens, agents, loaded, ...counts }] of byDay) {
        const sketch = encodeSketch(tokens);
        const detail = {
          ...(hours.size > 0 && { hours: Object.fromEntries(hours) }),
          ...(sketch !== undefined && { tokens: sketch }),
          ...(agents.size > 0 && { agents: Object.fromEntries(agents) }),
          ...(loaded.size > 0 && { loaded: Object.fromEntries(loaded) }),
        };
        days.push({ subjectId, dayMs, ...counts, detail });
      }
    }
    return { subjects: [...this.#subjects.values()], days };
  }

  #subject(key: UsageSubjectKey): Subject {
    const known = this.#subjects.get(key.id);
    if (known !== undefined) return known;
    const subject = { ...key, listedAtMs: null, fetchedAtMs: null, reportedAtMs: null };
    this.#subjects.set(key.id, subject);
    return subject;
  }

  #addRequests(subject: Subject, tally: Tally, column: 0 | 1): void {
    const day = this.#day(subject, tally);
    if (column === 0) day.listRequests += tally.count;
    else day.contentFetches += tally.count;
    const hour = (tally.hourMs % dayMs) / hourMs;
    const counts = day.hours.get(hour) ?? [0, 0];
    counts[column] += tally.count;
    day.hours.set(hour, counts);
    for (const [index, rank] of tally.tokens) addToSketch(day.tokens, { index, rank });
    for (const [agent, count] of tally.agents) addAgent(day.agents, agent, count);
  }

  #day({ id }: Subject, { hourMs }: Tally): DaySums {
    let byDay = this.#days.get(id);
    if (byDay === undefined) {
      byDay = new Map();
      this.#days.set(id, byDay);
    }
    const startMs = hourMs - (hourMs % dayMs);
    let day = byDay.get(startMs);
    if (day === undefined) {
      const counts = { listRequests: 0, contentFetches: 0, loadReports: 0 };
      day = { ...counts, hours: new Map(), tokens: new Map(), agents: new Map(), loaded: new Map() };
      byDay.set(startMs, day);
    }
    return day;
  }
}
