import type { AppId, ExtensionPointId, GuestId, UserId } from '@tenon/protocol';

/**
 * A place in an application's news: how many there were up to it, and a text that tells it from the same place in another
 * course of events, as there is one when a server goes on from a backup.
 */
export interface NewsPosition {
  readonly serial: number;
  readonly mark: string;
}

/** Where the news of an application that has had none stands. */
export const beforeAllNews: NewsPosition = { serial: 0, mark: 'start' };

/** A binding list that changed; `guestKey` is `null` for all lists of an extension point that is gone. */
export interface ChangedList {
  readonly appId: AppId;
  readonly extensionPointId: ExtensionPointId;
  readonly guestKey: string | null;
}

/** That a list changed, as it is kept. */
export interface NewsRecord extends ChangedList, NewsPosition {
  readonly atMs: number;
}

/** Which bindings are meant: those to which all that is given applies. */
export interface BindingFilter {
  readonly extensionPointId?: ExtensionPointId | undefined;
  readonly guestIds?: readonly GuestId[] | undefined;
  readonly userId?: UserId | undefined;
  readonly name?: string | undefined;
}

export interface NewsQueries {
  /** Where the news of each of these applications stands; {@link beforeAllNews} for one that has had none, or isn't there. */
  newsHeads(appIds: readonly AppId[]): Promise<ReadonlyMap<AppId, NewsPosition>>;
  /** An application's news after a serial number, as far as it is kept, oldest first. There is no gap between them. */
  news(appId: AppId, afterSerial: number, limit: number): Promise<NewsRecord[]>;
  /** The lists in which some of the bindings that are meant bind something, each once. */
  boundLists(of: BindingFilter): Promise<ChangedList[]>;
}

export interface NewsMutations {
  /**
   * Adds news to an application's, with the serial numbers that follow. Nobody sees a later one before these: whoever adds
   * to the same application's waits for the end of this transaction.
   *
   * @param keep how many of the application's are kept; older ones go
   */
  insertNews(
    appId: AppId,
    lists: readonly Pick<ChangedList, 'extensionPointId' | 'guestKey'>[],
    fields: { readonly mark: string; readonly atMs: number; readonly keep: number },
  ): Promise<void>;
  /**
   * Has all who follow an application's news ask for all lists: what was kept goes, and its news stands one serial number further on.
   *
   * @param lists those that changed
   */
  resetNews(
    appId: AppId,
    lists: readonly Pick<ChangedList, 'extensionPointId' | 'guestKey'>[],
    fields: { readonly mark: string },
  ): Promise<void>;
  /** Deletes news from before a time, the oldest first; where an application's stands is still known. @returns how many */
  deleteNewsBefore(beforeMs: number, limit: number): Promise<number>;
}
