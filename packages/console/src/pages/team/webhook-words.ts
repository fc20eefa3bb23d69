import type { Webhook, WebhookDelivery } from '@tenon/protocol';

type Kind = 'good' | 'waiting' | 'bad' | 'plain';

/** What each state of a webhook is called, and the kind of its badge. */
export const webhookStates: Readonly<Record<Webhook['state'], { readonly word: string; readonly kind: Kind }>> = {
  enabled: { word: 'enabled', kind: 'good' },
  disabled: { word: 'disabled', kind: 'plain' },
  gone: { word: 'receiver gone', kind: 'bad' },
  failing: { word: 'failed for days', kind: 'bad' },
};

export const deliveryKinds: Readonly<Record<WebhookDelivery['state'], Kind>> = {
  pending: 'waiting',
  delivered: 'good',
  failed: 'bad',
};

/** What the last attempt of a delivery resulted in. */
export function deliveryResult({ status, error, attemptedAt, durationMs }: WebhookDelivery): string {
  if (error === 'expired') return 'Not sent: it waited too long';
  if (error === 'disabled') return 'Not sent: the webhook was disabled';
  if (attemptedAt === null) return 'No attempt yet';
  const result = status === null ? (error === 'timeout' ? 'No response in time' : 'Unreachable') : String(status);
  return `${result}, ${durationMs ?? 0} ms`;
}
