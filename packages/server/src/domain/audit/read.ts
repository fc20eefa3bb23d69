import type { AppId } from '@tenon/protocol';
import type { Actor, AppAccess } from '../access.ts';
import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import { type PageOf, readPage } from '../paging.ts';
import type { Page } from '../ports.ts';
import {
  type AccountAuditEvent,
  type AuditEventRecord,
  type AuditFilter,
  type AuditPage,
  auditCursor,
  parseAuditCursor,
} from './ports.ts';

/** How many events of an export are read at once. */
const exportBatchSize = 500;

/**
 * An application's trail, the newest event first. It never comes whole.
 *
 * @throws DomainError `invalid_request` for a cursor that is none
 */
export function listAppAudit(
  { store }: Pick<Context, 'store'>,
  access: Pick<AppAccess, 'app'>,
  filter: AuditFilter,
  page: Page,
): Promise<PageOf<AuditEventRecord>> {
  return readAuditPage(page, (range) => store.read.auditOfApp(access.app.id, filter, range));
}

/** What the actor did, and what others did to the actor's account, the newest event first. */
export function listOwnAudit(
  { store }: Pick<Context, 'store'>,
  { userId }: Pick<Actor, 'userId'>,
  filter: AuditFilter,
  page: Page,
): Promise<PageOf<AccountAuditEvent>> {
  return readAuditPage(page, (range) => store.read.auditOfAccount(userId, filter, range));
}

/** What everybody did, for the operator, who has the database. */
export function listAllAudit(
  { store }: Pick<Context, 'store'>,
  filter: AuditFilter,
  page: Page,
): Promise<PageOf<AuditEventRecord>> {
  return readAuditPage(page, (range) => store.read.auditOfAll(filter, range));
}

function readAuditPage<T extends AccountAuditEvent>(
  page: Page,
  list: (page: AuditPage) => Promise<T[]>,
): Promise<PageOf<T>> {
  if (page.after !== undefined && parseAuditCursor(page.after) === undefined) {
    throw new DomainError('invalid_request', 'In the query, "cursor" is not one that a page of this list ended with.');
  }
  return readPage(page, auditCursor, list);
}

/** An application's trail from its newest event to its oldest, read in batches as fast as it is taken. */
export async function* exportAppAudit(
  { store }: Pick<Context, 'store'>,
  access: { readonly app: { readonly id: AppId } },
  filter: AuditFilter,
): AsyncGenerator<readonly AuditEventRecord[]> {
  let after: string | undefined;
  for (;;) {
    const batch = await store.read.auditOfApp(access.app.id, filter, { after, limit: exportBatchSize });
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    if (batch.length < exportBatchSize) return;
    after = auditCursor(last);
  }
}

/** How many events are deleted in one transaction, so that nobody waits long for it. */
const purgeBatchSize = 1000;

/**
 * Deletes what is older than it is to be kept.
 *
 * @returns how many events
 */
export async function purgeExpiredAuditEvents(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  retentionMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const beforeMs = clock() - retentionMs;
  for (let deleted = 0; ; ) {
    signal?.throwIfAborted();
    const count = await store.write((tx) => tx.deleteAuditBefore(beforeMs, purgeBatchSize));
    deleted += count;
    if (count < purgeBatchSize) return deleted;
  }
}
