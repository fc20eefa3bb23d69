import type { IncomingHttpHeaders } from 'node:http';
import { loadedHeader, newId } from '@tenon/protocol';
import type { Logger } from 'pino';
import type { Actor } from '../auth/access.ts';
import type { CredentialId } from '../auth/last-used-log.ts';
import type { Deps } from '../deps.ts';
import { attributeUsage } from './attribute-usage.ts';
import { type SketchEntry, sketchEntry } from './sketch.ts';
import { maxLoadedLength, UsageBatch, type UsageTarget } from './usage-batch.ts';

/*
 * Usage is stored in aggregates, because a log of requests would contain tokens and addresses, and lists are served at the rate of bare `node:http`.
 * A row has one subject and day: hours, user agents reduced to product and version, and a HyperLogLog sketch of token ids, at most 2 KiB with a
 * standard error of 3.25 %. A serial number per process prevents that a batch is added twice when its commit was not confirmed.
 */

const hourMs = 3_600_000;

/** A longer `user-agent` counts as `other`. */
const maxAgentLength = 256;

/** How many lists and contents a process counts between two writes. Beyond, it counts per extension point. */
const defaultMaxTallies = 20_000;

/**
 * Counts the requests of one token for one list or content until they are added to the batch. The response cache has one in each entry, so that
 * counting a request increments a number.
 */
export interface UsageCell {
  readonly target: UsageTarget;
  readonly credential: CredentialId;
  sketched: SketchEntry | undefined;
  count: number;
  lastMs: number;
  /** The headers of the counted requests, without longer ones, since many cells stay in memory. */
  agent: string | undefined;
  loaded: string | undefined;
  isDirty: boolean;
}

export type UsageCounter = ReturnType<typeof createUsageCounter>;

interface UsageCounterOptions {
  readonly log?: Pick<Logger, 'warn'>;
  /** For tests. Default: {@link defaultMaxTallies}. */
  readonly maxTallies?: number;
}

/** Counts the use of lists and contents in memory, and writes it in batches. */
export function createUsageCounter(
  deps: Pick<Deps, 'store' | 'clock'>,
  { log, maxTallies = defaultMaxTallies }: UsageCounterOptions = {},
) {
  /** Names this process in the store. */
  const id = newId('process');
  let serial = 0;
  let dirty: UsageCell[] = [];
  let batch = new UsageBatch(maxTallies);
  /** A batch whose transaction failed. It may have been committed: then the store knows its serial number. */
  let failed: { readonly serial: number; readonly batch: UsageBatch } | undefined;
  let flushing: Promise<void> | undefined;
  let hourStart = 0;
  let hourEnd = 0;

  function empty(cell: UsageCell): void {
    if (cell.count === 0) return;
    cell.sketched ??= sketchEntry(cell.credential);
    batch.add(hourStart, cell as UsageCell & { sketched: SketchEntry });
    cell.count = 0;
  }

  /** Adds everything that was counted to the batch. */
  function drain(): void {
    for (const cell of dirty) {
      empty(cell);
      cell.isDirty = false;
    }
    dirty = [];
  }

  async function write(): Promise<void> {
    if (failed !== undefined) await writeBatch(failed);
    failed = undefined;
    drain();
    if (batch.tallies.size === 0) return;
    failed = { serial: ++serial, batch };
    batch = new UsageBatch(maxTallies);
    await writeBatch(failed);
    failed = undefined;
  }

  async function writeBatch({ serial, batch: { tallies, dropped } }: NonNullable<typeof failed>): Promise<void> {
    const { subjects, days } = await attributeUsage(deps.store.read, [...tallies.values()]);
    await deps.store.writeLocking((tx) => tx.addUsage({ id, serial, atMs: deps.clock() }, subjects, days));
    if (dropped > 0) log?.warn({ requests: dropped }, 'usage: requests for too many contents were not counted');
  }

  return {
    /** Returns what counts the requests of an actor; `undefined` for a browser's session, whose requests are not those of a host. */
    cell({ tokenId, sessionId }: Pick<Actor, 'tokenId' | 'sessionId'>, target: UsageTarget): UsageCell | undefined {
      if (sessionId !== null) return undefined;
      const headers = { agent: undefined, loaded: undefined };
      return { target, credential: tokenId, sketched: undefined, count: 0, lastMs: 0, ...headers, isDirty: false };
    },
    /** Counts a request. */
    note(cell: UsageCell, headers: IncomingHttpHeaders): void {
      const now = deps.clock();
      if (now >= hourEnd || now < hourStart || dirty.length >= 2 * maxTallies) {
        drain();
        hourStart = now - (now % hourMs);
        hourEnd = hourStart + hourMs;
      }
      const agent = ofBoundedLength(headers['user-agent'], maxAgentLength);
      const loaded = ofBoundedLength(headers[loadedHeader], maxLoadedLength);
      if (agent !== cell.agent || loaded !== cell.loaded) {
        empty(cell);
        cell.agent = agent;
        cell.loaded = loaded;
      }
      cell.count++;
      cell.lastMs = now;
      if (!cell.isDirty) {
        cell.isDirty = true;
        dirty.push(cell);
      }
    },
    /** Writes what was counted. After a failure, it is kept and written by the next call. */
    flush(): Promise<void> {
      flushing ??= write().finally(() => {
        flushing = undefined;
      });
      return flushing;
    },
  };
}

function ofBoundedLength(header: string | string[] | undefined, max: number): string | undefined {
  return typeof header === 'string' && header.length <= max ? header : undefined;
}
