import type { IdentityId, PasskeyId, UserId } from '@tenon/protocol';
import type { Queries } from '../db/store.ts';
import type { Deps } from '../deps.ts';

/** Whether a user can sign in without an identity or a passkey: with a password, another passkey, or an identity of a configured provider. */
export async function hasOtherMeans(
  { settings, signInProviders }: Pick<Deps, 'settings' | 'signInProviders'>,
  queries: Pick<Queries, 'identities' | 'passkeysOf' | 'password'>,
  userId: UserId,
  without: IdentityId | PasskeyId,
): Promise<boolean> {
  if ((await queries.passkeysOf(userId)).some(({ id }) => id !== without)) return true;
  const identities = await queries.identities(userId);
  if (identities.some(({ id, providerId }) => id !== without && signInProviders.find(providerId) !== undefined)) {
    return true;
  }
  return settings.signIn.passwordSignIn && (await queries.password(userId)) !== undefined;
}
