import { newId, type UserId } from '@tenon/protocol';
import { record, sessionActor } from '../../audit/record.ts';
import { isMailAddress } from '../../config/readers.ts';
import type { ProviderSettings } from '../../config/sign-in-providers.ts';
import type { IdentityRecord, ProviderSignInRecord } from '../../db/identity-records.ts';
import type { SessionRecord, UserRecord } from '../../db/records.ts';
import type { Queries, Transaction } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError, notFound, TooManyAttemptsError } from '../../http/domain-errors.ts';
import { type Actor, requireActiveToken } from '../access.ts';
import { requireStepUp } from '../confirmation.ts';
import { normalizeEmail } from '../emails.ts';
import { isEmailVerified, markEmailVerified } from '../mailed-links.ts';
import { hasOtherMeans } from '../means-of-sign-in.ts';
import { hasPasskey } from '../passkeys/verify-assertion.ts';
import { type Browser, deleteSession } from '../sessions.ts';
import { findPermit, type Permit } from '../sign-up.ts';
import { textClaim, type VerifiedResponse } from './id-token.ts';
import { maxIdentities } from './identity-queries.ts';
import { SignInRefusal } from './refusal.ts';

const maxNameLength = 200;
const maxEmailLength = 254;

/** Gives a user the roles of the provider's groups, and takes back those that the groups gave before. */
export type ApplyGroups = (
  deps: Deps,
  tx: Transaction,
  userId: UserId,
  provider: Pick<ProviderSettings, 'id' | 'rules'>,
  groups: ReadonlySet<string>,
) => Promise<void>;

interface NewSignIn {
  readonly settings: ProviderSettings;
  readonly browser: Browser;
  readonly signIn: ProviderSignInRecord;
  readonly response: VerifiedResponse;
}

/**
 * Finds the user of an identity. Without one, links the identity to the account with the same verified address, or creates an account, if
 * the settings allow it. An account with a passkey is not linked: the user signs in with the passkey, and links the identity.
 *
 * @throws SignInRefusal; the errors of an invalid invitation or link
 */
export async function findOrCreateUser(
  deps: Deps,
  tx: Transaction,
  found: NewSignIn,
): Promise<{ readonly identity: IdentityRecord; readonly isNewAccount: boolean }> {
  const { settings, response } = found;
  const present = await tx.identityBySubject(response.issuer, response.subject);
  if (present !== undefined) {
    const use = { email: shownEmail(settings, response), lastUsedAtMs: deps.clock() };
    await tx.updateIdentity(present.id, use);
    return { identity: { ...present, ...use }, isNewAccount: false };
  }
  const email = verifiedEmail(settings, response);
  const user = await tx.userByEmail(email);
  if (user === undefined) return { identity: await createAccount(deps, tx, found, email), isNewAccount: true };
  if (!settings.linksByEmail || !(await isEmailVerified(tx, user)) || (await hasPasskey(tx, user.id))) {
    throw new SignInRefusal('email_taken', 'not_allowed', 'The address has an account.', undefined, user.id);
  }
  const identity = await insertIdentity(deps, tx, user.id, settings, response);
  const actor = { userId: user.id, sessionId: null, address: found.browser.address };
  await recordLink(deps, tx, actor, identity, 'email');
  return { identity, isNewAccount: false };
}

/** Returns the address that the provider has verified. `email_verified` is about the claim `email` only. @throws SignInRefusal */
function verifiedEmail(settings: ProviderSettings, { claims }: VerifiedResponse): string {
  const email = normalizeEmail(textClaim(claims, settings.emailClaim, maxEmailLength) ?? '');
  const isVerified = settings.verifiesEmails || (settings.emailClaim === 'email' && claims.email_verified === true);
  if (isVerified && isMailAddress(email)) return email;
  throw new SignInRefusal('email', 'claims', 'The provider sent no verified e-mail address.');
}

/** Returns the provider's address of a user for display. */
function shownEmail(settings: ProviderSettings, { claims }: VerifiedResponse): string | null {
  return textClaim(claims, settings.emailClaim, maxEmailLength) ?? null;
}

async function createAccount(
  deps: Deps,
  tx: Transaction,
  { settings, browser, signIn, response }: NewSignIn,
  email: string,
): Promise<IdentityRecord> {
  const permit = await findAccountPermit(deps, tx, settings, signIn, email);
  limitSignUps(deps, permit, browser);
  const { claims } = response;
  const name =
    textClaim(claims, settings.nameClaim, maxNameLength) ??
    textClaim(claims, 'preferred_username', maxNameLength) ??
    email.slice(0, email.indexOf('@'));
  const user: UserRecord = {
    id: newId('user'),
    name,
    email,
    createdAtMs: deps.clock(),
    lastSeenAtMs: 0,
    suspendedAtMs: null,
    deletedAtMs: null,
  };
  await tx.insertUser(user);
  const actor = { userId: user.id, sessionId: null, address: browser.address };
  const details = { means: permit.means, provider: settings.id };
  await record(deps, tx, actor, { action: 'account.create', target: user, details });
  await permit.use(tx, user.id);
  await markEmailVerified(tx, user.id, email);
  return insertIdentity(deps, tx, user.id, settings, response);
}

/** Finds what allows a new account: an invitation or a link, the provider's settings, or open sign-up. @throws SignInRefusal */
async function findAccountPermit(
  deps: Deps,
  tx: Queries,
  { createsAccounts, id }: ProviderSettings,
  { invitationHash, linkHash }: ProviderSignInRecord,
  email: string,
): Promise<Permit> {
  if (linkHash !== null || (invitationHash !== null && deps.settings.signUp !== 'off')) {
    return findPermit(deps, tx, { invitationHash: invitationHash ?? undefined, linkHash: linkHash ?? undefined });
  }
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const isAllowed = Array.isArray(createsAccounts) ? createsAccounts.includes(domain) : createsAccounts === true;
  if (isAllowed) return { means: 'provider', use: async () => {} };
  if (deps.settings.signUp === 'open' && createsAccounts === false) return findPermit(deps, tx, {});
  const reason = Array.isArray(createsAccounts) ? 'not_allowed' : 'no_account';
  throw new SignInRefusal('no_account', reason, `The provider ${id} may not create an account for this address.`);
}

/** @throws DomainError `rate_limited` */
function limitSignUps({ rates }: Deps, { means, inviterId }: Permit, { network }: Browser): void {
  const isLimited = means === 'open' || means === 'invitation';
  const seconds = Math.max(
    isLimited ? rates.signUps.take(network) : 0,
    inviterId === undefined ? 0 : rates.inviterSignUps.take(inviterId),
  );
  if (seconds > 0) throw new TooManyAttemptsError('Too many accounts were created.', seconds);
}

async function insertIdentity(
  deps: Deps,
  tx: Transaction,
  userId: UserId,
  settings: ProviderSettings,
  response: VerifiedResponse,
): Promise<IdentityRecord> {
  if ((await tx.identities(userId)).length >= maxIdentities) {
    throw new SignInRefusal('too_many', undefined, `The account has ${maxIdentities} linked sign-ins.`);
  }
  const nowMs = deps.clock();
  const identity: IdentityRecord = {
    id: newId('identity'),
    userId,
    providerId: settings.id,
    issuer: response.issuer,
    subject: response.subject,
    email: shownEmail(settings, response),
    createdAtMs: nowMs,
    lastUsedAtMs: nowMs,
  };
  await tx.insertIdentity(identity);
  return identity;
}

/** Links an identity to the account of a session. @throws SignInRefusal if it is linked to another account */
export async function linkIdentity(
  deps: Deps,
  session: SessionRecord,
  settings: ProviderSettings,
  response: VerifiedResponse,
): Promise<void> {
  await deps.store.write(async (tx) => {
    if ((await tx.session(session.id)) === undefined) {
      throw new SignInRefusal('not_signed_in', undefined, 'The session has ended.');
    }
    const present = await tx.identityBySubject(response.issuer, response.subject);
    if (present?.userId === session.userId) return;
    if (present !== undefined) {
      const message = 'The identity is linked to another account.';
      throw new SignInRefusal('identity_taken', 'not_allowed', message, undefined, session.userId);
    }
    const identity = await insertIdentity(deps, tx, session.userId, settings, response);
    await recordLink(deps, tx, sessionActor(session), identity, 'account');
  });
}

function recordLink(
  deps: Deps,
  tx: Transaction,
  actor: Parameters<typeof record>[2],
  { id, providerId }: IdentityRecord,
  means: 'account' | 'email',
): Promise<void> {
  const target = { id, name: null };
  return record(deps, tx, actor, { action: 'identity.link', target, details: { provider: providerId, means } });
}

export function listIdentities(deps: Deps, { userId }: Pick<Actor, 'userId'>): Promise<readonly IdentityRecord[]> {
  return deps.store.read.identities(userId);
}

/**
 * Removes an identity of the actor, with the roles that its groups gave, and ends the other sessions that it started.
 *
 * @throws DomainError `not_found`; `step_up_required`; `conflict` for the account's last means of sign-in
 */
export async function removeIdentity(
  deps: Deps,
  actor: Actor,
  identityId: string,
  applyGroups: ApplyGroups,
): Promise<void> {
  await deps.store.write(async (tx) => {
    await requireActiveToken(tx, actor);
    const { userId } = actor;
    const all = await tx.identities(userId);
    const identity = all.find(({ id }) => id === identityId);
    if (identity === undefined) throw notFound('sign-in');
    await requireStepUp(deps, actor.sessionId, tx);
    if (!(await hasOtherMeans(deps, tx, userId, identity.id))) {
      throw new DomainError('conflict', 'This is your only means of sign-in. First set up another one.');
    }
    for (const session of await tx.sessionsOfIdentity(identity.id)) {
      if (session.id !== actor.sessionId) await deleteSession(deps, tx, actor, session, 'identity_removed');
    }
    for (const id of providersOfLast(deps, all, identity)) {
      await applyGroups(deps, tx, userId, { id, rules: [] }, new Set());
    }
    const target = { id: identity.id, name: null };
    const details = { provider: identity.providerId };
    await record(deps, tx, actor, { action: 'identity.unlink', target, details });
    await tx.deleteIdentity(identity.id);
  });
}

/** Returns the ids of the providers, configured or not, that can give the user no more groups once an identity is removed. */
function providersOfLast(
  { signInProviders }: Deps,
  all: readonly IdentityRecord[],
  { id, issuer, providerId }: IdentityRecord,
): ReadonlySet<string> {
  if (all.some((other) => other.id !== id && other.issuer === issuer)) return new Set();
  const ofIssuer = signInProviders.all.filter(({ settings }) => settings.issuer === issuer);
  return new Set([providerId, ...ofIssuer.map(({ settings }) => settings.id)]);
}
