import type { lookup as systemLookup } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookId } from '@tenon/protocol';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { DueWebhook, WebhookQueueSummary } from '../db/webhook-records.ts';
import type { Deps } from '../deps.ts';
import { createDeliverySlots } from './delivery-slots.ts';
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
 *   choose   which webhooks have a turn: accounts, applications, and webhooks share the slots, so that slow receivers don't delay others
 *   claim    one transaction moves a delivery of each ahead by `webhookLeaseMs`
 *   post     over HTTP, several at once
 *   settle   another transaction stores the outcome
 *
 * After a crash between the last two, the delivery is sent again when the lease has ended. It then has the same `webhook-id`.
 */

/** How many webhooks one query reads. */
const pageSize = 500;

/** How often the state of the queue is read, in milliseconds. */
const queueIntervalMs = 5000;

/** The longest pause while the store can't be used, in milliseconds. */
const maxPauseMs = 60_000;

export interface WebhookSenderOptions {
  readonly deps: Pick<Deps, 'store' | 'clock' | 'random'> & {
    readonly settings: Pick<Settings, 'webhookPollMs' | 'webhookLeaseMs' | 'webhookOrigins' | 'smtp'>;
  };
  readonly log: Logger;
  /** Resolves host names. Default: that of {@link postWebhook}. */
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
    for (let hasMore = true; hasMore; ) {
      hasMore = await enqueueWebhooks(deps);
      await deliveries.startDue();
      signal.throwIfAborted();
    }
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
  while (await enqueueWebhooks(options.deps));
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
  const slots = createDeliverySlots();
  /** Up to which webhook the last turns went, by id. */
  let cursor: WebhookId | '' = '';
  let started = 0;

  /** Starts a delivery of each webhook that has a turn. Returns how many. */
  const startTurn = async (): Promise<number> => {
    const nowMs = clock();
    const due = await store.read.dueWebhooks(nowMs, { after: cursor, limit: pageSize });
    cursor = due.length < pageSize ? '' : (due.at(-1)?.id ?? '');
    const chosen = new Map(slots.choose(due).map((webhook) => [webhook.id, webhook]));
    if (chosen.size === 0) return 0;
    const times = { nowMs, untilMs: nowMs + settings.webhookLeaseMs };
    const claimed = await store.write((tx) => tx.claimWebhookDeliveries([...chosen.keys()], times));
    for (const delivery of claimed) {
      const webhook = chosen.get(delivery.webhookId);
      if (webhook !== undefined) start(delivery, webhook);
    }
    return claimed.length;
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

  const start = (delivery: ClaimedDelivery, webhook: DueWebhook): void => {
    const free = slots.take(webhook);
    started++;
    const work = attempt(delivery).finally(() => {
      running.delete(work);
      free();
    });
    running.add(work);
  };

  return {
    counts,
    /** Starts as many deliveries that are due as there may be at once. */
    async startDue(): Promise<void> {
      started = 0;
      if (!(await store.read.isAnyWebhookDeliveryDue(clock()))) return;
      // Ends after a turn of all webhooks without a delivery.
      for (let isIdle = false; slots.free() > 0 && !signal.aborted; ) {
        const isFirstPage = cursor === '';
        if (isFirstPage && isIdle) return;
        const count = await startTurn();
        isIdle = count === 0 && (isFirstPage || isIdle);
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
