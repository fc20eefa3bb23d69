import type { WebhookDeliveryError } from '@tenon/protocol';

/* When deliveries are retried: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#deliverability-and-reliability */

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The pause before each attempt, in milliseconds. */
export const attemptDelaysMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** The jitter that is added to a pause, as a share of it. */
const jitterShare = 0.1;

/** How long all attempts of a webhook fail until it is disabled, in milliseconds. */
export const failingLimitMs = 5 * dayMs;

/** How long after it was due a delivery is still sent, in milliseconds. Therefore a restored backup sends no old events. */
export const lateLimitMs = 3 * dayMs;

/** How long a receiver that is overloaded gets nothing, in milliseconds, without `retry-after`, and at most. */
const defaultPauseMs = minuteMs;
const maxPauseMs = dayMs;

/** The result of an attempt. `status` and `response` are `null` without a response. */
export interface AttemptResult {
  readonly status: number | null;
  /** `null` for a success. */
  readonly error: WebhookDeliveryError | null;
  readonly response: string | null;
  readonly durationMs: number;
  /** How long the receiver asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** What became of a delivery after an attempt. */
export type WebhookOutcome = 'delivered' | 'retried' | 'failed';

/** Returns why a response is a failure; `null` for a success. */
export function errorOfStatus(status: number): WebhookDeliveryError | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}

/** Whether a receiver says that it is gone for good. */
export function isGone({ status }: AttemptResult): boolean {
  return status === 410;
}

/**
 * Returns when the next attempt is due; `undefined` after the last one.
 *
 * @param attempts how many were made
 * @param random a number from 0 to 1
 */
export function nextAttemptAtMs(attempts: number, nowMs: number, random: number): number | undefined {
  const delayMs = attemptDelaysMs[attempts];
  return delayMs === undefined ? undefined : nowMs + Math.round(delayMs * (1 + jitterShare * random));
}

/** Returns for how long a receiver gets nothing after a failure, in milliseconds; 0 if it is not overloaded and asks for no pause. */
export function pauseMs({ status, retryAfterMs }: AttemptResult): number {
  const isOverloaded = status === 429 || status === 502 || status === 504;
  if (!isOverloaded && retryAfterMs === undefined) return 0;
  return Math.min(maxPauseMs, Math.max(secondMs, retryAfterMs ?? defaultPauseMs));
}

/** Reads `retry-after` (RFC 9110 §10.2.3), in milliseconds. Returns `undefined` if it is missing or malformed. */
export function readRetryAfter(field: string | undefined, nowMs: number): number | undefined {
  if (field === undefined) return undefined;
  const text = field.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  const atMs = Date.parse(text);
  return /^[A-Z][a-z]{2}, /.test(text) && !Number.isNaN(atMs) ? Math.max(0, atMs - nowMs) : undefined;
}
