import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Lease, takeLease } from '../blobs/leases.ts';
import type { MirrorSettings } from '../config/mirror-file.ts';
import type { Transaction } from '../db/store.ts';
import type { FollowOptions } from './follow-app.ts';
import { followSource, LostLeaseError } from './follow-source.ts';
import type { FollowState } from './mirror-state.ts';
import { openSource } from './source.ts';
import { createTokenReader } from './token-reader.ts';
import { pauseAfter } from './wait.ts';

/* Follows the source of a mirror. One process of all nodes does so at a time: it holds a lease. */

export interface MirrorOptions {
  readonly deps: FollowOptions['deps'] & {
    readonly settings: FollowOptions['deps']['settings'] & { readonly mirrorLeaseMs: number };
  };
  readonly settings: MirrorSettings;
  readonly log: Logger;
}

export type Mirror = ReturnType<typeof startMirror>;

export function startMirror({ deps, settings, log }: MirrorOptions) {
  const { store, clock } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const state: FollowState = { record: undefined, isFollowing: false };

  const followWithLease = async (lease: Lease): Promise<void> => {
    const ended = new AbortController();
    const following = AbortSignal.any([signal, ended.signal]);
    const assertFollowing = async (tx: Transaction): Promise<void> => {
      const holders = await tx.leaseHolders('mirror', clock());
      if (holders.length !== 1 || holders[0] !== lease.holder)
        throw new LostLeaseError('Another process follows the source');
    };
    const renewing = (async () => {
      for (;;) {
        await sleep(deps.settings.mirrorLeaseMs / 3, undefined, { ref: false, signal: following });
        await lease.renew();
      }
    })();
    const source = openSource(settings.source, createTokenReader(settings));
    const work = followSource({ deps, source, log, signal: following, assertFollowing, settings, state });
    try {
      await Promise.race([renewing, work]);
    } finally {
      ended.abort();
      await Promise.allSettled([renewing, work]);
      source.close();
      state.isFollowing = false;
    }
  };
  const run = async (): Promise<void> => {
    for (let failures = 0; ; ) {
      let lease: Lease | undefined;
      try {
        lease = await takeLease(deps, 'mirror', { lengthMs: deps.settings.mirrorLeaseMs, isExclusive: true });
        state.record = (await store.read.mirror()) ?? state.record;
        if (lease !== undefined) await followWithLease(lease);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (++failures === 1) log.warn({ err: error }, 'mirror: cannot follow');
      } finally {
        await lease?.release().catch(() => {}); // it expires
      }
      const pauseMs = failures === 0 ? deps.settings.mirrorLeaseMs / 3 : pauseAfter(failures);
      await sleep(pauseMs, undefined, { ref: false, signal });
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'mirror: stopped');
  });
  return {
    /** The state as last stored, and whether this process follows the source. */
    state: state as Readonly<typeof state>,
    /** Stops, and lets another process follow. */
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}
