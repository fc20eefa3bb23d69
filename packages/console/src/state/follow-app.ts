import type { SessionState } from '@tenon/protocol';
import type { Session } from './session.ts';
import { followUpdates, type UpdateStreamOptions } from './update-stream.ts';

/** Follows an application's updates. */
export interface AppFollower {
  /** Follows an application, until the returned function is called. The tab follows one at a time. */
  open(appId: string): () => void;
}

/** A page's first requests come before the stream. */
const startDelayMs = 1_500;
/** A page of the same application often replaces one. */
const closeDelayMs = 3_000;
/** Without input for this long, the stream ends, because it would keep the session alive. */
const idleMs = 30 * 60_000;
/** The shortest and the longest time between two refetches. It doubles after {@link fastRounds} while changes continue. */
const [minIntervalMs, maxIntervalMs] = [3_000, 30_000];
const fastRounds = 5;
/** Open tabs refetch at different times. */
const maxJitterMs = 500;
/** How long after a key a page counts as being typed in. */
const typingMs = 1_500;
const busyRetryMs = 500;

/** @param refresh refetches what is shown */
export function createAppFollower({ api, calls }: Pick<Session, 'api' | 'calls'>, refresh: () => void): AppFollower {
  const now = () => performance.now();
  let appId: string | undefined;
  let opened = 0;
  let closing: ReturnType<typeof setTimeout> | undefined;
  let stream: AbortController | undefined;
  let knownUntilMs = 0;
  let [typedAtMs, inputAtMs] = [Number.NEGATIVE_INFINITY, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [roundAtMs, rounds] = [Number.NEGATIVE_INFINITY, 0];

  function start(): void {
    if (stream !== undefined || appId === undefined || document.visibilityState !== 'visible') return;
    const controller = new AbortController();
    stream = controller;
    void wait(startDelayMs, controller.signal)
      .then(() =>
        followUpdates({
          connect: connectTo(appId),
          onUpdate: schedule,
          signal: controller.signal,
          nowMs: now,
          knownUntilMs,
          wait,
          random: Math.random,
        }),
      )
      .finally(() => {
        if (stream === controller) stream = undefined;
      });
  }

  function connectTo(id: string | undefined): UpdateStreamOptions['connect'] {
    let isFirst = true;
    return async (within, signal) => {
      // After the session has ended, a request would ask the user to sign in, while the page may be in use.
      if (!isFirst && (await calls.get<SessionState>('/session')).account === null)
        throw new DOMException('', 'AbortError');
      isFirst = false;
      const headers = { accept: 'text/event-stream' };
      return api.send('GET', `/api/v1/apps/${encodeURIComponent(id ?? '')}/updates`, {
        query: { within },
        headers,
        signal,
      });
    };
  }

  function stop(): void {
    stream?.abort();
    stream = undefined;
    clearTimeout(timer);
    timer = undefined;
  }

  function schedule(): void {
    if (timer !== undefined) return;
    const intervalMs = Math.min(minIntervalMs * 2 ** Math.max(0, rounds - fastRounds), maxIntervalMs);
    const sinceMs = now() - roundAtMs;
    rounds = sinceMs < 2 * intervalMs ? rounds + 1 : 0;
    const dueMs = Math.max(0, intervalMs - sinceMs) + Math.random() * maxJitterMs;
    timer = setTimeout(runWhenFree, dueMs);
  }

  function runWhenFree(): void {
    if (isBusy()) {
      timer = setTimeout(runWhenFree, busyRetryMs);
      return;
    }
    timer = undefined;
    roundAtMs = now();
    keepFocus();
    refresh();
  }

  /** A refetch may remove what a dialog is about, and must not delay keys. */
  function isBusy(): boolean {
    return now() - typedAtMs < typingMs || document.querySelector('dialog[open]') !== null;
  }

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return stop();
    knownUntilMs = now(); // the pages refetch on return
    start();
  });
  document.addEventListener('input', () => {
    typedAtMs = now();
  });
  for (const type of ['pointerdown', 'keydown', 'wheel'] as const) {
    document.addEventListener(
      type,
      () => {
        const wasIdle = now() - inputAtMs > idleMs;
        inputAtMs = now();
        if (wasIdle) start();
      },
      { passive: true, capture: true },
    );
  }
  setInterval(() => {
    if (now() - inputAtMs <= idleMs || stream === undefined) return;
    knownUntilMs = now() - maxIntervalMs; // a refetch may be due
    stop();
  }, 60_000);

  return {
    open(id) {
      clearTimeout(closing);
      if (id !== appId) {
        stop();
        appId = id;
        knownUntilMs = now();
      }
      opened += 1;
      start();
      return () => {
        opened -= 1;
        if (opened > 0) return;
        closing = setTimeout(() => {
          stop();
          appId = undefined;
        }, closeDelayMs);
      };
    },
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** For how long after a refetch its changes may remove the focused element. */
const focusWatchMs = 5_000;

/** Moves the focus to the list, or else to the heading, if a refetch removes the focused element. */
function keepFocus(): void {
  const main = document.querySelector('main');
  const focused = document.activeElement;
  if (main === null || focused === null || !main.contains(focused)) return;
  const list = focused.closest<HTMLElement>('.list-page');
  const observer = new MutationObserver(() => {
    if (focused.isConnected) return;
    observer.disconnect();
    if (document.activeElement !== document.body) return;
    const next = list?.isConnected ? list : document.querySelector<HTMLElement>('main h1');
    next?.focus({ preventScroll: true });
  });
  observer.observe(main, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), focusWatchMs);
}
