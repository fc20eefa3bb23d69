import type { WebhookRecord } from '../db/webhook-records.ts';

/** Returns a webhook as the target of an audit event. Its URL may contain a secret, so that only the host is recorded. */
export function webhookTarget({ id, url, description }: Pick<WebhookRecord, 'id' | 'url' | 'description'>) {
  return { id, name: description ?? webhookHost(url) };
}

export function webhookHost(url: string): string {
  return new URL(url).host;
}

/** Whether the server disabled a webhook, and not its team. */
export function isDisabledByServer({ state }: Pick<WebhookRecord, 'state'>): boolean {
  return state === 'gone' || state === 'failing';
}
