import { setTimeout as sleep } from 'node:timers/promises';
import { type AppId, auditActions, type UpdateEventName, type UserId } from '@tenon/protocol';
import { isMember } from '../auth/access.ts';
import type { NewestAction } from '../db/audit-records.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { AuthContext } from '../http/route.ts';
import { type ChangeFeed, newestActionCount } from './change-feed.ts';
import type { StreamOptions } from './event-stream.ts';
import { eventText, heartbeat } from './event-text.ts';
import { createQuietTimer } from './quiet-timer.ts';

/** The access rule of the stream: members and guests of the application. */
export const updateAccess = { kind: 'app', purpose: 'readApp' } as const;

/** How long a stream waits after an event, so that a burst of changes is one event. */
const coalesceMs = 250;

interface UpdateOptions extends StreamOptions<typeof updateAccess> {
  /** The stream starts with an event if something has changed since this time. */
  readonly sinceMs: number;
}

/**
 * Yields an event whenever something changes in an application that the client may see, from the application's audit trail, which has every
 * change. The events say nothing else. They may be doubled, and changes in quick succession share one.
 *
 * The change feed can't serve open pages, because it names binding lists only, and guests may not read it. The audit trail needs no further table,
 * numbers, or lock. Guests get an event only for the application, its extension points, and their own plugins, so that they learn nothing of others.
 *
 * @throws DomainError the error of `renew`; `unavailable` when the server stops
 */
export async function* followUpdates(
  feed: ChangeFeed,
  appId: AppId,
  { sinceMs, renew, quietMs, signal }: UpdateOptions,
): AsyncGenerator<string> {
  const watch = feed.watch(appId);
  signal.addEventListener('abort', watch.wake);
  try {
    let known: ReadonlySet<string> | undefined;
    const quiet = createQuietTimer(quietMs);
    while (!signal.aborted) {
      if (feed.isClosed) throw new DomainError('unavailable', 'The server is stopping. Try again shortly.');
      const newest = await feed.readNewestActions(appId);
      const auth = await renew();
      const found = newest.filter(({ id, atMs }) => (known === undefined ? atMs >= sinceMs : !known.has(id)));
      if (known === undefined) yield updateText('ready');
      known = new Set(newest.map(({ id }) => id));
      if (found.length === newestActionCount || found.some((action) => isVisible(action, auth))) {
        yield updateText('update');
        await sleep(coalesceMs, undefined, { signal }).catch(() => undefined);
      }
      await watch.next(quiet.remainingMs());
      if (quiet.takeDue()) {
        await renew();
        yield heartbeat;
      }
    }
  } finally {
    signal.removeEventListener('abort', watch.wake);
    watch.end();
  }
}

/** Guests learn only of changes of the application, its extension points, and their own plugins. */
function isVisible({ action, targetId }: NewestAction, { actor, access }: AuthContext<typeof updateAccess>): boolean {
  if (isMember(access)) return true;
  const { target } = auditActions[action];
  return target === 'app' || target === 'extension_point' || isPluginOf(targetId, actor.userId);
}

function isPluginOf(targetId: string, userId: UserId): boolean {
  return targetId.includes(`/plugin/${userId}/`);
}

function updateText(event: UpdateEventName): string {
  return eventText({ event, data: {} });
}
