import { type JWTPayload, jwtVerify } from 'jose';
import { buildEndSessionUrl } from 'openid-client';
import type { SessionRecord } from '../../db/records.ts';
import type { Deps } from '../../deps.ts';
import { hashSecret } from '../secrets.ts';
import { deleteSession, endSession } from '../sessions.ts';
import { clockToleranceSeconds, maxTokenLength, signatureAlgorithms } from './id-token.ts';
import { ProviderUnavailableError, type SignInProvider } from './providers.ts';
import { refusalOf, SignInRefusal } from './refusal.ts';

/**
 * Ends a session. If a provider started it and supports logouts, returns the URL that ends the provider's session too.
 * https://openid.net/specs/openid-connect-rpinitiated-1_0.html
 *
 * @param returnTo the URL to which the provider sends the browser. It must be registered there.
 */
export async function signOutAtProvider(
  deps: Deps,
  session: SessionRecord,
  returnTo: string,
): Promise<string | undefined> {
  const redirectTo = await endSessionUrl(deps, session, returnTo);
  await endSession(deps, session);
  return redirectTo;
}

async function endSessionUrl(deps: Deps, { id, userId }: SessionRecord, returnTo: string): Promise<string | undefined> {
  const { read } = deps.store;
  const started = await read.sessionIdentity(id);
  if (started === undefined) return undefined;
  const identity = (await read.identities(userId)).find((one) => one.id === started.identityId);
  const provider = identity === undefined ? undefined : deps.signInProviders.find(identity.providerId);
  if (provider === undefined) return undefined;
  try {
    const { client, metadata } = await provider.discover();
    if (metadata.end_session_endpoint === undefined) return undefined;
    const hint = started.idToken === null ? {} : { id_token_hint: started.idToken };
    return buildEndSessionUrl(client, { ...hint, post_logout_redirect_uri: returnTo }).href;
  } catch (error) {
    if (error instanceof ProviderUnavailableError) return undefined;
    throw error;
  }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** The maximum age of a logout token, and how long its `jti` is remembered. */
const tokenLifetimeSeconds = 300;

/**
 * Ends the sessions that a logout token names. https://openid.net/specs/openid-connect-backchannel-1_0.html
 *
 * @returns the number of ended sessions
 * @throws SignInRefusal for a token that is not valid, or was used before
 */
export async function endSessionsByLogoutToken(deps: Deps, provider: SignInProvider, token: string): Promise<number> {
  const claims = await verifyLogoutToken(deps, provider, token);
  const { iss = '', jti = '', sub, sid } = claims;
  const tokenHash = hashSecret(`${iss} ${jti}`);
  return deps.store.write(async (tx) => {
    if (await tx.isUsedLogoutToken(tokenHash)) {
      throw new SignInRefusal('rejected', 'replayed', 'The logout token was used before.');
    }
    const expiresAtMs = deps.clock() + 2 * (tokenLifetimeSeconds + clockToleranceSeconds) * 1000;
    await tx.insertLogoutToken({ tokenHash, expiresAtMs });
    const identity = sub === undefined ? undefined : await tx.identityBySubject(iss, sub);
    if (sub !== undefined && identity === undefined) return 0;
    const named =
      typeof sid === 'string'
        ? await tx.sessionsBySid(iss, sid)
        : identity === undefined
          ? []
          : await tx.sessionsOfIdentity(identity.id);
    const sessions = identity === undefined ? named : named.filter(({ userId }) => userId === identity.userId);
    for (const session of sessions) await deleteSession(deps, tx, 'system', session, 'provider_logout');
    return sessions.length;
  });
}

async function verifyLogoutToken(
  deps: Deps,
  { settings, discover }: SignInProvider,
  token: string,
): Promise<JWTPayload> {
  try {
    if (token.length > maxTokenLength) throw new SignInRefusal('rejected', 'malformed', 'The token is too long.');
    const { keys, metadata } = await discover();
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: metadata.issuer,
      audience: settings.clientId,
      algorithms: signatureAlgorithms,
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(deps.clock()),
      maxTokenAge: tokenLifetimeSeconds,
      requiredClaims: ['iat', 'jti', 'events'],
    });
    const { typ } = protectedHeader;
    const { events, nonce, jti, sub, sid } = payload as JWTPayload & { events?: unknown };
    const event =
      typeof events === 'object' && events !== null ? Object.entries(events).find(isLogout)?.[1] : undefined;
    const isLogoutToken =
      (typ === undefined || /^(?:application\/)?(?:logout\+)?jwt$/i.test(typ)) &&
      typeof event === 'object' &&
      event !== null &&
      nonce === undefined;
    const namesSession = typeof sid === 'string' || (typeof sub === 'string' && sid === undefined);
    if (isLogoutToken && typeof jti === 'string' && namesSession) return payload;
  } catch (error) {
    throw refusalOf(error);
  }
  throw new SignInRefusal('rejected', 'claims', 'The token is not a logout token.');
}

function isLogout([name]: readonly [string, unknown]): boolean {
  return name === logoutEvent;
}
