import { isId, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { type AppAccess, renewAccess } from '../auth/access.ts';
import { isConfirmed, requireStepUp } from '../auth/confirmation.ts';
import { type PageOf, readPage } from '../db/paging.ts';
import type { BlockedPublisherRecord, BlockRecord, UserRecord } from '../db/records.ts';
import type { Page, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { queueNotice } from '../mail/notices.ts';
import { finishRebind, rebindAll, retryAfterPendingRebind } from './rebind.ts';

/** A block with its publisher's name. */
export type NamedBlock = BlockedPublisherRecord & { readonly userName: string };

/** Lists the publishers that the application's team has blocked. */
export function listBlockedPublishers(deps: Deps, access: AppAccess, page: Page): Promise<PageOf<NamedBlock>> {
  return readPage(
    page,
    ({ userId }: NamedBlock) => userId,
    (range) => deps.store.read.blockedPublishers(access.app.id, range),
  );
}

/**
 * Blocks a publisher in an application. Until the team unblocks the publisher, no binding has one of the publisher's plugins, and the
 * publisher can't publish there. Blocks of single plugins stay as they are. Blocking a blocked publisher replaces the reason. As for
 * `blockPlugin()`, a session needs no step-up, and the block is then marked as unconfirmed.
 *
 * @throws DomainError `not_found` for a user who has no plugin and holds no guest in the application
 */
export async function blockPublisher(
  deps: Deps,
  access: AppAccess,
  userId: string,
  reason: string,
): Promise<NamedBlock> {
  const { actor, app } = access;
  let block: BlockRecord = { atMs: deps.clock(), reason };
  const user = await changePublisher(deps, access, userId, async (tx, { id, name }) => {
    if (!(await tx.isPublisher(app.id, id))) throw notFound('publisher');
    const mark = (await isConfirmed(deps, actor.sessionId, tx)) ? {} : { isConfirmed: false };
    block = { ...block, ...mark };
    await tx.putPublisherBlock({ appId: app.id, userId: id, block });
    const plugins = (await tx.pluginsOfPublisher(app.id, id)).length;
    const details = { reason, plugins, ...mark };
    await record(deps, tx, actor, { action: 'publisher.block', appId: app.id, target: { id, name }, details });
    if (id === actor.userId) return;
    const facts = { what: 'blocked', of: 'publisher', reason, app: app.name };
    await queueNotice(deps, tx, id, 'withdrawals', { appId: app.id, facts });
  });
  return { appId: app.id, userId: user.id, block, userName: user.name };
}

/** @throws DomainError `not_found` for a publisher who is not blocked, `step_up_required` */
export async function unblockPublisher(deps: Deps, access: AppAccess, userId: string): Promise<void> {
  const { actor, app } = access;
  await changePublisher(deps, access, userId, async (tx, { id, name }) => {
    if ((await tx.publisherBlock(app.id, id)) === undefined) throw notFound('block');
    await requireStepUp(deps, actor.sessionId, tx);
    await tx.deletePublisherBlock(app.id, id);
    await record(deps, tx, actor, { action: 'publisher.unblock', appId: app.id, target: { id, name } });
  });
}

/** Changes what applies to all plugins of a publisher, and recomputes their bindings. */
async function changePublisher(
  deps: Deps,
  access: AppAccess,
  userId: string,
  change: (tx: Transaction, user: UserRecord) => Promise<void>,
): Promise<UserRecord> {
  const { id: appId } = access.app;
  if (!isId('user', userId)) throw notFound('publisher');
  const write = async (tx: Transaction) => {
    await renewAccess(tx, access, 'decideOnPlugins');
    const user = await tx.user(userId);
    if (user === undefined || user.deletedAtMs !== null) throw notFound('publisher');
    await change(tx, user);
    return { user, pending: await rebindAll(tx, await tx.pluginsOfPublisher(appId, userId), deps.clock()) };
  };
  await finishPendingPlugins(deps, access, userId);
  const { user, pending } = await retryAfterPendingRebind(deps, () => deps.store.write(write));
  for (const key of pending) await finishRebind(deps, key);
  return user;
}

/** A change of very many plugins may have ended with its process. */
async function finishPendingPlugins(deps: Deps, { app }: AppAccess, userId: UserId): Promise<void> {
  const pending = await deps.store.read.pluginsOfPublisher(app.id, userId, { isPending: true });
  for (const key of pending) await finishRebind(deps, key);
}

/** @throws DomainError `publisher_blocked` */
export function requirePublisherNotBlocked(block: BlockRecord | null | undefined): void {
  if (block == null) return;
  throw new DomainError(
    'publisher_blocked',
    `The application's team has blocked all your plugins, so you can publish none. Their reason: ${block.reason}`,
  );
}
