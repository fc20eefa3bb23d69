import { type ChangeEventData, changeEvents, type ExtensionPointId, type UserId } from '@tenon/protocol';
import { isValid } from '@tenon/protocol/validate';
import { parseChangeId } from '../db/change-records.ts';
import type { PluginKey } from '../db/records.ts';
import type { ReceivedEvent } from './event-reader.ts';
import type { MirroredList } from './mirrored-list-queries.ts';
import { SourceError } from './source.ts';
import { waitAtMost } from './wait.ts';

/** More changes than these are not remembered: then everything is compared. */
const maxDirty = 10_000;

/** The longest data of such an event, in characters. A guest key has at most 512 bytes, each of which may be escaped. */
const maxDataLength = 4096;

/** What may differ from the source: a list, or the attestations of a plugin. */
export type MirroredItem = MirroredList | PluginKey;

export type ChangeStream = ReturnType<typeof createChangeStream>;

/** What the change stream has said, and was not handled yet. */
export function createChangeStream(stored: string | null) {
  const dirty = new Map<string, MirroredItem>();
  let wake = () => {};
  let onTaken = () => {};
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
  const add = (items: readonly MirroredItem[]): void => {
    for (const item of items) dirty.set(JSON.stringify(item), item);
    if (dirty.size <= maxDirty) return;
    dirty.clear();
    state.isFull = true;
  };
  const takeOne = ({ name, data, id }: ReceivedEvent): void => {
    if (name === 'end') throw new SourceError(endKind(data), 'The source ended the change stream');
    if (name === 'reset') [state.isFull, state.isReady] = [true, false];
    if (name === 'ready') state.isReady = true;
    if (name === 'deleted') state.isStructureStale = true;
    if (name === 'binding' || name === 'plugin') add([parseItem(name, data)]);
    if (id !== undefined && parseChangeId(id) !== undefined) state.position = id;
  };
  return {
    state,
    take(events: readonly ReceivedEvent[], nowMs: number): void {
      state.receivedAtMs = nowMs;
      for (const event of events) takeOne(event);
      wake();
      onTaken();
    },
    add,
    /** Calls a function after each reception, until the returned function is called. */
    watch(listener: () => void): () => void {
      onTaken = listener;
      return () => {
        onTaken = () => {};
      };
    },
    /** Removes and returns a changed item. */
    shift(): MirroredItem | undefined {
      for (const [id, item] of dirty) {
        dirty.delete(id);
        return item;
      }
      return undefined;
    },
    /** Waits until something was received, or for a time. */
    async next(waitMs: number, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await waitAtMost(promise, waitMs, signal);
    },
  };
}

function parseItem(name: 'binding' | 'plugin', text: string): MirroredItem {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {}
  if (text.length <= maxDataLength && isValid(changeEvents[name], data)) {
    const { extensionPointId: id, ...others } = data as ChangeEventData['binding'] | ChangeEventData['plugin'];
    const extensionPointId = id as ExtensionPointId;
    if ('guestKey' in others) return { extensionPointId, guestKey: others.guestKey };
    return { extensionPointId, userId: others.userId as UserId, name: others.pluginName };
  }
  throw new SourceError('invalid', 'The source sent a malformed change event');
}

function endKind(data: string): 'unreachable' | 'refused' {
  return /"code":"(invalid_token|not_found|forbidden|account_suspended|insufficient_scope|passkey_required)"/.test(data)
    ? 'refused'
    : 'unreachable';
}
