import type { AppId, UserId } from '@tenon/protocol';

/** A limit that an operator has set for one account or application. */
export interface QuotaOverrideRecord {
  /** The account or the application. */
  readonly subjectId: UserId | AppId;
  /** The quota: a `QuotaName`. Rows of quotas that a later release removes are ignored. */
  readonly name: string;
  /** The account, if the subject is one. */
  readonly userId: UserId | null;
  /** The application, if the subject is one. */
  readonly appId: AppId | null;
  readonly value: number;
  readonly updatedAtMs: number;
}

/** The highest level of a quota that its account or its application's owners were warned about. */
export interface QuotaWarningRecord extends Omit<QuotaOverrideRecord, 'value' | 'updatedAtMs'> {
  readonly percent: number;
  readonly warnedAtMs: number;
}
