import { type AppId, isId, type UserId } from '@tenon/protocol';
import { type QuotaName, quotas } from '../config/quotas.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { queueNotice, queueOwnerNotices } from '../mail/notices.ts';

export type WarningDeps = Pick<Deps, 'clock' | 'settings'>;

/** The levels of a quota that are warned about, in percent of the limit, the highest first. */
const warnedPercents = [95, 80];

/** The time after which a level is warned about again, if the usage was below it meanwhile, in milliseconds. */
const repeatIntervalMs = 24 * 60 * 60 * 1000;

interface Change {
  readonly limit: number;
  /** The usage before and after the change. */
  readonly before: number;
  readonly after: number;
}

/** The highest warned level that a usage reaches; 0 below all. */
function levelOf(used: number, limit: number): number {
  return warnedPercents.find((percent) => used * 100 >= limit * percent) ?? 0;
}

/**
 * Warns an account, or the owners of an application, if a change makes the use of a quota reach a level of {@link warnedPercents}, or if it
 * is at a level that no warning was about, because an operator lowered the limit. Call it in the transaction of the change.
 */
export async function warnOfQuota(
  deps: WarningDeps,
  tx: Transaction,
  name: QuotaName,
  id: UserId | AppId,
  { limit, before, after }: Change,
): Promise<void> {
  const percent = levelOf(after, limit);
  if (percent === 0) return;
  const warned = await tx.quotaWarning(id, name);
  const isReached = percent > levelOf(before, limit) || percent > (warned?.percent ?? 0);
  if (!isReached) return;
  const nowMs = deps.clock();
  if (warned !== undefined && warned.percent >= percent && nowMs - warned.warnedAtMs < repeatIntervalMs) return;
  const ofUser = isId('user', id);
  const [userId, appId] = [ofUser ? id : null, isId('app', id) ? id : null];
  await tx.putQuotaWarning({ subjectId: id, name, userId, appId, percent, warnedAtMs: nowMs });
  const facts = { name, what: quotas[name].what, percent: String(percent), limit: limit.toLocaleString('en') };
  if (userId !== null) await queueNotice(deps, tx, userId, 'quotas', { facts });
  if (appId !== null) await queueOwnerNotices(deps, tx, appId, 'quotas', facts);
}
