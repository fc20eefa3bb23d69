import type { App } from '@tenon/protocol';

/** Names the user's guests in an application by number, in order of creation, because guests don't see guest keys. */
export function guestNames(app: App): ReadonlyMap<string, string> {
  const ids = app.guestIds.toSorted();
  return new Map(ids.map((id, at) => [id, ids.length === 1 ? 'your guest' : `your guest ${at + 1}`]));
}
