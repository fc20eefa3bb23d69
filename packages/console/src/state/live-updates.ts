import type { AppFollower } from './follow-app.ts';
import type { Session } from './session.ts';

/** Refetches the shown data when something changes in the application that the page is about. */
export interface LiveUpdates {
  /** Calls `reload` after changes, until the returned function is called. */
  follow(reload: () => void): () => void;
  /** Follows an application, until the returned function is called. */
  open(appId: string): () => void;
  /** Refetches everything that is shown, now. */
  refresh(): void;
}

export function createLiveUpdates(session: Pick<Session, 'api' | 'calls'>): LiveUpdates {
  const shown = new Set<() => void>();
  const refresh = (): void => {
    for (const reload of [...shown]) reload();
  };
  // Pages of applications alone need its code. Without it, pages refetch when the user returns to the tab.
  let follower: Promise<AppFollower | undefined> | undefined;
  const load = async (): Promise<AppFollower> => (await import('./follow-app.ts')).createAppFollower(session, refresh);
  return {
    refresh,
    follow(reload) {
      shown.add(reload);
      return () => shown.delete(reload);
    },
    open(appId) {
      let close: (() => void) | undefined = () => undefined;
      follower ??= load().catch(() => undefined);
      void follower.then((found) => {
        if (close !== undefined) close = found?.open(appId);
      });
      return () => {
        close?.();
        close = undefined;
      };
    },
  };
}
