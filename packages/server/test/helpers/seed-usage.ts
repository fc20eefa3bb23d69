import { join } from 'node:path';
import type { AppId, ContentAddress, ExtensionPointId, TokenId, UserId } from '@tenon/protocol';
import { newId } from '@tenon/protocol';
import { openSqliteStore } from '../../src/db/sqlite/store.ts';
import { statements } from '../../src/queries.ts';
import { createUsageCounter, type UsageCell } from '../../src/usage/usage-counter.ts';

const dayMs = 24 * 3_600_000;

/** What a host requested on a day. */
export interface UsedDay {
  /** How many days before today. */
  readonly daysAgo: number;
  readonly listRequests: number;
  readonly contentFetches: number;
}

/** The host's list, and a content in it. */
export interface UsedList {
  readonly appId: string;
  readonly extensionPointId: string;
  readonly guestKey: string;
  readonly contentAddress: string;
  /** A member whose token the host has. */
  readonly userId: string;
}

/**
 * Counts requests of earlier days, as the server would have.
 *
 * @param dataDir the data folder of a server with SQLite, which may run
 */
export async function seedUsage(dataDir: string, list: UsedList, days: readonly UsedDay[]): Promise<void> {
  const store = await openSqliteStore(statements, { file: join(dataDir, 'tenon.db') });
  let nowMs = Date.now();
  const startMs = nowMs - (nowMs % dayMs);
  const counter = createUsageCounter({ store, clock: () => nowMs });
  const tokenId: TokenId = newId('token');
  const appId = list.appId as AppId;
  const extensionPointId = list.extensionPointId as ExtensionPointId;
  const contentAddress = list.contentAddress as ContentAddress;
  const userId = list.userId as UserId;
  const cellOf = (target: UsageCell['target']) => counter.cell({ tokenId, sessionId: null }, target) as UsageCell;
  const note = (cell: UsageCell, times: number): void => {
    if (times === 0) return;
    counter.note(cell, { 'user-agent': 'spreadsheet-host/2.4.1 (linux)', 'tenon-loaded': contentAddress });
    cell.count += times - 1;
  };
  try {
    for (const { daysAgo, listRequests, contentFetches } of days) {
      nowMs = startMs - daysAgo * dayMs;
      note(cellOf({ kind: 'list', appId, extensionPointId, guestKey: list.guestKey }), listRequests);
      note(cellOf({ kind: 'content', address: contentAddress, userId, tokenAppId: null }), contentFetches);
      await counter.flush();
    }
  } finally {
    await store.close();
  }
}
