import type { ChangeEventData, ChangeEventName } from '@tenon/protocol';
import { type ChangeEventRecord, changeId } from '../db/change-records.ts';
import { eventText } from './event-text.ts';

/** Serializes a change event. */
export function changeText(record: ChangeEventRecord): string {
  const { extensionPointId, guestKey, userId, pluginName } = record;
  const id = changeId(record);
  if (userId !== null && pluginName !== null)
    return changeEventText('plugin', { extensionPointId, userId, pluginName }, id);
  if (guestKey === null) return changeEventText('deleted', { extensionPointId }, id);
  return changeEventText('binding', { extensionPointId, guestKey }, id);
}

/** Serializes any event of a change stream. */
export function changeEventText<N extends ChangeEventName>(event: N, data: ChangeEventData[N], id: string): string {
  return eventText({ event, data, id });
}
