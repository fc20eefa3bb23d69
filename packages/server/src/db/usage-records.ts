import type { AppId, ExtensionPointId, GuestId, ProcessId, UserId, VersionId } from '@tenon/protocol';

/**
 * What usage is counted for: an application, an extension point, a plugin, a version, or a guest. Its id is that of the resource. The
 * columns below `appId` name what it belongs to, so that it ends with it.
 */
export interface UsageSubjectKey {
  readonly id: string;
  readonly appId: AppId;
  readonly extensionPointId: ExtensionPointId | null;
  /** Set for a plugin and a version, as is `name`. */
  readonly userId: UserId | null;
  readonly name: string | null;
  readonly versionId: VersionId | null;
  readonly guestId: GuestId | null;
}

export interface UsageSubjectRecord extends UsageSubjectKey {
  /** The last request for a list. */
  readonly listedAtMs: number | null;
  /** The last fetch of a content. */
  readonly fetchedAtMs: number | null;
  /** When a client last reported that it has loaded the version. */
  readonly reportedAtMs: number | null;
}

/** The parts of a day's usage that only reports read. Members without content are left out. */
export interface UsageDetail {
  /** List requests and content fetches by the hour of the day. */
  readonly hours?: Readonly<Record<string, readonly [listRequests: number, contentFetches: number]>>;
  /** The sketch of the distinct tokens. */
  readonly tokens?: string;
  /** Requests by user agent. */
  readonly agents?: Readonly<Record<string, number>>;
  /** Of a guest: reports by the id of the loaded version, with the time of the last one. */
  readonly loaded?: Readonly<Record<VersionId, readonly [reports: number, atMs: number]>>;
}

export interface UsageCounts {
  readonly listRequests: number;
  readonly contentFetches: number;
  /** Reports of clients that have loaded the version. */
  readonly loadReports: number;
}

/** A subject's usage on a day (UTC). */
export interface UsageDayRecord extends UsageCounts {
  readonly subjectId: string;
  /** When the day begins. */
  readonly dayMs: number;
  readonly detail: UsageDetail;
}

/** The last batch of usage that a process has written, so that a batch whose commit was not confirmed is not written again. */
export interface UsageWriterRecord {
  readonly id: ProcessId;
  readonly serial: number;
  readonly atMs: number;
}
