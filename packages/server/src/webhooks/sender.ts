import type { lookup as systemLookup } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppId, WebhookId } from '@tenon/protocol';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { WebhookDeliveryRecord, WebhookQueueSummary, WebhookRecord } from '../db/webhook-records.ts';
import type { Deps } from '../deps.ts';
import { enqueueWebhooks } from './enqueue.ts';
import { toPayload } from './payload.ts';
import { PostAbortedError, postWebhook } from './post.ts';
import { type AttemptResult, lateLimitMs, type WebhookOutcome } from './schedule.ts';
import { settleDelivery } from './settle.ts';
import { signedHeaders } from './signature.ts';
import type { ClaimedDelivery } from './webhook-queries.ts';

/*
 * Sends the events of the audit trail to webhooks. Each node does:
 *
 *   enqueue  one transaction moves the position in the hash chain and inserts deliveries
 *   claim    one transaction moves deliveries ahead by `webhookLeaseMs`
 *   post     over HTTP, several at once, and few to one webhook, so that a slow receiver does not delay others
 *   settle   another transaction stores the outcome
 *
 * After a crash between the last two, the delivery is sent again when the lease has ended. It then has the same `webhook-id`.
 */

/** How many deliveries a node makes at once: in all, for one application, to one webhook, and to one that fails. */
const maxAtOnce = 64;
const maxPerApp = 16;
const maxPerWebhook = 4;
const maxPerFailingWebhook = 1;

/** How often the state of the queue is read, in milliseconds. */
const queueIntervalMs = 5000;

/** The longest pause while the store can't be used, in milliseconds. */
const maxPauseMs = 60_000;

export interface WebhookSenderOptions {
  readonly deps: Pick<Deps, 'store' | 'clock' | 'random'> & {
    readonly settings: Pick<Settings, 'webhookPollMs' | 'webhookLeaseMs' | 'webhookOrigins' | 'smtp'>;
  };
  readonly log: Logger;
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: typeof systemLookup;
  /** How long a receiver may take to respond, in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number;
}

/** Sends deliveries until it is stopped. */
export type WebhookSender = ReturnType<typeof startWebhookSender>;

export function startWebhookSender(options: WebhookSenderOptions) {
  const { deps, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const state = { queue: undefined as WebhookQueueSummary | undefined };
  const deliveries = createDeliveries(options, signal);
  let failures = 0;
  let knownRevision: number | undefined;
  let queueReadAtMs = Number.NEGATIVE_INFINITY;

  const round = async (): Promise<void> => {
    const revision = deps.store.revision();
    if (revision === knownRevision && state.queue?.pending === 0) return; // nothing was committed since
    await enqueueWebhooks(deps, signal);
    await deliveries.startDue();
    if (performance.now() - queueReadAtMs < queueIntervalMs) return;
    state.queue = await deps.store.read.webhookQueue();
    queueReadAtMs = performance.now();
    knownRevision = revision;
  };
  const run = async (): Promise<void> => {
    for (;;) {
      try {
        await round();
        if (failures > 0) log.info('webhooks: sending again');
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (++failures === 1) log.warn({ err: error }, 'webhooks: cannot send');
      }
      const pause = sleep(Math.min(maxPauseMs, deps.settings.webhookPollMs * 2 ** failures), undefined, {
        ref: false,
        signal,
      });
      await (failures === 0 ? Promise.race([pause, deliveries.slotFreed()]) : pause);
      pause.catch(() => {});
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'webhooks: stopped');
  });
  return {
    /** How many attempts of this process had each outcome. */
    counts: deliveries.counts as Readonly<typeof deliveries.counts>,
    /** The queue as last read. */
    state: state as Readonly<typeof state>,
    /** Stops, and ends the attempts that are being made. Another process repeats them. */
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
      await deliveries.ended();
    },
  };
}

/** Queues deliveries of all sealed events, and makes one attempt at each that is due. Returns the outcomes. */
export async function sendDueWebhooks(
  options: WebhookSenderOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<Readonly<Record<WebhookOutcome, number>>> {
  const deliveries = createDeliveries(options, signal);
  await enqueueWebhooks(options.deps, signal);
  do {
    await deliveries.startDue();
    await deliveries.ended();
  } while (deliveries.hasStarted());
  return deliveries.counts;
}

/** The deliveries that this process makes. */
function createDeliveries(options: WebhookSenderOptions, signal: AbortSignal) {
  const { deps, log, lookup, timeoutMs } = options;
  const { store, clock, settings } = deps;
  const counts: Record<WebhookOutcome, number> = { delivered: 0, retried: 0, failed: 0 };
  const running = new Set<Promise<void>>();
  const perWebhook = new Map<WebhookId, { count: number; max: number }>();
  const perApp = new Map<AppId, number>();
  let started = 0;

  const claim = async (): Promise<ClaimedDelivery[]> => {
    const nowMs = clock();
    const busy = {
      webhooks: [...perWebhook].flatMap(([id, { count, max }]) => (count >= max ? [id] : [])),
      apps: [...perApp].flatMap(([id, count]) => (count >= maxPerApp ? [id] : [])),
    };
    return store.write((tx) => {
      // The transaction may run more than once.
      const taken = new Map<WebhookId | AppId, number>();
      let free = maxAtOnce - running.size;
      const mayTake = (_delivery: WebhookDeliveryRecord, webhook: WebhookRecord): boolean => {
        const { id, appId } = webhook;
        const active = (perWebhook.get(id)?.count ?? 0) + (taken.get(id) ?? 0);
        const activeOfApp = (perApp.get(appId) ?? 0) + (taken.get(appId) ?? 0);
        if (free <= 0 || active >= maxOf(webhook) || activeOfApp >= maxPerApp) return false;
        free--;
        for (const key of [id, appId]) taken.set(key, (taken.get(key) ?? 0) + 1);
        return true;
      };
      return tx.claimWebhookDeliveries({ nowMs, untilMs: nowMs + settings.webhookLeaseMs, busy }, mayTake);
    });
  };

  const attempt = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      const result = await makeAttempt(delivery);
      if (result === undefined) return;
      const outcome = await settleDelivery(deps, delivery, result);
      counts[outcome]++;
      const { id: deliveryId, webhookId, attempts } = delivery;
      const { error, status } = result;
      if (outcome !== 'delivered') log.info({ deliveryId, webhookId, attempts, error, status }, `webhooks: ${outcome}`);
    } catch (error) {
      // It is repeated when the lease has ended.
      if (!signal.aborted && !(error instanceof PostAbortedError)) {
        log.warn({ err: error, deliveryId: delivery.id }, 'webhooks: outcome could not be stored');
      }
    }
  };

  /** Returns `undefined` for a delivery whose webhook or event was deleted meanwhile. */
  const makeAttempt = async (delivery: ClaimedDelivery): Promise<AttemptResult | undefined> => {
    const { webhook, eventId, dueAtMs } = delivery;
    const unsent = { status: null, response: null, durationMs: 0 };
    if (webhook.state !== 'enabled') return { ...unsent, error: 'disabled' };
    if (dueAtMs < clock() - lateLimitMs) return { ...unsent, error: 'expired' };
    const [[event], secrets] = await Promise.all([
      store.read.webhookEvents([eventId]),
      store.read.webhookSecrets([webhook.id]),
    ]);
    const nowMs = clock();
    const live = secrets.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
    if (event === undefined || live.length === 0) return undefined;
    const body = toPayload(event);
    const headers = signedHeaders(
      { id: eventId, body, atMs: nowMs },
      live.map(({ secret }) => secret),
    );
    const url = new URL(webhook.url);
    const mayBePrivate = settings.webhookOrigins.includes(url.origin);
    return postWebhook(url, body, headers, { mayBePrivate, signal, lookup, timeoutMs });
  };

  const start = (delivery: ClaimedDelivery): void => {
    const { webhook } = delivery;
    const slot = perWebhook.get(webhook.id) ?? { count: 0, max: maxOf(webhook) };
    slot.count++;
    slot.max = maxOf(webhook);
    perWebhook.set(webhook.id, slot);
    perApp.set(webhook.appId, (perApp.get(webhook.appId) ?? 0) + 1);
    started++;
    const work = attempt(delivery).finally(() => {
      running.delete(work);
      slot.count--;
      if (slot.count === 0) perWebhook.delete(webhook.id);
      const others = (perApp.get(webhook.appId) ?? 0) - 1;
      if (others > 0) perApp.set(webhook.appId, others);
      else perApp.delete(webhook.appId);
    });
    running.add(work);
  };

  return {
    counts,
    /** Starts as many deliveries that are due as there may be at once. */
    async startDue(): Promise<void> {
      started = 0;
      while (running.size < maxAtOnce && !signal.aborted) {
        if (!(await store.read.isAnyWebhookDeliveryDue(clock()))) return;
        const claimed = await claim();
        if (claimed.length === 0) return;
        claimed.forEach(start);
      }
    },
    /** Whether the last `startDue()` started any. */
    hasStarted: (): boolean => started > 0,
    /** Resolves when a delivery ends. Never resolves while no delivery runs. */
    slotFreed: (): Promise<void> => (running.size === 0 ? new Promise(() => {}) : Promise.race(running)),
    async ended(): Promise<void> {
      await Promise.all(running);
    },
  };
}

function maxOf({ failingSinceMs }: WebhookRecord): number {
  return failingSinceMs === null ? maxPerWebhook : maxPerFailingWebhook;
}
