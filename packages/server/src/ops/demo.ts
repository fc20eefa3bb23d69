import { readFile } from 'node:fs/promises';
import { type TokenScope, tokenScope, type UserId } from '@tenon/protocol';
import { createApp } from '../apps/apps.ts';
import { inviteGuest } from '../apps/guests.ts';
import { acceptInvitation } from '../apps/invitations.ts';
import type { AppAccess, ExtensionPointAccess } from '../auth/access.ts';
import { toActor } from '../auth/authenticate.ts';
import { insertFirstOperator } from '../auth/operators.ts';
import { hashSecret } from '../auth/secrets.ts';
import { issueApiKey, issueToken, type NewToken, tokenLifetimeDays } from '../auth/tokens.ts';
import { createUser } from '../auth/users.ts';
import { storeBlob } from '../blobs/with-blob.ts';
import { noLimits } from '../db/records.ts';
import type { Store, Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { createExtensionPoint } from '../plugins/extension-points.ts';
import type { CheckedModule } from '../plugins/module-checker.ts';
import { contentAddressOf, publish } from '../plugins/publish.ts';
import type { QuickstartSecrets } from './quickstart-file.ts';

const guestKey = 'demo/acme';
const pluginName = 'greet';
const dayMs = 24 * 60 * 60 * 1000;

/** The schema of the demo's extension point. The sample plugin, `sample/greet.wat`, exports more, which is allowed. */
const schema = {
  version: 'v1-draft',
  exports: {
    greet: {
      description: 'Returns a greeting for the name in the input.',
      input: { type: 'string', contentType: 'text/plain; charset=utf-8' },
      output: { type: 'string', contentType: 'text/plain; charset=utf-8' },
    },
  },
};

/** The e-mail address with which the demo's owner signs in. The server never sends mail to it. */
const demoEmail = 'demo@tenon.example';

const passwordBytes = 15;

/** The results of the slow steps, which run before the transaction that creates the demo. */
interface DemoPreparation {
  /** The sample plugin's bytes, already checked and stored. */
  readonly sample: Uint8Array;
  readonly checked: CheckedModule;
  readonly password: string;
  readonly passwordHash: string;
}

export async function prepareDemo(deps: Deps): Promise<DemoPreparation> {
  const sample = new Uint8Array(await readFile(new URL('../../sample/greet.wasm', import.meta.url)));
  const checked = await deps.checker.check(sample, { schemaJson: JSON.stringify(schema), limits: noLimits });
  await storeBlob(deps, contentAddressOf(sample), sample);
  const password = Buffer.from(deps.random(passwordBytes)).toString('base64url');
  return { sample, checked, password, passwordHash: await deps.passwords.hash(password) };
}

/**
 * Creates the demo in a transaction, with the same use cases that serve requests:
 *
 * - an owner who can sign in, with a token of all scopes and an API key,
 * - an application with an extension point,
 * - a guest whose invitation the owner has accepted,
 * - the sample plugin, published under that guest.
 *
 * @param preparation the result of {@link prepareDemo}
 */
export async function createDemo(
  deps: Deps,
  tx: Transaction,
  { sample, checked, password, passwordHash }: DemoPreparation,
): Promise<QuickstartSecrets> {
  const within = insideTransaction(deps, tx, checked);
  const owner = await createUser(within, { name: 'Demo owner', email: demoEmail });
  await tx.putPassword({ userId: owner.id, hash: passwordHash, updatedAtMs: deps.clock() });
  await insertFirstOperator(within, tx, owner.id);
  const token = await issueDemoToken(within, owner.id);
  const apiKey = await issueApiKey(within, owner.id, demoSecretName);
  const actor = toActor({ ...token.record, passkeyId: null });

  const access: AppAccess = await createApp(within, actor, 'Demo');
  const { extensionPoint } = await createExtensionPoint(within, access, { name: 'Greetings', schema });
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

/** Issues a token with all scopes and the maximum lifetime. */
function issueDemoToken(deps: Deps, userId: UserId): Promise<NewToken> {
  const scopes = tokenScope.anyOf.map((scope): TokenScope => scope.const);
  const expiresAtMs = deps.clock() + tokenLifetimeDays(scopes).max * dayMs;
  return issueToken(deps, userId, { name: demoSecretName, scopes, appId: null, expiresAtMs });
}

/**
 * Replaces the token and the API key in `quickstart.env` if they have expired. Revoked ones are not replaced.
 *
 * @param secrets the contents of `quickstart.env`
 * @returns the token and API key to write, or `undefined` if neither has expired
 */
export async function renewDemoSecrets(
  deps: Deps,
  tx: Transaction,
  secrets: ReadonlyMap<string, string>,
): Promise<Pick<QuickstartSecrets, 'TENON_TOKEN' | 'TENON_API_KEY'> | undefined> {
  const [tokenSecret, keySecret] = [secrets.get('TENON_TOKEN'), secrets.get('TENON_API_KEY')];
  if (tokenSecret === undefined || keySecret === undefined) return undefined;
  const token = await tx.tokenByHash(hashSecret(tokenSecret));
  const key = await tx.apiKeyByHash(hashSecret(keySecret));
  const owner = token && (await tx.user(token.userId));
  if (token === undefined || owner?.email !== demoEmail || token.name !== demoSecretName) return undefined;
  const isExpired = (record: { readonly expiresAtMs: number } | undefined) =>
    record !== undefined && record.expiresAtMs <= deps.clock();
  if (!isExpired(token) && !isExpired(key)) return undefined;
  const within = { ...deps, store: { ...deps.store, read: tx, write: writeInside(tx) } };
  return {
    TENON_TOKEN: isExpired(token) ? (await issueDemoToken(within, owner.id)).secret : tokenSecret,
    TENON_API_KEY: isExpired(key) ? (await issueApiKey(within, owner.id, demoSecretName)).secret : keySecret,
  };
}

/** A `write()` that runs its work in an open transaction instead of a new one. */
function writeInside(tx: Transaction): Store['write'] {
  return (work) => work(tx);
}

/**
 * Returns a context whose use cases all run in one transaction. To keep the transaction short, it also skips checking and storing the
 * sample, which {@link prepareDemo} has done, unless garbage collection has deleted the blob since.
 */
function insideTransaction(deps: Deps, tx: Transaction, checked: CheckedModule): Deps {
  return {
    ...deps,
    store: { ...deps.store, read: tx, write: writeInside(tx) },
    auditAuthor: 'operator', // who started the server
    blobs: {
      ...deps.blobs,
      async put(key, bytes) {
        if ((await deps.blobs.size(key)) === undefined) await deps.blobs.put(key, bytes);
      },
    },
    checker: { ...deps.checker, check: async () => checked },
  };
}
