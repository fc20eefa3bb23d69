import { isSecret, secretPrefixes, type TokenScope, type UserId } from '@tenon/protocol';
import { record } from '../../audit/record.ts';
import type { Deps } from '../../deps.ts';
import { hashSecret } from '../secrets.ts';
import { makeToken, type NewToken } from '../tokens.ts';
import { OauthError } from './errors.ts';

export const loginTokenLifetimeDays = 30;

const dayMs = 24 * 60 * 60 * 1000;

/** Creates the token of a login, without storing it. Its name contains the device's name, for the user's list of tokens. */
export function makeLoginToken(
  { clock, random }: Pick<Deps, 'clock' | 'random'>,
  grant: { readonly userId: UserId; readonly scopes: readonly TokenScope[]; readonly deviceName: string | null },
): NewToken {
  const { userId, scopes, deviceName } = grant;
  const name = deviceName === null ? 'tenon login' : `tenon login (${deviceName})`;
  const nowMs = clock();
  const expiresAtMs = nowMs + loginTokenLifetimeDays * dayMs;
  return makeToken({ random, clock: () => nowMs }, userId, { name, scopes, appId: null, expiresAtMs });
}

/**
 * Revokes an access token of any kind (RFC 7009). Possession of the token is the authorization, because its holder could do worse with
 * it. A browser whose token is revoked fetches another one. An unknown token costs one query, and no write transaction.
 *
 * @returns whether the token was known
 * @throws OauthError `unsupported_token_type` for an API key
 */
export async function revokeBearer(deps: Pick<Deps, 'store' | 'clock'>, secret: string): Promise<boolean> {
  if (secret.startsWith(secretPrefixes.apiKey)) {
    throw new OauthError('unsupported_token_type', 'Delete API keys in the console, or by /api/v1/api-keys.');
  }
  if (!isSecret('accessToken', secret)) return false;
  const secretHash = hashSecret(secret);
  if ((await deps.store.read.tokenByHash(secretHash)) === undefined) return false;
  await deps.store.write(async (tx) => {
    const token = await tx.tokenByHash(secretHash);
    if (token === undefined) return;
    const actor = { userId: token.userId, tokenId: token.id, sessionId: token.sessionId };
    await record(deps, tx, actor, { action: 'token.revoke', target: token });
    await tx.deleteToken(token.id);
  });
  return true;
}
