import type {
  Account,
  ApiKeyInfo,
  PendingLogin,
  QuotaOverride,
  QuotaUse,
  Session,
  TokenInfo,
  User,
  UserDetails,
} from '@tenon/protocol';
import { noticeNames } from '../db/mail-records.ts';
import type { ApiKeyRecord, DeviceGrantRecord, SessionRecord, TokenRecord } from '../db/records.ts';
import type { ListedQuotaOverride, WithLastAddress } from '../db/store.ts';
import { time, timeOrNull } from '../http/wire-time.ts';
import type { Actor } from './access.ts';
import type { AccountDetails } from './accounts.ts';
import type { UserWithAppCount } from './manage-users.ts';
import type { QuotaUsage } from './quotas.ts';
import { toOwnPlugin } from './token-restriction.ts';
import type { UserDescription } from './users.ts';

export function toQuotaUse(taken: readonly QuotaUsage[]): QuotaUse {
  return {
    quotas: taken.map(({ name, what, isBytes = false, limit, used, source }) => ({
      name,
      what,
      isBytes,
      limit,
      used,
      source,
    })),
  };
}

export function toQuotaOverride(override: ListedQuotaOverride): QuotaOverride {
  const { subjectId, subjectName, name, value, updatedAtMs } = override;
  return { subjectId, subjectName, name, limit: value, updatedAt: time(updatedAtMs) };
}

export function toTokenInfo(token: TokenRecord): TokenInfo {
  const { id, name, scopes, appId, guestId, networks, trustRuleId, claims } = token;
  const { createdAtMs, expiresAtMs, lastUsedAtMs } = token;
  return {
    id,
    name,
    scopes: [...scopes],
    appId,
    plugin: toOwnPlugin(token),
    guestId,
    networks: networks === null ? null : [...networks],
    trustRuleId,
    claims,
    createdAt: time(createdAtMs),
    expiresAt: time(expiresAtMs),
    lastUsedAt: timeOrNull(lastUsedAtMs),
  };
}

export function toApiKeyInfo({ id, name, createdAtMs, expiresAtMs, lastUsedAtMs }: ApiKeyRecord): ApiKeyInfo {
  const times = { createdAt: time(createdAtMs), expiresAt: time(expiresAtMs), lastUsedAt: timeOrNull(lastUsedAtMs) };
  return { id, name, ...times };
}

/** Adds the address of a credential's last use for tokens that may manage the account: hosts and builds don't need it. */
function withLastAddress<Info>(info: Info, { lastUsedAddress }: WithLastAddress, { scopes, appId }: Actor) {
  return scopes.includes('manage') && appId === null ? { ...info, lastUsedAddress } : info;
}

export function toListedToken(token: TokenRecord & WithLastAddress, actor: Actor): TokenInfo {
  return withLastAddress(toTokenInfo(token), token, actor);
}

export function toListedApiKey(key: ApiKeyRecord & WithLastAddress, actor: Actor): ApiKeyInfo {
  return withLastAddress(toApiKeyInfo(key), key, actor);
}

export function toPendingLogin(grant: DeviceGrantRecord): PendingLogin {
  const { id, deviceName, address, scopes, createdAtMs, expiresAtMs } = grant;
  return { id, deviceName, address, scopes: [...scopes], createdAt: time(createdAtMs), expiresAt: time(expiresAtMs) };
}

export function toAccount({ user, muted, ...facts }: AccountDetails): Account {
  const { id, name, email } = user;
  const { isOperator, mayCreateApps, isEmailVerified, hasPassword } = facts;
  const notices = Object.fromEntries(noticeNames.map((notice) => [notice, !muted.includes(notice)]));
  const shown = { id, name, email, isOperator, mayCreateApps, isEmailVerified, hasPassword };
  return { ...shown, notices: notices as Account['notices'] };
}

export function toSession(session: SessionRecord & WithLastAddress, actor: Actor): Session {
  const { id, userAgent, address, createdAtMs, lastUsedAtMs, lastUsedAddress, expiresAtMs } = session;
  return {
    id,
    userAgent,
    address,
    isCurrent: id === actor.sessionId,
    createdAt: time(createdAtMs),
    lastUsedAt: time(lastUsedAtMs),
    lastUsedAddress,
    expiresAt: time(expiresAtMs),
  };
}

export function toUser({
  id,
  name,
  email,
  isOperator,
  createdAtMs,
  lastSeenAtMs,
  suspendedAtMs,
  appCount,
}: UserWithAppCount): User {
  return {
    id,
    name,
    email,
    isOperator,
    createdAt: time(createdAtMs),
    // Stored to the hour, which may begin before the account was created.
    lastSeenAt: lastSeenAtMs === 0 ? null : time(Math.max(lastSeenAtMs, createdAtMs)),
    suspendedAt: timeOrNull(suspendedAtMs),
    appCount,
  };
}

export function toUserDetails({ user, apps, ...counts }: UserDescription): UserDetails {
  return { ...toUser(user), ...counts, apps: apps.map(({ app: { id, name }, role }) => ({ id, name, role })) };
}
