import type { Static } from 'typebox';
import { type AuditAction, webhookActions } from './audit-actions.ts';
import { id, nullable, oneOf, timestamp } from './fields.ts';
import { pageQuery } from './pages.ts';
import { Type } from './type.ts';

/* Webhooks: an application's audit events are sent to URLs of its team, as https://www.standardwebhooks.com specifies. */

/** The longest URL of a webhook, in characters. */
export const maxWebhookUrlLength = 2000;

/** The most secrets with which a webhook signs at once. */
export const maxWebhookSecrets = 5;

/** How long the replaced secrets of a webhook still sign, in hours, by default and at most. */
export const webhookOverlapHours = { default: 24, max: 168 } as const;

/** How long settled deliveries are stored, in days. */
export const webhookDeliveryRetentionDays = 30;

/** `gone`: the receiver answered 410. `failing`: all attempts failed for days. */
export const webhookState = oneOf(['enabled', 'disabled', 'gone', 'failing'], {
  description:
    'whether events are sent: `enabled`; `disabled` by the team; by the server, because the receiver answered 410 (`gone`), or failed for days (`failing`)',
});
export type WebhookState = Static<typeof webhookState>;

export const webhookDeliveryState = oneOf(['pending', 'delivered', 'failed']);
export type WebhookDeliveryState = Static<typeof webhookDeliveryState>;

/** Why an attempt failed. `unreachable` doesn't tell more, because that would describe the server's network. */
export const webhookDeliveryError = oneOf(['status', 'redirect', 'timeout', 'unreachable', 'expired', 'disabled'], {
  description:
    'why the last attempt failed: the `status` of the response, a `redirect`, a `timeout`, or an `unreachable` URL; or why the server made no attempt: the delivery `expired`, or the webhook was `disabled`',
});
export type WebhookDeliveryError = Static<typeof webhookDeliveryError>;

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: maxWebhookUrlLength,
    description: 'an `https` URL with a public address',
  }),
  description: nullable(Type.String({ maxLength: 200 })),
  actions: nullable(
    Type.Array(Type.Unsafe<AuditAction>(Type.String({ enum: [...webhookActions] })), {
      minItems: 1,
      maxItems: webhookActions.length,
      uniqueItems: true,
    }),
    { description: 'the audit actions whose events are sent; `null` for all' },
  ),
};

export const webhook = Type.Object({
  id: id('webhook', 'the webhook'),
  appId: id('app', 'the application'),
  ...fields,
  state: webhookState,
  failingSince: nullable(timestamp('the first failed attempt since the last successful one')),
  secrets: Type.Array(
    Type.Object({
      id: id('webhookSecret', 'the secret'),
      createdAt: timestamp('when it was created'),
      expiresAt: nullable(timestamp('when it stops signing, after a rotation')),
    }),
    { description: 'the secrets that sign, without their values' },
  ),
  createdAt: timestamp('when it was created'),
  updatedAt: timestamp('when it last changed'),
});
export type Webhook = Static<typeof webhook>;

export const webhookInput = Type.Object({
  url: fields.url,
  description: Type.Optional(fields.description),
  actions: Type.Optional(fields.actions),
});
export type WebhookInput = Static<typeof webhookInput>;

/** Missing fields keep their values. */
export const webhookUpdate = Type.Object({
  ...Type.Partial(webhookInput).properties,
  isEnabled: Type.Optional(Type.Boolean({ description: 'whether events are sent from now on' })),
});
export type WebhookUpdate = Static<typeof webhookUpdate>;

const secretValue = Type.String({ description: '`whsec_…`, shown only here' });

export const createdWebhook = Type.Object({ ...webhook.properties, secret: secretValue });
export type CreatedWebhook = Static<typeof createdWebhook>;

export const webhookRotation = Type.Object({
  overlapHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: webhookOverlapHours.max,
      description: `how long the previous secrets still sign; 0 deletes them at once. Default: ${webhookOverlapHours.default}`,
    }),
  ),
});
export type WebhookRotation = Static<typeof webhookRotation>;

export const webhookDelivery = Type.Object({
  id: id('webhookDelivery', 'the delivery'),
  webhookId: id('webhook', 'the webhook'),
  eventId: id('auditEvent', 'the audit event, which is the `webhook-id` of all attempts'),
  type: Type.String({ description: 'the audit action' }),
  state: webhookDeliveryState,
  attempts: Type.Integer({ description: 'how often the server tried, since the last replay' }),
  createdAt: timestamp('when it was queued'),
  nextAttemptAt: nullable(timestamp('when the next attempt is due; `null` once it is settled')),
  attemptedAt: nullable(timestamp('when the last attempt was made')),
  durationMs: nullable(Type.Integer({ description: 'how long the last attempt took, in milliseconds' })),
  status: nullable(Type.Integer({ description: 'the status of the last response' })),
  error: nullable(webhookDeliveryError),
  response: nullable(Type.String({ description: "the first bytes of the last response's body" })),
});
export type WebhookDelivery = Static<typeof webhookDelivery>;

export const webhookDeliveryQuery = Type.Object({
  state: Type.Optional(webhookDeliveryState),
  ...pageQuery.properties,
});

export const webhookReplay = Type.Object({
  since: timestamp('replays the failed deliveries that were queued at this time or later'),
});
export type WebhookReplay = Static<typeof webhookReplay>;

export const webhookReplayed = Type.Object({
  replayed: Type.Integer({ description: 'how many deliveries are due again' }),
  hasMore: Type.Boolean({ description: 'whether there may be further ones; repeat the request' }),
});
export type WebhookReplayed = Static<typeof webhookReplayed>;
