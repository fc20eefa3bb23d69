import { authorizationCodeGrant, fetchUserInfo } from 'openid-client';
import { record, sessionActor, sessionTarget } from '../../audit/record.ts';
import type { ProviderSignInPurpose, ProviderSignInRecord } from '../../db/identity-records.ts';
import type { SessionRecord } from '../../db/records.ts';
import { ConflictError } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError } from '../../http/domain-errors.ts';
import { hasPasskey } from '../passkeys/verify-assertion.ts';
import { recordRefusal } from '../refusals.ts';
import { hashSecret, isCode } from '../secrets.ts';
import { type Browser, findSession, type StartedSession, startSession } from '../sessions.ts';
import {
  clockToleranceSeconds,
  groupsOf,
  type IdTokenFacts,
  maxTokenLength,
  type VerifiedResponse,
  verifyIdToken,
} from './id-token.ts';
import { type ApplyGroups, findOrCreateUser, linkIdentity } from './identities.ts';
import type { DiscoveredProvider, SignInProvider } from './providers.ts';
import { refusalOf, refusalOfDomainError, SignInRefusal } from './refusal.ts';
import { secretOf } from './start-sign-in.ts';

/** The browser that a provider sent back, and the URL with the response. */
export interface ReturningBrowser extends Browser {
  readonly providerSecret: string | undefined;
  readonly responseUrl: URL;
}

/** The result of a sign-in at a provider. `purpose` is missing if the server does not know the response's state. */
export interface SignInOutcome {
  readonly purpose?: ProviderSignInPurpose | undefined;
  /** The new session, unless the user linked the identity or confirmed the session. */
  readonly started?: StartedSession | undefined;
  readonly refusal?: SignInRefusal;
}

interface Completion {
  readonly provider: SignInProvider;
  readonly browser: ReturningBrowser;
  readonly signIn: ProviderSignInRecord;
  readonly response: VerifiedResponse;
  readonly applyGroups: ApplyGroups;
}

/**
 * Completes a sign-in with the provider's response: signs the user in, links the identity to the account of the session, or confirms the
 * session. Records a refusal in the audit trail.
 */
export async function completeSignIn(
  deps: Deps,
  provider: SignInProvider,
  browser: ReturningBrowser,
  applyGroups: ApplyGroups,
): Promise<SignInOutcome> {
  let purpose: ProviderSignInPurpose | undefined;
  try {
    const signIn = await takeSignIn(deps, provider, browser);
    purpose = signIn.purpose;
    const response = await exchangeResponse(deps, provider, browser);
    return { purpose, started: await completeWith(deps, { provider, browser, signIn, response, applyGroups }) };
  } catch (error) {
    const refusal = toRefusal(error);
    const { reason, accountId } = refusal;
    if (reason !== undefined) {
      const details = { provider: provider.settings.id, issuer: provider.settings.issuer };
      await recordRefusal(deps, { means: 'oidc', reason, address: browser.address, accountId, details });
    }
    return { purpose, refusal };
  }
}

/** @throws errors that are no refusals, such as those of the store */
function toRefusal(error: unknown): SignInRefusal {
  if (error instanceof SignInRefusal) return error;
  if (error instanceof DomainError) return refusalOfDomainError(error);
  // Two responses for a new user arrived at once.
  if (error instanceof ConflictError) return new SignInRefusal('unavailable', undefined, error.message, error);
  throw error;
}

/**
 * Finds the sign-in that the response belongs to, and marks it as used.
 *
 * @throws SignInRefusal for an unknown, used, or expired state, and for the state of another browser or provider
 */
async function takeSignIn(
  deps: Deps,
  { settings }: SignInProvider,
  { responseUrl, providerSecret }: ReturningBrowser,
): Promise<ProviderSignInRecord> {
  const state = responseUrl.searchParams.getAll('state');
  const [first = ''] = state;
  if (state.length !== 1 || !isCode(first) || providerSecret === undefined) {
    throw new SignInRefusal('expired', 'state', 'The state or the cookie is missing.');
  }
  return deps.store.write(async (tx) => {
    const found = await tx.providerSignIn(hashSecret(first));
    const isOfBrowser = found?.browserHash === hashSecret(providerSecret) && found.providerId === settings.id;
    if (found === undefined || !isOfBrowser) throw new SignInRefusal('expired', 'state', 'The state is unknown.');
    if (found.usedAtMs !== null) throw new SignInRefusal('expired', 'replayed', 'The state was used before.');
    const nowMs = deps.clock();
    if (found.expiresAtMs <= nowMs) throw new SignInRefusal('expired', 'expired', 'The sign-in took too long.');
    await tx.useProviderSignIn(found.stateHash, nowMs);
    return found;
  });
}

/** Exchanges the code, and verifies the tokens. @throws SignInRefusal */
async function exchangeResponse(
  deps: Deps,
  provider: SignInProvider,
  { responseUrl, providerSecret = '' }: ReturningBrowser,
): Promise<VerifiedResponse> {
  const state = responseUrl.searchParams.get('state') ?? '';
  const { clientId } = provider.settings;
  try {
    const discovered = await provider.discover();
    const tokens = await authorizationCodeGrant(discovered.client, responseUrl, {
      expectedState: state,
      expectedNonce: secretOf('nonce', providerSecret, state),
      pkceCodeVerifier: secretOf('verifier', providerSecret, state),
      idTokenExpected: true,
    });
    const { id_token: idToken = '', access_token: accessToken } = tokens;
    const facts = await verifyIdToken(discovered, { idToken, clientId, nowMs: deps.clock() });
    return { ...facts, idToken, claims: await allClaims(provider, discovered, facts, accessToken) };
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Adds the claims of the userinfo endpoint if the ID token lacks some that the settings name. */
async function allClaims(
  { settings }: SignInProvider,
  { client, metadata }: DiscoveredProvider,
  { claims, subject }: IdTokenFacts,
  accessToken: string,
): Promise<IdTokenFacts['claims']> {
  const { emailClaim, nameClaim, groupClaim, rules } = settings;
  const needed = [emailClaim, nameClaim, ...(rules.length > 0 ? [groupClaim] : [])];
  if (metadata.userinfo_endpoint === undefined || needed.every((name) => name in claims)) return claims;
  return { ...(await fetchUserInfo(client, accessToken, subject)), ...claims } as IdTokenFacts['claims'];
}

async function completeWith(deps: Deps, completion: Completion): Promise<StartedSession | undefined> {
  const { provider, browser, signIn, response } = completion;
  if (signIn.purpose === 'sign_in') return startSessionOf(deps, completion);
  const session = await findSession(deps, browser.sessionSecret);
  if (session === undefined || session.id !== signIn.sessionId) {
    throw new SignInRefusal('not_signed_in', undefined, 'The session has ended.');
  }
  if (signIn.purpose === 'link') await linkIdentity(deps, session, provider.settings, response);
  else await confirmWith(deps, session, completion);
  return undefined;
}

async function startSessionOf(
  deps: Deps,
  { provider, browser, signIn, response, applyGroups }: Completion,
): Promise<StartedSession> {
  const { settings } = provider;
  const { authTimeMs, sid, idToken, claims } = response;
  return deps.store.write(async (tx) => {
    const { identity, isNewAccount } = await findOrCreateUser(deps, tx, { settings, browser, signIn, response });
    const { userId } = identity;
    await applyGroups(deps, tx, userId, settings, groupsOf(claims, settings.groupClaim));
    const started = await startSession(deps, tx, userId, browser, {
      means: isNewAccount ? 'sign_up' : 'oidc',
      provider: settings.id,
    });
    // The user may have signed in at the provider long ago: then sensitive changes need a confirmation.
    const mustUsePasskey = await hasPasskey(tx, userId);
    const confirmedAtMs = mustUsePasskey ? 0 : Math.min(authTimeMs ?? 0, deps.clock());
    const { id: sessionId } = started.session;
    await tx.confirmSession(sessionId, confirmedAtMs);
    const hint = idToken.length > maxTokenLength ? null : idToken;
    await tx.insertSessionIdentity({ sessionId, identityId: identity.id, sid, idToken: hint });
    return { ...started, session: { ...started.session, confirmedAtMs } };
  });
}

/** @throws SignInRefusal for another user, and if the provider did not authenticate the user again */
async function confirmWith(
  deps: Deps,
  session: SessionRecord,
  { provider, signIn, response }: Completion,
): Promise<void> {
  const { issuer, subject, authTimeMs } = response;
  const accountId = session.userId;
  await deps.store.write(async (tx) => {
    const identity = await tx.identityBySubject(issuer, subject);
    if (identity?.userId !== session.userId) {
      throw new SignInRefusal('other_identity', 'not_allowed', 'Another user signed in.', undefined, accountId);
    }
    if (await hasPasskey(tx, session.userId)) {
      throw new SignInRefusal('has_passkey', undefined, 'The account has a passkey.');
    }
    if (authTimeMs === null || authTimeMs < signIn.createdAtMs - clockToleranceSeconds * 1000) {
      throw new SignInRefusal('not_confirmed', 'claims', '"auth_time" is missing or too old.', undefined, accountId);
    }
    if ((await tx.session(session.id)) === undefined) {
      throw new SignInRefusal('not_signed_in', undefined, 'The session has ended.');
    }
    await tx.confirmSession(session.id, deps.clock());
    const target = sessionTarget(session);
    const details = { means: 'oidc', provider: provider.settings.id };
    await record(deps, tx, sessionActor(session), { action: 'session.confirm', target, details });
  });
}
