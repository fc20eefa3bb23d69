import { createHmac } from 'node:crypto';
import type { SessionId } from '@tenon/protocol';
import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client';
import type { ProviderSignInPurpose } from '../../db/identity-records.ts';
import type { Deps } from '../../deps.ts';
import { DomainError, notFound, TooManyAttemptsError } from '../../http/domain-errors.ts';
import { hashSecret, isCode, makeCode } from '../secrets.ts';
import { findPermit, hashesOf } from '../sign-up.ts';
import { ProviderUnavailableError, type SignInProvider } from './providers.ts';

/** How long a user may take at a provider. */
export const signInLifetimeMs = 15 * 60 * 1000;

/** The maximum number of sign-ins of all browsers that wait for a provider. The rate limit by network keeps one client far below it. */
const maxSignIns = 100_000;

export interface SignInStart {
  readonly purpose: ProviderSignInPurpose;
  /** The session that links or confirms. */
  readonly sessionId?: SessionId;
  /** The codes with which the user may create an account. */
  readonly invitationCode?: string | undefined;
  readonly linkCode?: string | undefined;
}

/** The browser that is sent to a provider. */
export interface SendingBrowser {
  readonly network: string;
  /** The secret of an earlier sign-in at a provider, from its cookie. Several tabs may sign in at once. */
  readonly providerSecret: string | undefined;
  /** The redirect URI that is registered at the provider. */
  readonly redirectUri: string;
}

/** Returns a configured provider. @throws DomainError `not_found` */
export function findProvider({ signInProviders }: Pick<Deps, 'signInProviders'>, id: string): SignInProvider {
  const provider = signInProviders.find(id);
  if (provider === undefined) throw notFound('sign-in provider');
  return provider;
}

/**
 * Stores a sign-in, and returns the URL at the provider. The nonce and the PKCE verifier are derived from the state and the browser's
 * cookie, so that neither the store nor the URL is enough to complete the sign-in.
 *
 * @returns `providerSecret`: for the cookie of the browser
 * @throws DomainError `rate_limited`; `unavailable` if the provider is down; the errors of an invalid invitation or link
 */
export async function startSignIn(
  deps: Deps,
  provider: SignInProvider,
  start: SignInStart,
  { network, providerSecret: known, redirectUri }: SendingBrowser,
): Promise<{ readonly redirectTo: string; readonly providerSecret: string }> {
  const seconds = deps.rates.providerSignIns.take(network);
  if (seconds > 0) throw new TooManyAttemptsError('Too many sign-ins were started.', seconds);
  const hashes = hashesOf(start);
  if (hashes.invitationHash !== undefined || hashes.linkHash !== undefined) {
    await findPermit(deps, deps.store.read, hashes);
  }
  const { client } = await discoverOrFail(provider);
  const providerSecret = known !== undefined && isCode(known) ? known : makeCode(deps.random);
  const state = makeCode(deps.random);
  const nowMs = deps.clock();
  if (await deps.store.read.hasManyProviderSignIns(maxSignIns, nowMs)) {
    throw new TooManyAttemptsError('Too many sign-ins are in progress.', signInLifetimeMs / 1000);
  }
  await deps.store.write((tx) =>
    tx.insertProviderSignIn({
      stateHash: hashSecret(state),
      browserHash: hashSecret(providerSecret),
      providerId: provider.settings.id,
      purpose: start.purpose,
      sessionId: start.sessionId ?? null,
      invitationHash: hashes.invitationHash ?? null,
      linkHash: hashes.linkHash ?? null,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + signInLifetimeMs,
      usedAtMs: null,
    }),
  );
  const { scopes, prompt } = provider.settings;
  const parameters: Record<string, string> = {
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    nonce: secretOf('nonce', providerSecret, state),
    code_challenge: await calculatePKCECodeChallenge(secretOf('verifier', providerSecret, state)),
    code_challenge_method: 'S256',
  };
  if (start.purpose === 'confirm') Object.assign(parameters, { prompt: 'login', max_age: '0' });
  else if (prompt !== undefined) parameters.prompt = prompt;
  return { redirectTo: buildAuthorizationUrl(client, parameters).href, providerSecret };
}

/** Derives a secret of one sign-in from the browser's cookie. */
export function secretOf(kind: 'nonce' | 'verifier', providerSecret: string, state: string): string {
  return createHmac('sha256', providerSecret).update(`${kind} ${state}`).digest('base64url');
}

async function discoverOrFail(provider: SignInProvider) {
  try {
    return await provider.discover();
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) throw error;
    const message = `${provider.settings.label} can't be reached. Try again later, or sign in another way.`;
    throw new DomainError('unavailable', message, { cause: error });
  }
}
