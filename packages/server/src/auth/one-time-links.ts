import { newId, type OneTimeLinkInfo, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { OneTimeLinkPurpose, OneTimeLinkRecord } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound } from '../http/domain-errors.ts';
import { time } from '../http/wire-time.ts';
import { hashSecret, makeCode } from './secrets.ts';

/** The paths of the links. The code is in the URL's fragment, which browsers don't send to servers. */
const pages: Readonly<Record<OneTimeLinkPurpose, string>> = {
  set_up: '/set-up',
  reset_password: '/reset-password',
};

export interface CreatedLink {
  readonly record: OneTimeLinkRecord;
  /** The secret of the link. Only its hash is stored. */
  readonly code: string;
}

export type LinkDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'settings'>;

export function linkUrl(baseUrl: string, { record, code }: CreatedLink): string {
  return `${baseUrl}${pages[record.purpose]}#code=${code}`;
}

/**
 * Creates a link that lets its holder create one account.
 *
 * @param isForFirstUser whether the link works only while there is no account
 */
export function createSetUpLink(deps: LinkDeps, isForFirstUser: boolean): Promise<CreatedLink> {
  return deps.store.write(async (tx) => {
    const link = await insertLink(deps, tx, { purpose: 'set_up', userId: null, isForFirstUser });
    const target = { id: link.record.id, name: null };
    await record(deps, tx, 'operator', { action: 'link.create', target, details: { isForFirstUser } });
    return link;
  });
}

/** Creates a link that lets its holder set a user's password, and so sign in as that user. */
export function insertPasswordLink(
  deps: LinkDeps,
  tx: Transaction,
  userId: UserId,
  expiresAtMs?: number,
): Promise<CreatedLink> {
  return insertLink(deps, tx, { purpose: 'reset_password', userId, isForFirstUser: false }, expiresAtMs);
}

async function insertLink(
  { clock, random, settings }: LinkDeps,
  tx: Transaction,
  fields: Pick<OneTimeLinkRecord, 'purpose' | 'userId' | 'isForFirstUser'>,
  expiresAtMs?: number,
): Promise<CreatedLink> {
  const code = makeCode(random);
  const createdAtMs = clock();
  const record: OneTimeLinkRecord = {
    id: newId('oneTimeLink'),
    ...fields,
    codeHash: hashSecret(code),
    createdAtMs,
    expiresAtMs: expiresAtMs ?? createdAtMs + settings.linkLifetimeMs,
    usedAtMs: null,
  };
  await tx.insertOneTimeLink(record);
  return { record, code };
}

/**
 * Finds a link that was not used and has not expired.
 *
 * @param purpose finds only links for this purpose
 * @throws DomainError `not_found`, `link_used`, `link_expired`
 */
export function findUsableLink(
  queries: Queries,
  code: string,
  nowMs: number,
  purpose?: OneTimeLinkPurpose,
): Promise<OneTimeLinkRecord> {
  return findUsableByHash(queries, hashSecret(code), nowMs, purpose);
}

/** As {@link findUsableLink}, by the hash of the code. */
export async function findUsableByHash(
  queries: Queries,
  codeHash: string,
  nowMs: number,
  purpose?: OneTimeLinkPurpose,
): Promise<OneTimeLinkRecord> {
  const link = await queries.oneTimeLinkByHash(codeHash);
  if (link === undefined || (purpose !== undefined && link.purpose !== purpose)) throw notFound('link');
  if (link.usedAtMs !== null) {
    throw new DomainError('link_used', 'The link has been used. Sign in, or ask the operator for another one.');
  }
  if (link.expiresAtMs <= nowMs) {
    throw new DomainError('link_expired', 'The link has expired. Ask the operator for another one.');
  }
  if (link.isForFirstUser && (await queries.anyUser())) {
    throw new DomainError('link_expired', 'The link was for the first account, which already exists.');
  }
  return link;
}

/**
 * Describes a link to its holder. `email` is the address of the user whose password the link sets.
 *
 * @throws DomainError `not_found`, `link_used`, `link_expired`
 */
export async function describeLink(deps: Deps, code: string): Promise<OneTimeLinkInfo> {
  const { read } = deps.store;
  const { purpose, userId, expiresAtMs } = await findUsableLink(read, code, deps.clock());
  const user = userId === null ? undefined : await read.user(userId);
  return { purpose, email: user?.email ?? null, expiresAt: time(expiresAtMs) };
}
