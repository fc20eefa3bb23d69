import {
  type CreatedWebhook,
  createdWebhook,
  pageQuery,
  type Webhook,
  type WebhookDelivery,
  webhook,
  webhookDelivery,
  webhookDeliveryQuery,
  webhookInput,
  webhookReplay,
  webhookReplayed,
  webhookRotation,
  webhookUpdate,
} from '@tenon/protocol';
import type { WebhookDeliveryRecord } from '../db/webhook-records.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { toList, toPage } from '../http/query.ts';
import { json, jsonList, type Route, routeTagged } from '../http/route.ts';
import { time, timeOrNull } from '../http/wire-time.ts';
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  readWebhook,
  replayDelivery,
  replayFailedDeliveries,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  type WebhookWithSecrets,
} from './webhooks.ts';

const route = routeTagged('Webhooks');

const access = { kind: 'app', purpose: 'manageWebhooks' } as const;

const inputExample = {
  url: 'https://chat.example.org/hooks/tenon',
  description: 'Approvals in the chat',
  actions: ['plugin.publish' as const, 'version.approve' as const],
};

const webhookExample: Webhook = {
  ...inputExample,
  id: 'whk_01j29hxk3mfpq8ad68ha6hbsex',
  appId: example.appId,
  state: 'enabled',
  failingSince: null,
  secrets: [{ id: 'whs_01j29hxk3mfpq8ad68ha6hbsex', createdAt: example.time, expiresAt: null }],
  createdAt: example.time,
  updatedAt: example.time,
};

const createdExample = { ...webhookExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwB8Wt2Vv0Xyo=' };

const deliveryExample: WebhookDelivery = {
  id: 'whd_01j29hxk3mfpq8ad68ha6hbsex',
  webhookId: webhookExample.id,
  eventId: example.auditEventId,
  type: 'plugin.publish',
  state: 'delivered',
  attempts: 1,
  createdAt: example.time,
  nextAttemptAt: null,
  attemptedAt: example.time,
  durationMs: 84,
  status: 200,
  error: null,
  response: 'ok',
};

export const webhookRoutes: readonly Route[] = [
  route('GET', '/api/v1/apps/:appId/webhooks', {
    access,
    query: pageQuery,
    id: 'listWebhooks',
    summary: "List an application's webhooks",
    responses: { 200: jsonList('the webhooks', webhook, webhookExample) },
    handle: async ({ deps }, { auth, query }) =>
      toList(await listWebhooks(deps, auth.access, toPage(query)), toWebhook),
  }),
  route('POST', '/api/v1/apps/:appId/webhooks', {
    access,
    body: jsonBody(webhookInput, inputExample),
    id: 'createWebhook',
    summary: 'Send the events of the audit trail to a URL',
    description:
      'Deliveries follow [Standard Webhooks](https://www.standardwebhooks.com). In a browser session, it needs step-up.',
    responses: { 201: json('the webhook, with its secret', createdWebhook, createdExample) },
    errors: ['step_up_required', 'quota_exceeded'],
    handle: async ({ deps }, { auth, body }) => toCreated(await createWebhook(deps, auth.access, body)),
  }),
  route('GET', '/api/v1/apps/:appId/webhooks/:webhookId', {
    access,
    id: 'readWebhook',
    summary: 'Read a webhook',
    responses: { 200: json('the webhook', webhook, webhookExample) },
    handle: async ({ deps }, { auth, params }) => toWebhook(await readWebhook(deps, auth.access, params.webhookId)),
  }),
  route('PUT', '/api/v1/apps/:appId/webhooks/:webhookId', {
    access,
    body: jsonBody(webhookUpdate, { isEnabled: true }),
    id: 'updateWebhook',
    summary: 'Change, enable, or disable a webhook',
    description:
      'A webhook that is enabled again gets the events from then on. In a browser session, it needs step-up.',
    responses: { 200: json('the webhook', webhook, webhookExample) },
    errors: ['step_up_required'],
    handle: async ({ deps }, { auth, params, body }) =>
      toWebhook(await updateWebhook(deps, auth.access, params.webhookId, body)),
  }),
  route('DELETE', '/api/v1/apps/:appId/webhooks/:webhookId', {
    access,
    id: 'deleteWebhook',
    summary: 'Delete a webhook with its secrets and its log',
    responses: { 204: { description: 'deleted' } },
    handle: ({ deps }, { auth, params }) => deleteWebhook(deps, auth.access, params.webhookId),
  }),
  route('POST', '/api/v1/apps/:appId/webhooks/:webhookId/secrets', {
    access,
    body: jsonBody(webhookRotation, { overlapHours: 24 }),
    id: 'rotateWebhookSecret',
    summary: 'Create a secret that replaces the present ones after an overlap',
    description: 'Until then, each delivery has a signature of each secret. In a browser session, it needs step-up.',
    responses: { 201: json('the webhook, with the new secret', createdWebhook, createdExample) },
    errors: ['step_up_required', 'limit_exceeded'],
    handle: async ({ deps }, { auth, params, body }) =>
      toCreated(await rotateWebhookSecret(deps, auth.access, params.webhookId, body.overlapHours)),
  }),
  route('POST', '/api/v1/apps/:appId/webhooks/:webhookId/test', {
    access,
    id: 'testWebhook',
    summary: 'Send a test event',
    description: 'The event has the type `webhook.test`. Read the result in the deliveries.',
    responses: { 202: json('the queued delivery', webhookDelivery, { ...deliveryExample, type: 'webhook.test' }) },
    errors: ['conflict'],
    handle: async ({ deps }, { auth, params }) => toDelivery(await testWebhook(deps, auth.access, params.webhookId)),
  }),
  route('GET', '/api/v1/apps/:appId/webhooks/:webhookId/deliveries', {
    access,
    query: webhookDeliveryQuery,
    id: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, the newest first',
    responses: { 200: jsonList('the deliveries', webhookDelivery, deliveryExample) },
    handle: async ({ deps }, { auth, params, query }) =>
      toList(await listDeliveries(deps, auth.access, params.webhookId, query.state, toPage(query)), toDelivery),
  }),
  route('POST', '/api/v1/apps/:appId/webhooks/:webhookId/deliveries/:deliveryId/replay', {
    access,
    id: 'replayWebhookDelivery',
    summary: 'Send a delivery again',
    description: 'It keeps its `webhook-id`.',
    responses: { 202: json('the queued delivery', webhookDelivery, deliveryExample) },
    errors: ['conflict'],
    handle: async ({ deps }, { auth, params }) =>
      toDelivery(await replayDelivery(deps, auth.access, params.webhookId, params.deliveryId)),
  }),
  route('POST', '/api/v1/apps/:appId/webhooks/:webhookId/replay', {
    access,
    body: jsonBody(webhookReplay, { since: example.time }),
    id: 'replayFailedWebhookDeliveries',
    summary: 'Send failed deliveries again',
    responses: { 202: json('how many', webhookReplayed, { replayed: 12, hasMore: false }) },
    errors: ['conflict'],
    handle: ({ deps }, { auth, params, body }) =>
      replayFailedDeliveries(deps, auth.access, params.webhookId, body.since),
  }),
];

function toWebhook({ webhook: record, secrets }: WebhookWithSecrets): Webhook {
  const { id, appId, url, description, actions, state, failingSinceMs, createdAtMs, updatedAtMs } = record;
  return {
    ...{ id, appId, url, description, state },
    actions: actions === null ? null : [...actions],
    failingSince: timeOrNull(failingSinceMs),
    secrets: secrets.map((secret) => ({
      id: secret.id,
      createdAt: time(secret.createdAtMs),
      expiresAt: timeOrNull(secret.expiresAtMs),
    })),
    createdAt: time(createdAtMs),
    updatedAt: time(updatedAtMs),
  };
}

function toCreated(created: WebhookWithSecrets): CreatedWebhook {
  return { ...toWebhook(created), secret: created.secrets[0]?.secret ?? '' };
}

function toDelivery(delivery: WebhookDeliveryRecord): WebhookDelivery {
  const { id, webhookId, eventId, type, state, attempts, durationMs, status, error, response } = delivery;
  const { createdAtMs, dueAtMs, attemptedAtMs } = delivery;
  return {
    ...{ id, webhookId, eventId, type, state, attempts, durationMs, status, error, response },
    createdAt: time(createdAtMs),
    nextAttemptAt: state === 'pending' ? time(dueAtMs) : null,
    attemptedAt: timeOrNull(attemptedAtMs),
  };
}
