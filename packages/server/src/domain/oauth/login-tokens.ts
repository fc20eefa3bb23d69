import { isSecret, secretPrefixes, type TokenScope, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { hashSecret } from '../secrets.ts';
import { makeToken, type NewToken } from '../tokens.ts';
import { OauthError } from './errors.ts';

/** How long the token of a command-line login works, in days. */
export const loginTokenLifetimeDays = 30;

const dayMs = 24 * 60 * 60 * 1000;

/** Makes the token that a login ends with. Its name tells the owner, in the list of tokens, which machine has it. */
export function makeLoginToken(
  { clock, random }: Pick<Context, 'clock' | 'random'>,
  grant: { readonly userId: UserId; readonly scopes: readonly TokenScope[]; readonly deviceName: string | null },
): NewToken {
  const { userId, scopes, deviceName } = grant;
  const name = deviceName === null ? 'tenon login' : `tenon login (${deviceName})`;
  const nowMs = clock();
  const expiresAtMs = nowMs + loginTokenLifetimeDays * dayMs;
  return makeToken({ random, clock: () => nowMs }, userId, { name, scopes, appId: null, expiresAtMs });
}

/**
 * Revokes an access token, whoever brings it (RFC 7009): who holds a token could do worse with it. Any will do, whether it came
 * from a login, was made by hand, or belongs to the pages of a session, which then fetch another one. An unknown token is looked
 * up and nothing more: only a known one takes a transaction that writes.
 *
 * @returns whether the token was known
 * @throws OauthError `unsupported_token_type` for an API key
 */
export async function revokeBearer(context: Pick<Context, 'store' | 'clock'>, secret: string): Promise<boolean> {
  if (secret.startsWith(secretPrefixes.apiKey)) {
    throw new OauthError('unsupported_token_type', 'API keys are deleted on the console, or through /api/v1/api-keys.');
  }
  if (!isSecret('accessToken', secret)) return false;
  const secretHash = hashSecret(secret);
  if ((await context.store.read.tokenByHash(secretHash)) === undefined) return false;
  await context.store.write(async (tx) => {
    const token = await tx.tokenByHash(secretHash);
    if (token === undefined) return;
    const by = { userId: token.userId, tokenId: token.id, sessionId: token.sessionId };
    await record(context, tx, by, { action: 'token.revoke', target: token });
    await tx.deleteToken(token.id);
  });
  return true;
}
