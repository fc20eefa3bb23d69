import type { AppId } from '@tenon/protocol';
import { beforeAllChanges, type ChangeEventRecord, type ChangePosition, parseChangeId } from '../db/change-records.ts';
import type { Queries } from '../db/store.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { ChangeFeed } from './change-feed.ts';

/** What comes next in a change stream; `at` is where it stands after it. */
export type ChangeStep =
  /** Something was missed that can't be told any more: all lists have to be fetched again. */
  | { readonly kind: 'reset'; readonly at: ChangePosition }
  | { readonly kind: 'changes'; readonly at: ChangePosition; readonly records: readonly ChangeEventRecord[] }
  /** All that happened so far has been told. It comes once, and again after a reset. */
  | { readonly kind: 'ready'; readonly at: ChangePosition }
  /** Nothing has come for some time. */
  | { readonly kind: 'quiet'; readonly at: ChangePosition };

export interface FollowOptions {
  /** The id of the last event that the client has had, if it has had any. */
  readonly lastId: string | undefined;
  /** Throws once who follows may no longer: asked before anything is told, and when anything in the store has changed. */
  readonly renew: () => Promise<unknown>;
  /** How long it may be quiet, in milliseconds, before it is said that it is; asked each time. */
  readonly quietMs: () => number;
  /** Aborts when nobody listens any more. */
  readonly signal: AbortSignal;
}

/**
 * Tells an application's news, from after the last event that the client has had, or from now on, until nobody listens.
 *
 * It is read as fast as it is taken: who is slow falls behind, and costs no memory.
 *
 * @throws DomainError what `renew` throws, and `unavailable` when the server stops
 */
export async function* followNews(
  { read, feed }: { readonly read: Queries; readonly feed: ChangeFeed },
  appId: AppId,
  { lastId, renew, quietMs, signal }: FollowOptions,
): AsyncGenerator<ChangeStep> {
  const watch = feed.watch(appId);
  signal.addEventListener('abort', watch.wake);
  try {
    const { at: begin, isKnown } = await findBegin(read, appId, lastId);
    let at = begin;
    let isReady = false;
    if (!isKnown) yield { kind: 'reset', at };
    while (!signal.aborted) {
      if (feed.isClosed) throw new DomainError('unavailable', 'The server is stopping. Come back shortly.');
      const { head, records } = await feed.read(appId, at.serial);
      await renew();
      const last = records.at(-1);
      if (records[0]?.serial === at.serial + 1 && last !== undefined) {
        at = { serial: last.serial, mark: last.mark };
        yield { kind: 'changes', at, records };
      } else if (head.serial !== at.serial || head.mark !== at.mark) {
        // What came next is no longer kept, or the store goes on from a copy.
        at = head;
        isReady = false;
        yield { kind: 'reset', at };
      } else {
        if (!isReady) yield { kind: 'ready', at };
        isReady = true;
        if (await watch.next(quietMs())) {
          await renew();
          yield { kind: 'quiet', at };
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', watch.wake);
    watch.end();
  }
}

/** Where to go on from; `isKnown` is false when what came after the client's last event can't be told. */
async function findBegin(
  read: Queries,
  appId: AppId,
  lastId: string | undefined,
): Promise<{ readonly at: ChangePosition; readonly isKnown: boolean }> {
  const head = (await read.changeHeads([appId])).get(appId) ?? beforeAllChanges;
  if (lastId === undefined) return { at: head, isKnown: true };
  const last = parseChangeId(lastId);
  if (last === undefined) return { at: head, isKnown: false };
  if (isSame(last, head) || isSame(last, beforeAllChanges)) return { at: last, isKnown: true };
  const [kept] = await read.changes(appId, last.serial - 1, 1);
  return kept !== undefined && isSame(kept, last) ? { at: last, isKnown: true } : { at: head, isKnown: false };
}

function isSame(a: ChangePosition, b: ChangePosition): boolean {
  return a.serial === b.serial && a.mark === b.mark;
}
