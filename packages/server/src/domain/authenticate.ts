import { type ApiKeyId, isSecret, type SessionId, type TokenId } from '@tenon/protocol';
import { type Actor, actorCacheTags } from './access.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { MemoryKind } from './memories/memories.ts';
import type { ApiKeyRecord, TokenRecord } from './records.ts';
import { hashSecret } from './secrets.ts';

/** By the secrets themselves: to hash one, and to check its form, costs more than all else that a host's usual request needs. */
const tokens: MemoryKind<Actor> = {
  name: 'tokens',
  subjects: actorCacheTags,
};

const apiKeys: MemoryKind<ApiKeyRecord> = {
  name: 'API keys',
  subjects: ({ id, userId, tokenId }) => (tokenId === null ? [id, userId] : [id, userId, tokenId]),
};

/**
 * Finds whose access token this is. A text that can't be one, by its form and checksum, is refused without a look-up.
 *
 * @throws DomainError `invalid_token` when it is unknown, revoked, expired or of another kind
 */
export async function authenticateToken(context: Context, secret: string): Promise<Actor> {
  const actor = await context.memories.of(tokens).getOrLoad(secret, () => loadToken(context, secret));
  if (actor === undefined || actor.expiresAtMs <= context.clock()) throw invalidToken();
  return actor;
}

async function loadToken(context: Context, secret: string): Promise<Actor | undefined> {
  if (!isSecret('accessToken', secret)) return undefined;
  const record = await context.store.read.tokenByHash(hashSecret(secret));
  return record && toActor(record);
}

/**
 * Finds whose API key this is.
 *
 * @throws DomainError `invalid_token` when it is unknown, revoked, expired or of another kind
 */
export async function authenticateApiKey(context: Context, secret: string): Promise<ApiKeyRecord> {
  if (!isSecret('apiKey', secret)) throw invalidToken();
  const secretHash = hashSecret(secret);
  const load = () => context.store.read.apiKeyByHash(secretHash);
  const record = await context.memories.of(apiKeys).getOrLoad(secretHash, load);
  if (record === undefined || record.expiresAtMs <= context.clock()) throw invalidToken();
  return record;
}

function toActor({ id, userId, scopes, appId, sessionId, expiresAtMs }: TokenRecord): Actor {
  return { tokenId: id, userId, scopes, appId, sessionId, expiresAtMs };
}

function invalidToken(): DomainError {
  return new DomainError(
    'invalid_token',
    'The token is unknown, revoked, expired, or of a kind that does not open this.',
  );
}

/** What it is noted of when it was last used. */
export type CredentialId = TokenId | ApiKeyId | SessionId;

/** Collects when tokens, keys and sessions were last used, so that a use costs no write of its own. */
export interface LastUsedLog {
  note(id: CredentialId): void;
  /** Writes what was noted since the last time; nothing when nothing was, or only within the minute already written. */
  flush(): Promise<void>;
}

const useResolutionMs = 60_000;

/** Uses are kept to the minute: a busy token then costs one row a minute. */
export function createLastUsedLog(context: Pick<Context, 'store' | 'clock'>): LastUsedLog {
  let noted = new Map<CredentialId, number>();
  const written = new Map<CredentialId, number>();
  return {
    note(id) {
      const now = context.clock();
      const minute = now - (now % useResolutionMs);
      if (written.get(id) !== minute) noted.set(id, minute);
    },
    async flush() {
      if (noted.size === 0) return;
      const uses = noted;
      noted = new Map();
      await context.store.write((tx) => tx.touch(uses));
      if (written.size > 10_000) written.clear();
      for (const [id, minute] of uses) written.set(id, minute);
    },
  };
}
