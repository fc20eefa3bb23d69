import { newId, type UserId } from '@tenon/protocol';
import { record } from './audit/record.ts';
import type { Context } from './context.ts';
import { DomainError, notFound } from './errors.ts';
import type { Queries, Transaction } from './ports.ts';
import type { OneTimeLinkPurpose, OneTimeLinkRecord } from './records.ts';
import { hashSecret, makeCode } from './secrets.ts';

/** The pages that links lead to. The code stands behind `#`, in the fragment, which no browser sends anywhere. */
const pages: Readonly<Record<OneTimeLinkPurpose, string>> = {
  set_up: '/set-up',
  reset_password: '/reset-password',
};

/** A new link; its code is kept nowhere. */
export interface CreatedLink {
  readonly record: OneTimeLinkRecord;
  readonly code: string;
}

type Deps = Pick<Context, 'store' | 'clock' | 'random' | 'limits'>;

/** The link itself, below `{base_url}`. */
export function linkUrl(baseUrl: string, { record, code }: CreatedLink): string {
  return `${baseUrl}${pages[record.purpose]}#code=${code}`;
}

/** Makes a link by which whoever holds it makes one account; the first user's works as long as there is none. */
export function createSetUpLink(parts: Deps, isForFirstUser: boolean): Promise<CreatedLink> {
  return parts.store.write(async (tx) => {
    const link = await insertLink(parts, tx, { purpose: 'set_up', userId: null, isForFirstUser });
    const target = { id: link.record.id, name: null };
    await record(parts, tx, 'operator', { action: 'link.create', target, details: { isForFirstUser } });
    return link;
  });
}

/** Makes a link by which whoever holds it sets a user's password, and so signs in as that user. */
export function insertPasswordLink(parts: Deps, tx: Transaction, userId: UserId): Promise<CreatedLink> {
  return insertLink(parts, tx, { purpose: 'reset_password', userId, isForFirstUser: false });
}

async function insertLink(
  { clock, random, limits }: Deps,
  tx: Transaction,
  fields: Pick<OneTimeLinkRecord, 'purpose' | 'userId' | 'isForFirstUser'>,
): Promise<CreatedLink> {
  const code = makeCode(random);
  const createdAtMs = clock();
  const record: OneTimeLinkRecord = {
    id: newId('oneTimeLink'),
    ...fields,
    codeHash: hashSecret(code),
    createdAtMs,
    expiresAtMs: createdAtMs + limits.linkLifetimeMs,
    usedAtMs: null,
  };
  await tx.insertOneTimeLink(record);
  return { record, code };
}

/**
 * Finds a link that can still be used.
 *
 * @param purpose one that is for something else is not found
 * @throws DomainError `not_found`, `link_used`, `link_expired`
 */
export async function findUsableLink(
  queries: Queries,
  code: string,
  nowMs: number,
  purpose?: OneTimeLinkPurpose,
): Promise<OneTimeLinkRecord> {
  const link = await queries.oneTimeLinkByHash(hashSecret(code));
  if (link === undefined || (purpose !== undefined && link.purpose !== purpose)) throw notFound('link');
  if (link.usedAtMs !== null) {
    throw new DomainError('link_used', 'The link has been used. Sign in, or ask the operator for another one.');
  }
  if (link.expiresAtMs <= nowMs) {
    throw new DomainError('link_expired', 'The link has expired. Ask the operator for another one.');
  }
  if (link.isForFirstUser && (await queries.anyUser())) {
    throw new DomainError('link_expired', 'The link was for the first account, and there is one by now.');
  }
  return link;
}

/** What the holder of a link's code may know before using it. */
export interface OneTimeLinkSummary {
  readonly purpose: OneTimeLinkPurpose;
  /** Whose password it sets. */
  readonly email: string | null;
  readonly expiresAtMs: number;
}

/** @throws DomainError `not_found`, `link_used`, `link_expired` */
export async function describeLink(context: Context, code: string): Promise<OneTimeLinkSummary> {
  const { read } = context.store;
  const { purpose, userId, expiresAtMs } = await findUsableLink(read, code, context.clock());
  const user = userId === null ? undefined : await read.user(userId);
  return { purpose, email: user?.email ?? null, expiresAtMs };
}
