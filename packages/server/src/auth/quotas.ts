import type { AppId, UserId } from '@tenon/protocol';
import { type QuotaDeclaration, type QuotaName, type Quotas, quotaLimit, quotas } from '../config/quotas.ts';
import type { PluginKey, PluginRecord } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, TooManyAttemptsError } from '../http/domain-errors.ts';

/**
 * Requires that an account or an application stays within a quota. Call it before the insert, in the same transaction.
 *
 * @param used how much of the quota is used
 * @param added how much the change adds
 * @throws DomainError `quota_exceeded`
 */
export function requireQuota(limits: Quotas, name: QuotaName, id: AppId | UserId, used: number, added = 1): void {
  const limit = quotaLimit(limits, name, id);
  if (used + added <= limit) return;
  const { of, what } = quotas[name];
  throw new DomainError(
    'quota_exceeded',
    `The ${of} ${id} has ${used.toLocaleString('en')} of at most ${limit.toLocaleString('en')} ${what}` +
      `${added === 1 ? '' : `, and this adds ${added.toLocaleString('en')} more`}. ` +
      `Delete some, or ask the server's operator to raise the quota "${name}" (TENON_QUOTAS).`,
  );
}

/** How much of a quota is used. */
export interface QuotaUsage extends QuotaDeclaration {
  readonly name: QuotaName;
  readonly limit: number;
  readonly used: number;
}

type QuotaDeps = Pick<Deps, 'store' | 'settings' | 'clock'>;

/** Reads how much of its quotas an account uses. */
export async function readAccountQuotas({ store, settings, clock }: QuotaDeps, userId: UserId): Promise<QuotaUsage[]> {
  const { read } = store;
  const nowMs = clock();
  return usageOf(settings.quotas, userId, {
    applications: await read.countOwnedApps(userId),
    tokens: await read.countTokens(userId, nowMs),
    'api-keys': await read.countApiKeys(userId, nowMs),
    'account-bytes': await read.sumPublishedBytes(userId),
    ...(settings.smtp !== undefined && {
      'mails-per-day': mailsWithinDay(
        await read.accountMailsChargedUntilMs(userId),
        nowMs,
        quotaLimit(settings.quotas, 'mails-per-day', userId),
      ),
    }),
  });
}

/** Reads how much of its quotas an application uses. */
export async function readAppQuotas({ store, settings, clock }: QuotaDeps, appId: AppId): Promise<QuotaUsage[]> {
  const { read } = store;
  const [published, schemas] = [await read.countPlugins(appId), await read.countExtensionPoints(appId)];
  return usageOf(settings.quotas, appId, {
    'app-bytes': published.bytes,
    'extension-points': schemas.count,
    'schema-bytes': schemas.bytes,
    guests: await read.countGuests(appId, clock()),
    plugins: published.plugins,
  });
}

function usageOf(limits: Quotas, id: AppId | UserId, counts: Partial<Record<QuotaName, number>>): QuotaUsage[] {
  return Object.entries(counts).map(([key, used]) => {
    const name = key as QuotaName;
    return { ...quotas[name], name, limit: quotaLimit(limits, name, id), used };
  });
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/*
 * Rates of publishing use the generic cell rate algorithm (GCRA). Its state is one time per plugin and one per account: the time
 * until which the publishes so far use up the rate. Each publish moves it forward by its cost, and it may be ahead of the clock by
 * the window at most.
 */

/**
 * Requires that a version may be published within the quotas of the account and the application, and within the plugin's rate.
 *
 * @param present the plugin before the publish; `undefined` for a new one
 * @param size the size of the new version, in bytes
 * @returns the plugin's GCRA time after this publish
 * @throws DomainError `quota_exceeded`; `rate_limited`, with the seconds to wait
 */
export async function requirePublishQuota(
  read: Pick<Queries, 'sumPublishedBytes' | 'countPlugins' | 'pluginChargedUntilMs'>,
  limits: Quotas,
  key: PluginKey,
  appId: AppId,
  present: PluginRecord | undefined,
  size: number,
  nowMs: number,
): Promise<number> {
  requireQuota(limits, 'account-bytes', key.userId, await read.sumPublishedBytes(key.userId), size);
  const { plugins, bytes } = await read.countPlugins(appId);
  requireQuota(limits, 'app-bytes', appId, bytes, size);
  if (present === undefined) requireQuota(limits, 'plugins', appId, plugins);
  else requireQuota(limits, 'versions', appId, present.newest.number);
  return chargeTest(read, limits, key, appId, nowMs);
}

/**
 * Charges a plugin for a test of a version, as for a publish.
 *
 * @returns the plugin's GCRA time after it
 * @throws DomainError `rate_limited`, with the seconds to wait
 */
export async function chargeTest(
  read: Pick<Queries, 'pluginChargedUntilMs'>,
  limits: Quotas,
  key: PluginKey,
  appId: AppId,
  nowMs: number,
): Promise<number> {
  const perHour = quotaLimit(limits, 'publishes-per-hour', appId);
  const burst = quotaLimit(limits, 'publish-burst', appId);
  return charge(await read.pluginChargedUntilMs(key), nowMs, {
    costMs: hourMs / perHour,
    windowMs: (burst * hourMs) / perHour,
    reason: `A plugin can have ${burst} versions at once, and ${perHour} an hour after that (quotas "publish-burst", "publishes-per-hour").`,
  });
}

/**
 * Charges an account for the bytes that a publish stores, even if the publish fails afterwards. An account may store as many bytes a
 * day as its quota `account-bytes`. Without this rate, an account could fill the disk: deleting a version frees the quota at once,
 * but the disk only a day later.
 *
 * @throws DomainError `rate_limited`, with the seconds to wait
 */
export async function chargeStoredBytes(
  tx: Pick<Transaction, 'accountChargedUntilMs' | 'putAccountCharge'>,
  limits: Quotas,
  userId: UserId,
  size: number,
  nowMs: number,
): Promise<void> {
  const bytesPerDay = quotaLimit(limits, 'account-bytes', userId);
  const chargedUntilMs = charge(await tx.accountChargedUntilMs(userId), nowMs, {
    costMs: Math.min(1, size / bytesPerDay) * dayMs,
    windowMs: dayMs,
    reason: `Your account stored ${bytesPerDay.toLocaleString('en')} bytes within a day (quota "account-bytes").`,
  });
  await tx.putAccountCharge(userId, chargedUntilMs);
}

/**
 * Charges an account for an invitation that the server mails. Call it before the change, in the same transaction. A rate and not a
 * count, because deleting guests or applications deletes their mails too.
 *
 * @throws DomainError `rate_limited`, with the seconds to wait
 */
export async function chargeMail(
  tx: Pick<Transaction, 'accountMailsChargedUntilMs' | 'putAccountMailsCharge'>,
  limits: Quotas,
  userId: UserId,
  nowMs: number,
): Promise<void> {
  const perDay = quotaLimit(limits, 'mails-per-day', userId);
  const chargedUntilMs = charge(await tx.accountMailsChargedUntilMs(userId), nowMs, {
    costMs: dayMs / perDay,
    windowMs: dayMs,
    reason: `Your account may mail ${perDay.toLocaleString('en')} invitations a day (quota "mails-per-day").`,
  });
  await tx.putAccountMailsCharge(userId, chargedUntilMs);
}

/** How many mails of a day's quota are charged. */
function mailsWithinDay(chargedUntilMs: number, nowMs: number, perDay: number): number {
  const chargedMs = Math.min(dayMs, Math.max(0, chargedUntilMs - nowMs));
  return Math.ceil((chargedMs * perDay) / dayMs);
}

interface Charge {
  readonly costMs: number;
  /** How far the GCRA time may be ahead of the clock. */
  readonly windowMs: number;
  /** The first sentence of the error. */
  readonly reason: string;
}

/**
 * Charges a cost by the generic cell rate algorithm. If the GCRA time is beyond the window, the clock was set back: then the charge
 * is accepted, and uses up the window.
 *
 * @param previousMs the GCRA time before the charge
 * @returns the GCRA time after the charge
 * @throws TooManyAttemptsError
 */
function charge(previousMs: number, nowMs: number, { costMs, windowMs, reason }: Charge): number {
  const latestMs = nowMs + windowMs;
  const wasSetBack = previousMs > latestMs;
  const chargedMs = wasSetBack ? latestMs : Math.max(previousMs, nowMs) + costMs;
  const waitMs = chargedMs - latestMs;
  if (waitMs > 0) throw new TooManyAttemptsError(reason, Math.ceil(waitMs / 1000));
  return Math.ceil(chargedMs);
}
