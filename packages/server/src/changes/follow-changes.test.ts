import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@tenon/protocol';
import { beforeAllChanges } from '../db/change-records.ts';
import type { Queries } from '../db/store.ts';
import type { ChangeFeed } from './change-feed.ts';
import { followChanges } from './follow-changes.ts';

describe('followChanges()', () => {
  it('sends heartbeats to a stream that other changes of the store wake all the time', async () => {
    const appId = newId('app');
    const wakeEveryMs = 5;
    const feed = {
      isClosed: false,
      watch: () => ({
        wake: () => {},
        end: () => {},
        async next(timeoutMs: number): Promise<boolean> {
          await sleep(Math.min(timeoutMs, wakeEveryMs));
          return timeoutMs < wakeEveryMs;
        },
      }),
      read: async () => ({ head: beforeAllChanges, records: [] }),
    } as unknown as ChangeFeed;
    const read = { changeHeads: async () => new Map([[appId, beforeAllChanges]]) } as unknown as Queries;
    const options = {
      lastId: undefined,
      renew: async () => {},
      quietMs: () => 30,
      signal: AbortSignal.timeout(10_000),
    };
    const kinds: string[] = [];
    for await (const { kind } of followChanges({ read, feed }, appId, options)) {
      kinds.push(kind);
      if (kinds.length === 4) break;
    }
    assert.deepEqual(kinds, ['ready', 'quiet', 'quiet', 'quiet']);
  });
});
