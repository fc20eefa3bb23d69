import type { App } from '@tenon/protocol';

/**
 * What to call the guests that one holds in an application: by number, in the order in which they were made, since guest keys are
 * the application's own and nobody outside sees them.
 */
export function guestNames(app: App): ReadonlyMap<string, string> {
  const ids = app.guestIds.toSorted();
  return new Map(ids.map((id, at) => [id, ids.length === 1 ? 'your guest' : `your guest ${at + 1}`]));
}
