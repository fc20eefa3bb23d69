import type { AppId, UserId } from '@tenon/protocol';
import { type QuotaDeclaration, type QuotaName, type Quotas, quotaLimit, quotas } from '../config/quotas.ts';
import type { PluginKey, PluginRecord } from '../db/records.ts';
import type { Queries, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError, TooManyAttemptsError } from '../http/domain-errors.ts';
import type { SimulationPayers } from './quota-queries.ts';
import { type WarningDeps, warnOfQuota } from './quota-warnings.ts';

type Limited = AppId | UserId;

/**
 * Returns the limits of accounts and applications: what an operator has set for one of them takes precedence over `TENON_QUOTAS`. Read in
 * the transaction of a change, so that each node uses the current ones.
 */
export async function quotasOf(
  { settings }: Pick<Deps, 'settings'>,
  read: Pick<Queries, 'quotaOverrides'>,
  ids: readonly Limited[],
): Promise<Quotas> {
  const overrides = await read.quotaOverrides(ids);
  if (overrides.length === 0) return settings.quotas;
  const byId = { ...settings.quotas.byId };
  for (const { subjectId, name, value } of overrides) byId[subjectId] = { ...byId[subjectId], [name]: value };
  return { ...settings.quotas, byId };
}

/**
 * Requires that an account or an application stays within a quota, and warns when it is nearly used up. Call it before the insert, in
 * the same transaction.
 *
 * @param used how much of the quota is used
 * @param added how much the change adds
 * @throws DomainError `quota_exceeded`
 */
export async function takeQuota(
  deps: WarningDeps,
  tx: Transaction,
  name: QuotaName,
  id: Limited,
  used: number,
  added = 1,
): Promise<void> {
  const limits = await quotasOf(deps, tx, [id]);
  requireQuota(limits, name, id, used, added);
  await warnOfQuota(deps, tx, name, id, { limit: quotaLimit(limits, name, id), before: used, after: used + added });
}

/** As {@link takeQuota}, with known limits, and without a warning. */
function requireQuota(limits: Quotas, name: QuotaName, id: Limited, used: number, added = 1): void {
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
  /** Where the limit comes from. */
  readonly source: 'operator' | 'setting' | 'default';
}

type UsageDeps = Pick<Deps, 'settings' | 'clock'>;

/** Reads how much of its quotas an account uses. */
export async function readAccountQuotas(
  { settings, clock }: UsageDeps,
  read: Queries,
  userId: UserId,
): Promise<QuotaUsage[]> {
  const nowMs = clock();
  const limits = await quotasOf({ settings }, read, [userId]);
  const inDay = (name: QuotaName, chargedUntilMs: number) =>
    usedWithinDay(chargedUntilMs, nowMs, quotaLimit(limits, name, userId));
  return usageOf(limits, settings.quotas, userId, {
    applications: await read.countOwnedApps(userId),
    tokens: await read.countTokens(userId, nowMs),
    'api-keys': await read.countApiKeys(userId, nowMs),
    'account-bytes': await read.sumPublishedBytes(userId),
    'simulations-per-day': inDay('simulations-per-day', await read.userSimulationsChargedUntilMs(userId)),
    ...(settings.smtp !== undefined && {
      'mails-per-day': inDay('mails-per-day', await read.accountMailsChargedUntilMs(userId)),
    }),
  });
}

/** Reads how much of its quotas an application uses. */
export async function readAppQuotas(
  { settings, clock }: UsageDeps,
  read: Queries,
  appId: AppId,
): Promise<QuotaUsage[]> {
  const nowMs = clock();
  const limits = await quotasOf({ settings }, read, [appId]);
  const [published, schemas] = [await read.countPlugins(appId), await read.countExtensionPoints(appId)];
  const perDay = quotaLimit(limits, 'app-simulations-per-day', appId);
  return usageOf(limits, settings.quotas, appId, {
    'app-bytes': published.bytes,
    'extension-points': schemas.count,
    'schema-bytes': schemas.bytes,
    webhooks: await read.countWebhooks(appId),
    guests: await read.countGuests(appId, nowMs),
    plugins: published.plugins,
    'app-simulations-per-day': usedWithinDay(await read.appSimulationsChargedUntilMs(appId), nowMs, perDay),
  });
}

function usageOf(
  limits: Quotas,
  configured: Quotas,
  id: Limited,
  counts: Partial<Record<QuotaName, number>>,
): QuotaUsage[] {
  return Object.entries(counts).map(([key, used]) => {
    const name = key as QuotaName;
    const isOverridden = limits.byId[id]?.[name] !== configured.byId[id]?.[name];
    const isSet = configured.byId[id]?.[name] !== undefined || configured.all[name] !== undefined;
    const source = isOverridden ? 'operator' : isSet ? 'setting' : 'default';
    return { ...quotas[name], name, limit: quotaLimit(limits, name, id), used, source };
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
 * @param onTaken called for each quota that the publish uses
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
  onTaken?: (name: QuotaName, id: Limited, used: number, added: number) => Promise<void>,
): Promise<number> {
  const take = async (name: QuotaName, id: Limited, used: number, added = 1): Promise<void> => {
    requireQuota(limits, name, id, used, added);
    await onTaken?.(name, id, used, added);
  };
  await take('account-bytes', key.userId, await read.sumPublishedBytes(key.userId), size);
  const { plugins, bytes } = await read.countPlugins(appId);
  await take('app-bytes', appId, bytes, size);
  if (present === undefined) await take('plugins', appId, plugins);
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
  deps: UsageDeps,
  tx: Pick<Transaction, 'quotaOverrides' | 'accountChargedUntilMs' | 'putAccountCharge'>,
  userId: UserId,
  size: number,
): Promise<void> {
  const nowMs = deps.clock();
  const limits = await quotasOf(deps, tx, [userId]);
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
export async function chargeMail(deps: WarningDeps, tx: Transaction, userId: UserId): Promise<void> {
  const previousMs = await tx.accountMailsChargedUntilMs(userId);
  const perDay = quotaLimit(await quotasOf(deps, tx, [userId]), 'mails-per-day', userId);
  const reason = `Your account may mail ${perDay.toLocaleString('en')} invitations a day (quota "mails-per-day").`;
  await tx.putAccountMailsCharge(
    userId,
    await chargeDay(deps, tx, { name: 'mails-per-day', id: userId, perDay, count: 1, previousMs, reason }),
  );
}

/**
 * Charges an account and an application for simulations that are to run. Call it before they run, and before the bytes of a publish are
 * stored.
 *
 * @param count how many simulations
 * @throws DomainError `rate_limited`, with the seconds to wait
 */
export async function chargeSimulations(
  deps: WarningDeps,
  tx: Transaction,
  payers: SimulationPayers,
  count: number,
): Promise<void> {
  if (count === 0) return;
  const { userId, appId } = payers;
  const limits = await quotasOf(deps, tx, [userId, appId]);
  const charge = async (
    name: 'simulations-per-day' | 'app-simulations-per-day',
    id: Limited,
    previousMs: number,
  ): Promise<number> => {
    const perDay = quotaLimit(limits, name, id);
    const who = name === 'simulations-per-day' ? 'Your account' : 'The application';
    const reason = `${who} may run ${perDay.toLocaleString('en')} simulations a day (quota "${name}").`;
    return chargeDay(deps, tx, { name, id, perDay, count, previousMs, reason });
  };
  await tx.putSimulationsCharge(payers, {
    ofUser: await charge('simulations-per-day', userId, await tx.userSimulationsChargedUntilMs(userId)),
    ofApp: await charge('app-simulations-per-day', appId, await tx.appSimulationsChargedUntilMs(appId)),
  });
}

interface DayCharge {
  readonly name: QuotaName;
  readonly id: Limited;
  readonly perDay: number;
  readonly count: number;
  readonly previousMs: number;
  readonly reason: string;
}

/** Charges a quota of a day, and warns when it is nearly used up. @returns the GCRA time after the charge */
async function chargeDay(
  deps: WarningDeps,
  tx: Transaction,
  { name, id, perDay, count, previousMs, reason }: DayCharge,
): Promise<number> {
  const nowMs = deps.clock();
  const chargedMs = charge(previousMs, nowMs, { costMs: (count * dayMs) / perDay, windowMs: dayMs, reason });
  const [before, after] = [previousMs, chargedMs].map((untilMs) => usedWithinDay(untilMs, nowMs, perDay));
  await warnOfQuota(deps, tx, name, id, { limit: perDay, before: before ?? 0, after: after ?? 0 });
  return chargedMs;
}

/** How much of a day's quota is charged. */
function usedWithinDay(chargedUntilMs: number, nowMs: number, perDay: number): number {
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
