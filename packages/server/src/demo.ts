import { readFile } from 'node:fs/promises';
import { type TokenScope, tokenScope, type UserId } from '@tenon/protocol';
import type { Actor, AppAccess, ExtensionPointAccess } from './domain/access.ts';
import { createApp } from './domain/apps.ts';
import type { Context } from './domain/context.ts';
import { createExtensionPoint } from './domain/extension-points.ts';
import { inviteGuest } from './domain/guests.ts';
import { storeBlob } from './domain/housekeeping/with-blob.ts';
import { acceptInvitation } from './domain/invitations.ts';
import type { CheckedModule, Store, Transaction } from './domain/ports.ts';
import { contentAddressOf, publish } from './domain/publish.ts';
import { noLimits } from './domain/records.ts';
import { hashSecret } from './domain/secrets.ts';
import { passwordIdentityRecord } from './domain/sign-up.ts';
import { insertOperator } from './domain/status/operators.ts';
import { issueApiKey, issueToken, type NewToken, tokenLifetimeDays } from './domain/tokens.ts';
import { createUser } from './domain/users.ts';
import type { QuickstartSecrets } from './quickstart-file.ts';

const guestKey = 'demo/acme';
const pluginName = 'greet';
const dayMs = 24 * 60 * 60 * 1000;

/** What plugins of the demo export. The sample, `sample/greet.wat`, exports more, which it may. */
const schema = {
  version: 'v1-draft',
  exports: {
    greet: {
      description: 'Greets the one whose name is the input.',
      input: { type: 'string', contentType: 'text/plain; charset=utf-8' },
      output: { type: 'string', contentType: 'text/plain; charset=utf-8' },
    },
  },
};

/** The e-mail address by which the demo's owner signs in. Nothing is sent to it. */
export const demoEmail = 'demo@tenon.example';

const passwordBytes = 15;

/** What takes time, and is done before the transaction that makes the demo. */
export interface DemoPreparation {
  /** The sample plugin, which is checked and in the blob store. */
  readonly sample: Uint8Array;
  readonly checked: CheckedModule;
  readonly password: string;
  readonly passwordHash: string;
}

export async function prepareDemo(context: Context): Promise<DemoPreparation> {
  const sample = new Uint8Array(await readFile(new URL('../sample/greet.wasm', import.meta.url)));
  const checked = await context.checker.check(sample, { schemaJson: JSON.stringify(schema), limits: noLimits });
  await storeBlob(context, contentAddressOf(sample), sample);
  const password = Buffer.from(context.random(passwordBytes)).toString('base64url');
  return { sample, checked, password, passwordHash: await context.passwords.hash(password) };
}

/**
 * Makes the demo: an owner who can sign in, with a token of all scopes and an API key, an application with an extension point, a guest whose
 * invitation the owner has accepted, and the sample plugin published by it. All of it is part of the transaction that is
 * handed in, made by the same use cases that serve requests.
 *
 * @param preparation what {@link prepareDemo} answered
 */
export async function makeDemo(
  context: Context,
  tx: Transaction,
  { sample, checked, password, passwordHash }: DemoPreparation,
): Promise<QuickstartSecrets> {
  const within = insideTransaction(context, tx, checked);
  const owner = await createUser(within, { name: 'Demo owner', email: demoEmail });
  await tx.insertIdentity(passwordIdentityRecord(owner.id, demoEmail, passwordHash, context.clock()));
  await insertOperator(within, tx, owner.id, 'first_account');
  const token = await issueDemoToken(within, owner.id);
  const apiKey = await issueApiKey(within, owner.id, demoSecretName);
  const actor: Actor = { ...token.record, tokenId: token.record.id };

  const access: AppAccess = await createApp(within, actor, 'Demo');
  const extensionPoint = await createExtensionPoint(within, access, { name: 'Greetings', schema });
  const code = await inviteGuest(within, actor, access, { guestKey, deliveryMethod: 'link', name: 'Acme' });
  const { guest } = await acceptInvitation(within, actor, code);
  const atExtensionPoint: ExtensionPointAccess = {
    ...access,
    guests: guest === undefined ? [] : [guest],
    extensionPoint,
  };
  await publish(within, actor, atExtensionPoint, { userId: owner.id, name: pluginName }, { bytes: sample });

  return {
    TENON_EMAIL: demoEmail,
    TENON_PASSWORD: password,
    TENON_TOKEN: token.secret,
    TENON_API_KEY: apiKey.secret,
    TENON_APP_ID: access.app.id,
    TENON_EXTENSION_POINT_ID: extensionPoint.id,
    TENON_GUEST_KEY: guestKey,
    TENON_USER_ID: owner.id,
  };
}

/** The name of the demo's token and API key. */
const demoSecretName = 'quickstart';

/** Of all scopes, and for as long as such a token may live. */
function issueDemoToken(context: Context, userId: UserId): Promise<NewToken> {
  const scopes = tokenScope.anyOf.map((scope): TokenScope => scope.const);
  const expiresAtMs = context.clock() + tokenLifetimeDays(scopes).most * dayMs;
  return issueToken(context, userId, { name: demoSecretName, scopes, appId: null, expiresAtMs });
}

/**
 * Makes another token and another API key for the demo's owner where those that `quickstart.env` holds have expired. One that was
 * revoked stays revoked.
 *
 * @param secrets what `quickstart.env` holds
 * @returns what it should hold, or `undefined` when nothing has expired
 */
export async function renewDemo(
  context: Context,
  tx: Transaction,
  secrets: ReadonlyMap<string, string>,
): Promise<Pick<QuickstartSecrets, 'TENON_TOKEN' | 'TENON_API_KEY'> | undefined> {
  const [tokenSecret, keySecret] = [secrets.get('TENON_TOKEN'), secrets.get('TENON_API_KEY')];
  if (tokenSecret === undefined || keySecret === undefined) return undefined;
  const token = await tx.tokenByHash(hashSecret(tokenSecret));
  const key = await tx.apiKeyByHash(hashSecret(keySecret));
  const owner = token && (await tx.user(token.userId));
  if (token === undefined || owner?.email !== demoEmail || token.name !== demoSecretName) return undefined;
  const isExpired = (made: { readonly expiresAtMs: number } | undefined) =>
    made !== undefined && made.expiresAtMs <= context.clock();
  if (!isExpired(token) && !isExpired(key)) return undefined;
  const within = { ...context, store: { ...context.store, read: tx, write: inside(tx) } };
  return {
    TENON_TOKEN: isExpired(token) ? (await issueDemoToken(within, owner.id)).secret : tokenSecret,
    TENON_API_KEY: isExpired(key) ? (await issueApiKey(within, owner.id, demoSecretName)).secret : keySecret,
  };
}

/** Has a use case take part in a transaction instead of making its own. */
function inside(tx: Transaction): Store['write'] {
  return (work) => work(tx);
}

/**
 * The same parts, except that every use case takes part in one transaction instead of making its own, and that the sample's
 * bytes, which are checked and stored already (unless the collector took them at this very moment), cost no wait inside of it.
 */
function insideTransaction(context: Context, outer: Transaction, checked: CheckedModule): Context {
  const tx = byOperator(outer);
  return {
    ...context,
    store: { ...context.store, read: tx, write: inside(tx) },
    blobs: {
      ...context.blobs,
      async put(key, bytes) {
        if ((await context.blobs.size(key)) === undefined) await context.blobs.put(key, bytes);
      },
    },
    checker: { ...context.checker, check: async () => checked },
  };
}

/** What is done in the owner's name here is the operator's doing, who started the server, and the audit trail says so. */
function byOperator(tx: Transaction): Transaction {
  const operator = { by: 'operator', userId: null, userName: null, viaId: null, viaName: null } as const;
  return { ...tx, insertAuditEvent: (event) => tx.insertAuditEvent({ ...event, ...operator }) };
}
