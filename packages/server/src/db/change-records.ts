import type { AppId, ExtensionPointId, GuestId, UserId } from '@tenon/protocol';

/**
 * A position in an application's change feed. After a restore from a backup, serials are used again. The random `mark` then tells the
 * events of the two histories apart.
 */
export interface ChangePosition {
  readonly serial: number;
  readonly mark: string;
}

/** The position of a feed without events. */
export const beforeAllChanges: ChangePosition = { serial: 0, mark: 'start' };

/** A changed binding list; `guestKey` is `null` for all lists of a deleted extension point. */
export interface ChangedList {
  readonly appId: AppId;
  readonly extensionPointId: ExtensionPointId;
  readonly guestKey: string | null;
}

/** A plugin whose attestations have changed, which no list shows. */
export interface ChangedPlugin {
  readonly appId: AppId;
  readonly extensionPointId: ExtensionPointId;
  readonly userId: UserId;
  readonly pluginName: string;
}

/** A change of an application. */
export type Change = Omit<ChangedList, 'appId'> | Omit<ChangedPlugin, 'appId'>;

/** With `userId` and `pluginName`, the change of a plugin; otherwise the change of a list. */
export interface ChangeEventRecord extends ChangedList, ChangePosition {
  readonly atMs: number;
  readonly userId: UserId | null;
  readonly pluginName: string | null;
}

/** Selects the bindings that match all given fields. */
export interface BindingFilter {
  readonly extensionPointId?: ExtensionPointId | undefined;
  readonly guestIds?: readonly GuestId[] | undefined;
  readonly userId?: UserId | undefined;
  readonly name?: string | undefined;
  /** `false`: only bindings of plugins that are not marked as deleted. */
  readonly isDeleted?: false;
}

/** Returns the id of an event, `<serial>-<mark>`. Clients send it back as `last-event-id`. */
export function changeId({ serial, mark }: ChangePosition): string {
  return `${serial}-${mark}`;
}

/** Parses a {@link changeId}. Returns `undefined` for an invalid one. */
export function parseChangeId(id: string): ChangePosition | undefined {
  const match = /^(0|[1-9]\d{0,14})-([0-9a-z]{1,32})$/.exec(id);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { serial: Number(match[1]), mark: match[2] };
}
