import { type AppId, isId, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { isQuota } from '../config/quota-list.ts';
import { type QuotaName, quotas } from '../config/quotas.ts';
import { cursorOfValues } from '../db/page-queries.ts';
import { type PageOf, readPage } from '../db/paging.ts';
import type { ListedQuotaOverride, Page, Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { type OperatorActor, renewOperator } from './manage-users.ts';
import { warnOfQuota } from './quota-warnings.ts';
import { type QuotaUsage, readAccountQuotas, readAppQuotas } from './quotas.ts';

/* The limits that operators set for one account or application. They take precedence over `TENON_QUOTAS`. */

type OverrideDeps = Pick<Deps, 'store' | 'clock' | 'settings' | 'auditAuthor'>;

/** An account or an application. */
interface Subject {
  readonly id: UserId | AppId;
  readonly name: string;
}

export function listQuotaOverrides(
  { store: { read } }: Pick<Deps, 'store'>,
  page: Page,
): Promise<PageOf<ListedQuotaOverride>> {
  const cursorOf = ({ subjectId, name }: ListedQuotaOverride) => cursorOfValues(subjectId, name);
  return readPage(page, cursorOf, (range) => read.listedQuotaOverrides(range));
}

/** Reads the quotas of an account or an application, for operators. @throws DomainError `not_found` */
export async function readQuotasOf(
  deps: Pick<Deps, 'store' | 'clock' | 'settings'>,
  subjectId: string,
): Promise<QuotaUsage[]> {
  const { read } = deps.store;
  return readUsage(deps, read, await requireSubject(read, subjectId));
}

function readUsage(deps: Pick<Deps, 'clock' | 'settings'>, read: Queries, { id }: Subject): Promise<QuotaUsage[]> {
  return isId('user', id) ? readAccountQuotas(deps, read, id) : readAppQuotas(deps, read, id as AppId);
}

/**
 * Sets a quota of an account or an application, or removes what was set. It applies to the next change on each node.
 *
 * @param value the limit; `null` removes the override
 * @returns whether this changed anything
 * @throws DomainError `not_found`, `invalid_request` for a quota of the other kind, and as {@link renewOperator}
 */
export function setQuotaOverride(
  deps: OverrideDeps,
  actor: OperatorActor,
  subjectId: string,
  name: string,
  value: number | null,
): Promise<boolean> {
  return deps.store.write(async (tx) => {
    await renewOperator(deps, tx, actor);
    const subject = await requireSubject(tx, subjectId);
    requireQuotaOf(subject, name);
    const { id } = subject;
    const present = (await tx.quotaOverrides([id])).find((one) => one.name === name)?.value ?? null;
    if (present === value) return false;
    if (value === null) await tx.deleteQuotaOverride(id, name);
    else await tx.putQuotaOverride({ subjectId: id, name, ...ownersOf(id), value, updatedAtMs: deps.clock() });
    await recordChange(deps, tx, actor, subject, { quota: name, limit: { before: present, after: value } });
    const usage = (await readUsage(deps, tx, subject)).find((one) => one.name === name);
    if (usage !== undefined) {
      const { limit, used } = usage;
      await warnOfQuota(deps, tx, name, id, { limit, before: used, after: used });
    }
    return true;
  });
}

function ownersOf(id: UserId | AppId) {
  return { userId: isId('user', id) ? id : null, appId: isId('app', id) ? id : null };
}

async function requireSubject(read: Queries, id: string): Promise<Subject> {
  if (isId('user', id)) {
    const user = await read.user(id);
    if (user?.deletedAtMs === null) return user;
  }
  const app = isId('app', id) ? await read.app(id) : undefined;
  if (app === undefined) throw notFound('account or application');
  return app;
}

function requireQuotaOf({ id }: Subject, name: string): asserts name is QuotaName {
  if (!isQuota(name)) throw notFound('quota');
  const { of } = quotas[name];
  if ((of === 'account') === isId('user', id)) return;
  throw new DomainError('invalid_request', `The quota "${name}" is of an ${of} (got ${id}).`);
}

/** Records the change in the trail of the account or the application, without the operator's name, and in the operator's own trail. */
async function recordChange(
  deps: OverrideDeps,
  tx: Transaction,
  actor: OperatorActor,
  target: Subject,
  details: { readonly quota: string; readonly limit: object },
): Promise<void> {
  const { id } = target;
  if (isId('user', id)) {
    await record(deps, tx, 'operator', { action: 'account.quota', accountId: id, target, details });
    if (actor !== 'operator') await record(deps, tx, actor, { action: 'account.quota', target, details });
    return;
  }
  await record(deps, tx, 'operator', { action: 'app.quota', appId: id as AppId, target, details });
  if (actor !== 'operator') await record(deps, tx, actor, { action: 'app.quota', target, details });
}
