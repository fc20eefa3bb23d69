import { setTimeout as sleep } from 'node:timers/promises';
import type { AppId } from '@tenon/protocol';
import type { MirrorSettings } from '../config/mirror-file.ts';
import { discoverApps } from './discovery.ts';
import { type FollowOptions, followApp } from './follow-app.ts';
import { createStateWriter, type FollowedApp, type FollowState, stateIntervalMs, summarize } from './mirror-state.ts';
import { maxRetryMs, pauseAfter, waitAtMost } from './wait.ts';

/* Follows all applications of a source. Each has its own change stream, and its own retries. */

/** What the mirror has lost: another process follows the source. */
export class LostLeaseError extends Error {
  override readonly name = 'LostLeaseError';
}

interface Follow extends Pick<FollowOptions, 'deps' | 'source' | 'log' | 'signal' | 'assertFollowing'> {
  readonly settings: MirrorSettings;
  readonly state: FollowState;
}

/** Follows all applications that the token may read. Ends with an error, such as a lost lease. */
export async function followSource(options: Follow): Promise<never> {
  const { deps, log, settings, state } = options;
  const { store } = deps;
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const own = { ...options, signal };
  const apps = new Map<AppId, FollowedApp>();
  const fatal = Promise.withResolvers<never>();
  fatal.promise.catch(() => {});
  const works: Promise<void>[] = [];
  let [discovery, wake]: [unknown, () => void] = ['pending', () => {}];

  const countLists = async (): Promise<number> => {
    let sum = 0;
    for (const appId of apps.keys()) sum += await store.read.countMirroredLists(appId);
    return sum;
  };
  const writeState = createStateWriter({ ...options, source: settings.source, countLists }, await store.read.mirror());
  const followAlways = async (appId: AppId, app: FollowedApp): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      const startMs = performance.now();
      try {
        await followApp(appId, {
          ...own,
          chosen: settings.extensionPoints && new Set(settings.extensionPoints),
          onProgress(progress) {
            [app.progress, app.failure] = [progress, undefined];
            wake();
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LostLeaseError) return fatal.reject(error);
        app.failure = error;
        wake();
        failures = performance.now() - startMs > maxRetryMs ? 1 : failures + 1;
        if (failures === 1) log.warn({ err: error, appId }, 'mirror: interrupted');
        await sleep(pauseAfter(failures), undefined, { ref: false, signal }).catch(() => {});
      }
    }
  };
  const discover = async (): Promise<void> => {
    for (const appId of await discoverApps(settings, own)) {
      if (apps.has(appId)) continue;
      const app: FollowedApp = { progress: undefined, failure: undefined };
      apps.set(appId, app);
      works.push(followAlways(appId, app));
    }
  };
  const discoverAlways = async (): Promise<never> => {
    for (let failures = 0; ; ) {
      try {
        await discover();
        [discovery, failures] = [undefined, 0];
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof LostLeaseError) throw error;
        discovery = error;
        if (++failures === 1) log.warn({ err: error }, 'mirror: the source cannot be read');
      }
      wake();
      const pauseMs = failures === 0 ? deps.settings.mirrorRefreshMs : pauseAfter(failures);
      await sleep(pauseMs, undefined, { ref: false, signal });
    }
  };
  const storeAlways = async (): Promise<never> => {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (discovery !== 'pending') await writeState(summarize([...apps.values()], discovery));
      await waitAtMost(promise, stateIntervalMs, signal);
      signal.throwIfAborted();
    }
  };
  state.isFollowing = true;
  works.push(discoverAlways().catch(fatal.reject), storeAlways().catch(fatal.reject));
  try {
    return await fatal.promise;
  } finally {
    ended.abort();
    await Promise.allSettled(works);
  }
}
