import type { AppId, ExtensionPointId, GuestId, UserId } from '@tenon/protocol';

/**
 * A place in an application's news: how many there were up to it, and a text that tells it from the same place in another
 * course of events, as there is one when a server goes on from a backup.
 */
export interface ChangePosition {
  readonly serial: number;
  readonly mark: string;
}

/** Where the news of an application that has had none stands. */
export const beforeAllChanges: ChangePosition = { serial: 0, mark: 'start' };

/** A binding list that changed; `guestKey` is `null` for all lists of an extension point that is gone. */
export interface ChangedList {
  readonly appId: AppId;
  readonly extensionPointId: ExtensionPointId;
  readonly guestKey: string | null;
}

/** That a list changed, as it is kept. */
export interface ChangeEventRecord extends ChangedList, ChangePosition {
  readonly atMs: number;
}

/** Which bindings are meant: those to which all that is given applies. */
export interface BindingFilter {
  readonly extensionPointId?: ExtensionPointId | undefined;
  readonly guestIds?: readonly GuestId[] | undefined;
  readonly userId?: UserId | undefined;
  readonly name?: string | undefined;
  /** `false`: only of plugins that are not marked as deleted. */
  readonly isDeleted?: false;
}

/** The id of an event: `<serial>-<mark>`. Clients send it back as `last-event-id`, and need not take it apart. */
export function changeId({ serial, mark }: ChangePosition): string {
  return `${serial}-${mark}`;
}

/** What {@link changeId} was made of; `undefined` for another text. */
export function parseChangeId(id: string): ChangePosition | undefined {
  const match = /^(0|[1-9]\d{0,14})-([0-9a-z]{1,32})$/.exec(id);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { serial: Number(match[1]), mark: match[2] };
}
