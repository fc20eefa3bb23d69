import { isId, type UserId } from '@tenon/protocol';
import { record } from '../audit/record.ts';
import type { ApiKeyRecord, TokenRecord } from '../db/records.ts';
import type { Transaction, WithLastAddress } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../http/domain-errors.ts';

/* What the operator of the store does with the tokens and API keys of any user. */

type ManageDeps = Pick<Deps, 'store' | 'clock'>;

export type Credential = TokenRecord | ApiKeyRecord;

/** A credential with the address of its last use. */
export type ListedCredential = Credential & WithLastAddress;

/** Lists at most `limit` tokens and `limit` API keys of a user, without the tokens of sessions. */
export async function listCredentials(
  { store: { read } }: Pick<Deps, 'store'>,
  userId: UserId,
  limit?: number,
): Promise<ListedCredential[]> {
  const page = { limit };
  return [...(await read.tokens(userId, undefined, page)), ...(await read.apiKeys(userId, page))];
}

/** Finds a token or an API key. @throws DomainError `not_found` */
export async function findCredential({ store: { read } }: Pick<Deps, 'store'>, id: string): Promise<Credential> {
  const found = isId('token', id) ? await read.token(id) : isId('apiKey', id) ? await read.apiKey(id) : undefined;
  if (found === undefined) throw notFound('token or API key');
  return found;
}

/** Revokes tokens and API keys; those that are revoked already are skipped. @returns the ids of the revoked ones */
export function revokeCredentials(deps: ManageDeps, credentials: readonly Credential[]): Promise<string[]> {
  return deps.store.write(async (tx) => {
    const revoked: string[] = [];
    for (const credential of credentials) {
      if (await revoke(deps, tx, credential)) revoked.push(credential.id);
    }
    return revoked;
  });
}

async function revoke(deps: ManageDeps, tx: Transaction, { id, userId, name }: Credential): Promise<boolean> {
  const target = { id, name };
  const entry = { accountId: userId, target };
  if (isId('token', id)) {
    if ((await tx.token(id)) === undefined) return false;
    await record(deps, tx, 'operator', { ...entry, action: 'token.revoke', details: { cause: 'operator' } });
    await tx.deleteToken(id);
    return true;
  }
  if (!isId('apiKey', id) || (await tx.apiKey(id)) === undefined) return false;
  await record(deps, tx, 'operator', { ...entry, action: 'api_key.revoke' });
  await tx.deleteApiKey(id);
  return true;
}
