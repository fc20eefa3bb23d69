import { createHmac } from 'node:crypto';
import type { RandomBytes } from '../db/store.ts';

/* Signatures: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme */

const secretPrefix = 'whsec_';

/** The length of a secret, in bytes. The specification allows 24 to 64. */
const secretBytes = 32;

/** Creates a secret: `whsec_` and the base64 of the key. */
export function makeWebhookSecret(random: RandomBytes): string {
  return `${secretPrefix}${Buffer.from(random(secretBytes)).toString('base64')}`;
}

/** Returns the header fields of a delivery. Each secret signs, so that a receiver may have any of them. */
export function signedHeaders(
  { id, body, atMs }: { readonly id: string; readonly body: string; readonly atMs: number },
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000));
  const sign = (secret: string) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  };
}
