import type { AppId, UserId } from '@tenon/protocol';
import {
  type AccountAuditEvent,
  type AuditEventRecord,
  type AuditFilter,
  type AuditPage,
  auditCursor,
  parseAuditCursor,
} from '../db/audit-records.ts';
import { type PageOf, readAllPages, readPage } from '../db/paging.ts';
import type { Page } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import { sealIfPossible } from './seal.ts';

/** How many events one query of an export reads. */
const exportBatchSize = 500;

/**
 * Lists an application's audit events, the newest first.
 *
 * @throws DomainError `invalid_request` for an invalid cursor
 */
export function listAppAudit(
  { store }: Pick<Deps, 'store'>,
  appId: AppId,
  filter: AuditFilter,
  page: Page,
): Promise<PageOf<AuditEventRecord>> {
  return readAuditPage(page, (range) => store.read.auditOfApp(appId, filter, range));
}

/** Lists the actor's actions and the changes of the actor's account, the newest first. */
export function listOwnAudit(
  { store }: Pick<Deps, 'store'>,
  userId: UserId,
  filter: AuditFilter,
  page: Page,
): Promise<PageOf<AccountAuditEvent>> {
  return readAuditPage(page, (range) => store.read.auditOfAccount(userId, filter, range));
}

/** Lists all audit events, for the operator. */
export function listAllAudit(
  { store }: Pick<Deps, 'store'>,
  filter: AuditFilter,
  page: Page,
): Promise<PageOf<AuditEventRecord>> {
  return readAuditPage(page, (range) => store.read.auditOfAll(filter, range));
}

async function readAuditPage<T extends AccountAuditEvent>(
  page: Page,
  list: (page: AuditPage) => Promise<T[]>,
): Promise<PageOf<T>> {
  const { before, after } = page;
  if (before !== undefined || (after !== undefined && parseAuditCursor(after) === undefined)) {
    throw new DomainError('invalid_request', 'In the query, "cursor" must be a cursor that this list returned.');
  }
  const { items, next } = await readPage(page, auditCursor, list);
  return { items, next };
}

/** Reads all audit events of an application, the newest first, in batches, with backpressure. */
export function exportAppAudit(
  { store }: Pick<Deps, 'store'>,
  appId: AppId,
  filter: AuditFilter,
): AsyncGenerator<readonly AuditEventRecord[]> {
  return readAllPages(exportBatchSize, auditCursor, (page) => store.read.auditOfApp(appId, filter, page));
}

/** How many events one transaction deletes. It is limited because other writers wait for the transaction. */
const purgeBatchSize = 1000;

/**
 * Deletes audit events that are older than the retention time, from the beginning of the hash chain.
 *
 * @returns the number of deleted events
 */
export async function purgeExpiredAuditEvents(
  deps: Pick<Deps, 'store' | 'clock' | 'random'>,
  retentionMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const beforeMs = deps.clock() - retentionMs;
  await sealIfPossible(deps, signal);
  for (let deleted = 0; ; ) {
    signal?.throwIfAborted();
    const batch = await deps.store.write((tx) => tx.deleteAuditBefore(beforeMs, purgeBatchSize));
    deleted += batch.deleted;
    if (batch.isDone) return deleted;
  }
}
