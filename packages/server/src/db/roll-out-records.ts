import type { AppId, ExtensionPointId, RollOutPlan, RollOutState, UserId, VersionId } from '@tenon/protocol';

/** The staged roll-out of a version. A version without one is for all guests. */
export interface RollOutRecord {
  readonly versionId: VersionId;
  readonly appId: AppId;
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly name: string;
  readonly state: RollOutState;
  /** Without steps only while it is planned: then all guests get the version at once. */
  readonly plan: RollOutPlan;
  /** The current or last step, from 0. */
  readonly step: number;
  /** Why it was paused, halted, or aborted. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  /** When the step began, or when it was last resumed. Older reports don't count. */
  readonly stepAtMs: number;
  readonly updatedAtMs: number;
  /** When the step ends; `null` if it does not end by itself. */
  readonly dueAtMs: number | null;
  /** When it was completed, aborted, or superseded; `null` while it is planned or open. */
  readonly endedAtMs: number | null;
}
