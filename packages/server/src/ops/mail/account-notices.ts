import { isId, type UserId } from '@tenon/protocol';
import type { MailRecord } from '../../db/mail-records.ts';
import type { Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { type MailText, oneLine } from '../../mail/mail-text.ts';
import type { Addresses } from '../../services.ts';
import { isDisabledByServer, webhookTarget } from '../../webhooks/webhook-target.ts';

/* Notices about the credentials and the quotas of a user, and about applications. */

/** The maximum number of networks or credentials that a mail names. */
const maxNamed = 10;

type NoticeText = (tx: Transaction, mail: MailRecord, userId: UserId) => Promise<MailText | undefined>;

/** Lists the new networks since the notice was queued, from the user's audit trail. */
export function newNetworksText(addresses: Addresses): NoticeText {
  return async (tx, { facts: { since = '' } }, userId) => {
    const find = (action: 'token.new_network' | 'api_key.new_network') =>
      tx.auditOfAccount(userId, { action, fromMs: Date.parse(since) || 0 }, { limit: maxNamed });
    const events = [...(await find('token.new_network')), ...(await find('api_key.new_network'))];
    if (events.length === 0) return undefined;
    return {
      subject: 'A token was used from a new network',
      paragraphs: [
        'These credentials of your account were used from a network that is new to them.',
        ...events.slice(0, maxNamed).map(({ targetId, targetName, atMs, details }) => {
          const kind = isId('token', targetId) ? 'access token' : 'API key';
          return `${minute(atMs)}: the ${kind} “${oneLine(targetName ?? targetId)}”, from ${String(details.network)}`;
        }),
      ],
      action: { label: 'View your tokens and keys', url: `${addresses.base()}/account/tokens` },
      notes: ['If this was not you, or a program of yours, revoke the credential on that page.'],
    };
  };
}

/** Names the credentials that expire soon, without those that were revoked since. */
export function expiriesText({ clock }: Pick<Deps, 'clock'>, addresses: Addresses): NoticeText {
  return async (tx, { facts: { ids = '' } }) => {
    const lines: string[] = [];
    for (const id of ids.split(' ')) {
      const kind = isId('token', id) ? 'access token' : 'API key';
      const found = isId('token', id) ? await tx.token(id) : isId('apiKey', id) ? await tx.apiKey(id) : undefined;
      if (found === undefined) continue;
      const verb = found.expiresAtMs <= clock() ? 'expired' : 'expires';
      lines.push(`The ${kind} “${oneLine(found.name)}” ${verb} at ${minute(found.expiresAtMs)}.`);
    }
    if (lines.length === 0) return undefined;
    return {
      subject: lines.length === 1 ? 'A token of yours expires' : `${lines.length} tokens of yours expire`,
      paragraphs: lines,
      action: { label: 'View your tokens and keys', url: `${addresses.base()}/account/tokens` },
      notes: ['Programs that use an expired credential stop working. Create another one before, if they need it.'],
    };
  };
}

/** A time such as `2026-03-01 12:00 UTC`. */
export function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Names the quota, its level, and where it is shown. */
export function quotasText(addresses: Addresses): NoticeText {
  return async (tx, { appId, facts }) => {
    const { name = '', what = '', percent = '', limit = '' } = facts;
    const app = appId === null ? undefined : await tx.app(appId);
    if (appId !== null && app === undefined) return undefined;
    const of = app === undefined ? 'Your account' : `The application “${oneLine(app.name)}”`;
    const path = app === undefined ? '/account' : `/apps/${app.id}/settings`;
    return {
      subject: `${percent} % of the quota ${name} is used`,
      paragraphs: [`${of} uses ${percent} % of its quota of ${limit} ${what}. Above the quota, changes are refused.`],
      action: { label: 'View the quotas', url: `${addresses.base()}${path}` },
      notes: ['Delete what is not needed, or ask the operator of the server to raise the quota.'],
    };
  };
}

/** Names a roll-out that the reports of hosts halted, and why. */
export function rollOutsText(addresses: Addresses): NoticeText {
  return async (tx, { appId, facts: { plugin = '', version = '', reason = '' } }) => {
    const app = appId === null ? undefined : await tx.app(appId);
    if (app === undefined) return undefined;
    return {
      subject: `The roll-out of ${plugin}, version ${version}, was halted`,
      paragraphs: [
        `The reports of hosts halted the roll-out of version ${version} of ${plugin} in the application “${oneLine(app.name)}”: ${oneLine(reason)}`,
        'Its guests have the version before again, except those that are pinned to it.',
      ],
      action: { label: 'View the roll-outs', url: `${addresses.base()}/apps/${app.id}/roll-outs` },
    };
  };
}

/** Names a webhook that the server disabled, and why. Returns no mail if it was enabled again or deleted meanwhile. */
export function webhooksText(addresses: Addresses): NoticeText {
  return async (tx, { facts: { webhookId = '' } }) => {
    const webhook = isId('webhook', webhookId) ? await tx.webhook(webhookId) : undefined;
    const app = webhook && (await tx.app(webhook.appId));
    if (webhook === undefined || app === undefined || !isDisabledByServer(webhook)) return undefined;
    const { name } = webhookTarget(webhook);
    const reason =
      webhook.state === 'gone' ? 'because its receiver answered 410 Gone' : 'because all deliveries failed for days';
    return {
      subject: `A webhook of ${oneLine(app.name)} was disabled`,
      paragraphs: [
        `The server disabled the webhook “${oneLine(name)}” of the application “${oneLine(app.name)}”, ${reason}.`,
      ],
      action: { label: 'View the webhook', url: `${addresses.base()}/apps/${app.id}/webhooks/${webhook.id}` },
      notes: ['Events of the meantime are not sent. Enable the webhook when its receiver works again.'],
    };
  };
}
