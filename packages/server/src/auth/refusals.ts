import { type AppId, type AuditDetail, newId, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import { ConflictError, StorageFullError, UnavailableError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { networkOf } from '../http/client-address.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { RefusalMeans, RefusalReason } from './refusal-reasons.ts';

type RefusalDetail = Exclude<AuditDetail<'sign_in.refuse' | 'token_exchange.refuse'>, 'means' | 'reason'>;

export interface Refusal {
  readonly means: RefusalMeans;
  readonly reason: RefusalReason;
  /** The client's network address; `null` if the caller is signed in already. */
  readonly address: string | null;
  /** The account that the caller tried to sign in to. Its user sees the refusal. */
  readonly accountId?: UserId | undefined;
  /** The application for which a token was requested. Its owners see the refusal. */
  readonly appId?: AppId | undefined;
  /** Must not contain secrets or users' names. Longer texts are cut off. */
  readonly details?: { readonly [Name in RefusalDetail]?: string | null };
}

const maxDetailLength = 200;

/**
 * Records a refused sign-in or token exchange in the audit trail, and counts it. Rate limits by network and for all networks together
 * bound the written events. It takes equally long with and without an account. Call it outside of transactions.
 *
 * Never fails because of the store: the caller refuses the request anyway.
 */
export async function recordRefusal(deps: Deps, refusal: Refusal): Promise<void> {
  const { means, reason, address, accountId, appId, details = {} } = refusal;
  deps.refusalCounts?.refused(means, reason);
  if (!takeEvent(deps, refusal)) {
    deps.refusalCounts?.suppressed();
    return;
  }
  const texts = Object.entries(details).map(([name, text]) => [name, text?.slice(0, maxDetailLength)]);
  const entryDetails = { means, reason, ...Object.fromEntries(texts) };
  try {
    await deps.store.write(async (tx) => {
      const user = await tx.user(accountId ?? newId('user')); // without an account too, so that it takes equally long
      const target = { id: accountId ?? 'unknown', name: user?.name ?? null };
      const entry = { accountId, address, target, details: entryDetails };
      if (means !== 'token_exchange') await record(deps, tx, 'system', { ...entry, action: 'sign_in.refuse' });
      else if (appId === undefined) await record(deps, tx, 'system', { ...entry, action: 'token_exchange.refuse' });
      else await record(deps, tx, 'system', { ...entry, appId, action: 'token_exchange.refuse' });
    });
  } catch (error) {
    const isOfStore =
      error instanceof StorageFullError || error instanceof UnavailableError || error instanceof ConflictError;
    if (!isOfStore) throw error;
    deps.refusalCounts?.suppressed();
  }
}

/** Whether the rate limits allow another event. */
function takeEvent({ rates }: Deps, { address, accountId }: Refusal): boolean {
  const network = address === null ? `account ${accountId}` : networkOf(address);
  return rates.refusalsByNetwork.take(network) === 0 && rates.refusals.take('all') === 0;
}

const reasonsOfErrors: { readonly [code: string]: RefusalReason } = {
  invalid_credentials: 'wrong_password',
  rate_limited: 'rate_limited',
  account_suspended: 'suspended',
};

/** Runs an attempt to enter a password, and records its refusal. */
export async function recordingRefusal<T>(
  deps: Deps,
  facts: Pick<Refusal, 'address' | 'accountId'>,
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    const reason = error instanceof DomainError ? reasonsOfErrors[error.code] : undefined;
    if (reason !== undefined) await recordRefusal(deps, { ...facts, means: 'password', reason });
    throw error;
  }
}
