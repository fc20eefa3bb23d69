import type { ExtensionPointId } from '@tenon/protocol';
import { parseChangeId } from '../db/change-records.ts';
import type { ReceivedEvent } from './event-reader.ts';
import type { MirroredList } from './mirrored-list-queries.ts';
import { SourceError } from './source.ts';
import { waitAtMost } from './wait.ts';

/** More changed lists than these are not remembered: then all lists are compared. */
const maxDirtyLists = 10_000;

export type ChangeStream = ReturnType<typeof createChangeStream>;

/** What the change stream has said, and was not handled yet. */
export function createChangeStream(stored: string | null) {
  const dirty = new Map<string, MirroredList>();
  let wake = () => {};
  const state = {
    dirty,
    /** Whether all lists have to be compared. */
    isFull: stored === null,
    /** Whether extension points have to be read again. */
    isStructureStale: true,
    /** Whether all earlier events were received. */
    isReady: false,
    position: stored,
    receivedAtMs: 0,
  };
  const takeOne = ({ name, data, id }: ReceivedEvent): void => {
    if (name === 'end') throw new SourceError(endKind(data), 'The source ended the change stream');
    if (name === 'reset') [state.isFull, state.isReady] = [true, false];
    if (name === 'ready') state.isReady = true;
    if (name === 'deleted') state.isStructureStale = true;
    if (name === 'binding') {
      const list = parseList(data);
      dirty.set(JSON.stringify(list), list);
      if (dirty.size > maxDirtyLists) {
        dirty.clear();
        state.isFull = true;
      }
    }
    if (id !== undefined && parseChangeId(id) !== undefined) state.position = id;
  };
  return {
    state,
    take(events: readonly ReceivedEvent[], nowMs: number): void {
      state.receivedAtMs = nowMs;
      for (const event of events) takeOne(event);
      wake();
    },
    add(lists: readonly MirroredList[]): void {
      for (const list of lists) dirty.set(JSON.stringify(list), list);
    },
    /** Waits until something was received, or for a time. */
    async next(waitMs: number, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await waitAtMost(promise, waitMs, signal);
    },
  };
}

function parseList(data: string): MirroredList {
  const parsed: unknown = JSON.parse(data);
  const { extensionPointId, guestKey } = parsed as Partial<Record<'extensionPointId' | 'guestKey', unknown>>;
  if (typeof extensionPointId !== 'string' || typeof guestKey !== 'string')
    throw new SourceError('invalid', 'The source sent a malformed change event');
  return { extensionPointId: extensionPointId as ExtensionPointId, guestKey };
}

function endKind(data: string): 'unreachable' | 'refused' {
  return /"code":"(invalid_token|not_found|forbidden|account_suspended|insufficient_scope|passkey_required)"/.test(data)
    ? 'refused'
    : 'unreachable';
}
