import type { AppId } from '@tenon/protocol';
import { beforeAllChanges, type ChangePosition, parseChangeId } from '../db/change-records.ts';
import type { Queries } from '../db/store.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { ChangeEvent, ChangeFeed } from './change-feed.ts';
import type { StreamOptions } from './event-stream.ts';
import { createQuietTimer } from './quiet-timer.ts';

/** A step of a change stream. `at` is the stream's position after it. */
export type ChangeStep =
  /** Events were lost: the client must fetch all lists again. */
  | { readonly kind: 'reset'; readonly at: ChangePosition }
  | { readonly kind: 'changes'; readonly at: ChangePosition; readonly records: readonly ChangeEvent[] }
  /** All earlier events were sent. Comes once at the start, and once after each reset. */
  | { readonly kind: 'ready'; readonly at: ChangePosition }
  /** Comes about every `quietMs`, because there may be no event for the client. */
  | { readonly kind: 'quiet'; readonly at: ChangePosition };

export interface FollowOptions extends Pick<StreamOptions, 'quietMs' | 'signal'> {
  /** The id of the last event that the client received, if any. */
  readonly lastId: string | undefined;
  /** Throws when the client has lost its access. Called before each step, and after the store has changed. */
  readonly renew: () => Promise<unknown>;
}

/**
 * Yields an application's change events, starting after the client's last event, or else with the next one. Ends when the client
 * disconnects. A slow client takes no memory: events are read from the store only when the client is ready for them.
 *
 * @throws DomainError the error of `renew`; `unavailable` when the server stops
 */
export async function* followChanges(
  { read, feed }: { readonly read: Queries; readonly feed: ChangeFeed },
  appId: AppId,
  { lastId, renew, quietMs, signal }: FollowOptions,
): AsyncGenerator<ChangeStep> {
  const watch = feed.watch(appId);
  signal.addEventListener('abort', watch.wake);
  try {
    const start = await findStart(read, appId, lastId);
    let at = start.at;
    let isReady = false;
    const quiet = createQuietTimer(quietMs);
    if (start.isReset) yield { kind: 'reset', at };
    while (!signal.aborted) {
      if (feed.isClosed) throw new DomainError('unavailable', 'The server is stopping. Try again shortly.');
      const { head, records } = await feed.read(appId, at.serial);
      await renew();
      const last = records.at(-1);
      if (records[0]?.serial === at.serial + 1 && last !== undefined) {
        at = { serial: last.serial, mark: last.mark };
        yield { kind: 'changes', at, records };
      } else if (!isSame(head, at)) {
        // The next event was deleted, or the store was replaced by a copy.
        at = head;
        isReady = false;
        yield { kind: 'reset', at };
      } else {
        if (!isReady) yield { kind: 'ready', at };
        isReady = true;
        await watch.next(quiet.remainingMs());
      }
      if (quiet.takeDue()) {
        await renew();
        yield { kind: 'quiet', at };
      }
    }
  } finally {
    signal.removeEventListener('abort', watch.wake);
    watch.end();
  }
}

/** Finds the start of a stream. `isReset` means that the events after the client's last one are lost. */
async function findStart(
  read: Queries,
  appId: AppId,
  lastId: string | undefined,
): Promise<{ readonly at: ChangePosition; readonly isReset: boolean }> {
  const head = (await read.changeHeads([appId])).get(appId) ?? beforeAllChanges;
  if (lastId === undefined) return { at: head, isReset: false };
  const last = parseChangeId(lastId);
  if (last === undefined) return { at: head, isReset: true };
  if (isSame(last, head) || isSame(last, beforeAllChanges)) return { at: last, isReset: false };
  const [stored] = await read.changes(appId, last.serial - 1, 1);
  return stored !== undefined && isSame(stored, last) ? { at: last, isReset: false } : { at: head, isReset: true };
}

function isSame(a: ChangePosition, b: ChangePosition): boolean {
  return a.serial === b.serial && a.mark === b.mark;
}
