import type {
  AppId,
  AuditAction,
  AuditEventId,
  UserId,
  WebhookDeliveryError,
  WebhookDeliveryId,
  WebhookDeliveryState,
  WebhookId,
  WebhookSecretId,
  WebhookState,
} from '@tenon/protocol';

/** A URL to which an application's audit events are sent. */
export interface WebhookRecord {
  readonly id: WebhookId;
  readonly appId: AppId;
  readonly url: string;
  readonly description: string | null;
  /** The actions whose events are sent; `null` for all. */
  readonly actions: readonly AuditAction[] | null;
  readonly state: WebhookState;
  /** The position in the hash chain of audit events after which events are sent. */
  readonly afterSeq: number;
  /** The first failed attempt since the last successful one; `null` after a successful one. */
  readonly failingSinceMs: number | null;
  /** Until when nothing is sent, because the receiver asked for a pause; 0 without one. */
  readonly notBeforeMs: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A secret with which deliveries are signed. It is stored readable, because a signature needs it. */
export interface WebhookSecretRecord {
  readonly id: WebhookSecretId;
  readonly webhookId: WebhookId;
  /** `whsec_` and the base64 of the key. */
  readonly secret: string;
  readonly createdAtMs: number;
  /** When it stops signing, after a rotation; `null` for the newest one. */
  readonly expiresAtMs: number | null;
}

/** One event for one webhook. The payload is made of the event at each attempt, so that erased data is not sent. */
export interface WebhookDeliveryRecord {
  readonly id: WebhookDeliveryId;
  readonly webhookId: WebhookId;
  /** The audit event, whose id is the `webhook-id` of all attempts. */
  readonly eventId: AuditEventId;
  readonly type: AuditAction;
  readonly state: WebhookDeliveryState;
  /** How many attempts were made. One that ended with its process counts. A replay starts from 0. */
  readonly attempts: number;
  readonly createdAtMs: number;
  /**
   * When the next attempt is due. A process that claims the delivery moves it ahead, so that others leave it alone. For a settled
   * delivery: when it was settled.
   */
  readonly dueAtMs: number;
  /** When the last attempt was made; `null` before the first one. */
  readonly attemptedAtMs: number | null;
  readonly durationMs: number | null;
  /** The status of the last response; `null` without a response. */
  readonly status: number | null;
  readonly error: WebhookDeliveryError | null;
  /** The beginning of the last response's body. */
  readonly response: string | null;
}

/** A webhook that has deliveries that are due. */
export interface DueWebhook extends WebhookRecord {
  /** The oldest account that owns the application; `null` without one. */
  readonly ownerId: UserId | null;
  /** When the first of the deliveries was due. */
  readonly dueAtMs: number;
}

/** The queue of deliveries. */
export interface WebhookQueueSummary {
  readonly pending: number;
  /** Since when the delivery that is due for the longest waits; `null` if none waits. */
  readonly oldestDueAtMs: number | null;
}

/** The deliveries that wait, and those that failed for good. */
export interface WebhookBacklog {
  readonly pending: number;
  /** When the oldest pending delivery was queued; `null` without one. */
  readonly oldestPendingAtMs: number | null;
  readonly failed: number;
}
