import type { Identity } from '@tenon/protocol';
import type { IdentityRecord } from '../../db/identity-records.ts';
import { time } from '../../http/wire-time.ts';
import type { SignInProviders } from './providers.ts';

export function toIdentity(identity: IdentityRecord, providers: SignInProviders): Identity {
  const { id, providerId, issuer, email, createdAtMs, lastUsedAtMs } = identity;
  const settings = providers.find(providerId)?.settings;
  const provider = settings === undefined ? null : { id: settings.id, label: settings.label };
  return { id, provider, issuer, email, createdAt: time(createdAtMs), lastUsedAt: time(lastUsedAtMs) };
}
