import type { AppId, UserId } from '@tenon/protocol';
import { TooManyAttemptsError } from './attempts.ts';
import { DomainError } from './errors.ts';
import type { Clock, Queries, Store, Transaction } from './ports.ts';
import type { PluginKey, PluginRecord } from './records.ts';

const GiB = 2 ** 30;

interface QuotaDeclaration {
  /** Who has it: an account, or an application. */
  readonly of: 'account' | 'application';
  readonly default: number;
  readonly isBytes?: true;
  /** What it bounds, after its number. */
  readonly what: string;
}

/** How much of the server's storage one account and one application take at most: the one table. */
export const quotas = {
  applications: { of: 'account', default: 20, what: 'applications that the account owns' },
  tokens: { of: 'account', default: 50, what: 'access tokens that have not expired' },
  'api-keys': { of: 'account', default: 50, what: 'API keys that have not expired' },
  'account-bytes': {
    of: 'account',
    default: 5 * GiB,
    isBytes: true,
    what: 'bytes of published versions of the account',
  },
  'app-bytes': { of: 'application', default: 20 * GiB, isBytes: true, what: 'bytes of published versions' },
  'extension-points': { of: 'application', default: 500, what: 'extension points' },
  'schema-bytes': { of: 'application', default: 8 * 2 ** 20, isBytes: true, what: 'bytes of schemas' },
  guests: { of: 'application', default: 100_000, what: 'guests and open invitations' },
  plugins: { of: 'application', default: 10_000, what: 'plugins' },
  versions: { of: 'application', default: 1000, what: 'versions of one plugin' },
  'publish-burst': { of: 'application', default: 10, what: 'versions of one plugin published at once' },
  'publishes-per-hour': {
    of: 'application',
    default: 60,
    what: 'versions of one plugin published in an hour, after the burst',
  },
} as const satisfies Readonly<Record<string, QuotaDeclaration>>;

export type QuotaName = keyof typeof quotas;

/** The quotas that are in force. */
export interface Quotas {
  /** For every account and application; those that are left out have their defaults. */
  readonly all: Readonly<Partial<Record<QuotaName, number>>>;
  /** For one account or application, by its id. An object, because the configuration goes to workers as JSON. */
  readonly byId: Readonly<Record<string, Readonly<Partial<Record<QuotaName, number>>>>>;
}

/** The defaults of {@link quotas}. */
export const defaultQuotas: Quotas = { all: {}, byId: {} };

/** The value of a quota for an account or an application. */
export function quotaLimit({ all, byId }: Quotas, name: QuotaName, id: AppId | UserId): number {
  return byId[id]?.[name] ?? all[name] ?? quotas[name].default;
}

/**
 * Demands that an account or an application stays within a quota. Call in the transaction that takes it, before it is taken.
 *
 * @param taken how much is taken already
 * @param more how much is about to be taken
 * @throws DomainError `quota_exceeded`
 */
export function requireQuota(inForce: Quotas, name: QuotaName, id: AppId | UserId, taken: number, more = 1): void {
  const most = quotaLimit(inForce, name, id);
  if (taken + more <= most) return;
  const { of, what } = quotas[name];
  throw new DomainError(
    'quota_exceeded',
    `The ${of} ${id} has ${taken.toLocaleString('en')} of at most ${most.toLocaleString('en')} ${what}` +
      `${more === 1 ? '' : `, and this takes ${more.toLocaleString('en')} more`}. ` +
      `Delete some, or ask the server's operator to raise the quota "${name}" (TENON_QUOTAS).`,
  );
}

/** A quota that counts what is there, and how much is taken of it. */
export interface QuotaUsage extends QuotaDeclaration {
  readonly name: QuotaName;
  readonly limit: number;
  readonly used: number;
}

/** What a count of quotas takes of the context. */
interface QuotaContext {
  readonly store: Pick<Store, 'read'>;
  readonly limits: { readonly quotas: Quotas };
  readonly clock: Clock;
}

/** What an account takes of its quotas. */
export async function readAccountQuotas({ store, limits, clock }: QuotaContext, userId: UserId): Promise<QuotaUsage[]> {
  const { read } = store;
  const nowMs = clock();
  return usageOf(limits.quotas, userId, {
    applications: await read.countOwnedApps(userId),
    tokens: await read.countTokens(userId, nowMs),
    'api-keys': await read.countApiKeys(userId, nowMs),
    'account-bytes': await read.publishedBy(userId),
  });
}

/** What an application takes of its quotas. */
export async function readAppQuotas({ store, limits, clock }: QuotaContext, appId: AppId): Promise<QuotaUsage[]> {
  const { read } = store;
  const [published, schemas] = [await read.publishedIn(appId), await read.schemasOf(appId)];
  return usageOf(limits.quotas, appId, {
    'app-bytes': published.bytes,
    'extension-points': schemas.count,
    'schema-bytes': schemas.bytes,
    guests: await read.countGuests(appId, clock()),
    plugins: published.plugins,
  });
}

function usageOf(inForce: Quotas, id: AppId | UserId, used: Partial<Record<QuotaName, number>>): QuotaUsage[] {
  return Object.entries(used).map(([key, taken]) => {
    const name = key as QuotaName;
    return { ...quotas[name], name, limit: quotaLimit(inForce, name, id), used: taken };
  });
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/**
 * Demands that a version may be published: within the quotas of the account and the application, and at the plugin's rate.
 *
 * @param present the plugin; `undefined` for a new one
 * @returns the time up to which the plugin's publishes are paid for with it
 * @throws DomainError `quota_exceeded`; `rate_limited`, with the seconds to wait
 */
export async function requirePublishQuota(
  read: Pick<Queries, 'publishedBy' | 'publishedIn' | 'publishPaid'>,
  inForce: Quotas,
  key: PluginKey,
  appId: AppId,
  present: PluginRecord | undefined,
  size: number,
  nowMs: number,
): Promise<number> {
  requireQuota(inForce, 'account-bytes', key.userId, await read.publishedBy(key.userId), size);
  const { plugins, bytes } = await read.publishedIn(appId);
  requireQuota(inForce, 'app-bytes', appId, bytes, size);
  if (present === undefined) requireQuota(inForce, 'plugins', appId, plugins);
  else requireQuota(inForce, 'versions', appId, present.newest.number);
  const perHour = quotaLimit(inForce, 'publishes-per-hour', appId);
  const burst = quotaLimit(inForce, 'publish-burst', appId);
  return charge((await read.publishPaid(key)).pluginAtMs, nowMs, {
    costMs: hourMs / perHour,
    windowMs: (burst * hourMs) / perHour,
    what: `A plugin gets ${burst} versions at once, and ${perHour} an hour after that (quotas "publish-burst", "publishes-per-hour").`,
  });
}

/**
 * Counts bytes that an account stores, whatever becomes of the publish: as many a day as its quota of bytes. Deleting them frees the
 * quota at once and the disk after a day, so that without this rate an account could fill the disk.
 *
 * @throws DomainError `rate_limited`, with the seconds to wait
 */
export async function chargeStoredBytes(
  tx: Pick<Transaction, 'publishPaid' | 'payPublish'>,
  inForce: Quotas,
  key: PluginKey,
  size: number,
  nowMs: number,
): Promise<void> {
  const most = quotaLimit(inForce, 'account-bytes', key.userId);
  const accountAtMs = charge((await tx.publishPaid(key)).accountAtMs, nowMs, {
    costMs: Math.min(1, size / most) * dayMs,
    windowMs: dayMs,
    what: `Your account stored ${most.toLocaleString('en')} bytes within a day (quota "account-bytes").`,
  });
  await tx.payPublish(key, { accountAtMs });
}

interface Charge {
  readonly costMs: number;
  /** How far ahead of now may be paid for. */
  readonly windowMs: number;
  readonly what: string;
}

/**
 * The generic cell rate algorithm, whose one number is the time up to which everything so far is paid for. After a clock was set back
 * the first unit is let through, and the window begins there.
 *
 * @throws TooManyAttemptsError
 */
function charge(paidAtMs: number, nowMs: number, { costMs, windowMs, what }: Charge): number {
  const wasSetBack = paidAtMs > nowMs + windowMs;
  const paid = (wasSetBack ? nowMs + windowMs - costMs : Math.max(paidAtMs, nowMs)) + costMs;
  const waitMs = paid - (nowMs + windowMs);
  if (waitMs > 0) throw new TooManyAttemptsError(what, Math.ceil(waitMs / 1000));
  return Math.ceil(paid);
}
