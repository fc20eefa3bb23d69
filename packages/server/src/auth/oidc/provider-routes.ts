import { identity as identityWire, listOf, providerRedirect, providerSignInInput, signedOut } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { formFields } from '../../http/bodies/form-fields.ts';
import { jsonBody } from '../../http/bodies/json-body.ts';
import { readCookie, setCookie } from '../../http/cookies.ts';
import { example } from '../../http/examples.ts';
import type { Reply } from '../../http/reply.ts';
import type { Request } from '../../http/request.ts';
import { json, type Route, routeTagged } from '../../http/route.ts';
import type { Services } from '../../services.ts';
import { withAttemptLimits } from '../attempts.ts';
import { withCodeTries } from '../code-attempts.ts';
import { requireStepUp } from '../confirmation.ts';
import { OauthError, requireParameter } from '../oauth/errors.ts';
import { oauthErrorFormat } from '../oauth/oauth-error.ts';
import { recordRefusal } from '../refusals.ts';
import { browserOf, removeSessionCookie } from '../session-cookies.ts';
import { listIdentities } from './identities.ts';
import { toIdentity } from './identity-wire.ts';
import { endSessionsByLogoutToken, signOutAtProvider } from './logout.ts';
import { SignInRefusal } from './refusal.ts';
import { findProvider, type SignInStart, signInLifetimeMs, startSignIn } from './start-sign-in.ts';

/* Sign-in with providers: how a browser gets to the provider, and how sessions end. `apps/provider-callback-routes.ts` completes a sign-in. */

const route = routeTagged('Browser session');
const accountRoute = routeTagged('Account');
const authorizationUrl = 'https://id.example.com/authorize?client_id=tenon&response_type=code&state=af0ifjsldkj';
const setsCookie = { 'set-cookie': 'a cookie that binds the sign-in to the browser' };
const redirect = json(
  'the URL to open at the provider',
  providerRedirect,
  { redirectTo: authorizationUrl },
  setsCookie,
);

const logoutBody = formFields(
  Type.Object({ logout_token: Type.Optional(Type.String({ description: 'a JWT that the provider signed' })) }),
  { logout_token: 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUuY29tIn0.c2ln' },
);

export const providerRoutes: readonly Route[] = [
  route('POST', '/session/oidc/:providerId', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(providerSignInInput, {}),
    id: 'startProviderSignIn',
    summary: 'Start a sign-in with a provider (OpenID Connect)',
    description:
      'The sign-in must be completed within 15 minutes in the same browser. With the code of an invitation or of a set-up link, a user without an account gets one.',
    responses: { 200: redirect },
    errors: [
      'not_found',
      'sign_up_closed',
      'invitation_used',
      'invitation_expired',
      'invitation_revoked',
      'link_used',
      'link_expired',
      'rate_limited',
      'unavailable',
    ],
    handle: (services, { request, params, body }, reply) =>
      withCodeTries(services, request, () =>
        sendToProvider(services, request, reply, params.providerId, { purpose: 'sign_in', ...body }),
      ),
  }),
  route('POST', '/session/oidc/:providerId/link', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'startProviderLink',
    summary: 'Start to link an account at a provider to your account',
    responses: { 200: redirect },
    errors: ['step_up_required', 'not_found', 'rate_limited', 'unavailable'],
    handle: async (services, { request, auth, params }, reply) => {
      findProvider(services.deps, params.providerId);
      await requireStepUp(services.deps, auth.session.id);
      const start = { purpose: 'link', sessionId: auth.session.id } as const;
      return sendToProvider(services, request, reply, params.providerId, start);
    },
  }),
  route('POST', '/session/oidc/:providerId/confirm', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'startProviderConfirmation',
    summary: 'Start to confirm the session by signing in at the provider again',
    description: 'Afterwards, sensitive actions do not fail with `step_up_required` for 5 minutes.',
    responses: { 200: redirect },
    errors: ['not_found', 'rate_limited', 'unavailable'],
    handle: (services, { request, auth, params }, reply) => {
      const start = { purpose: 'confirm', sessionId: auth.session.id } as const;
      return sendToProvider(services, request, reply, params.providerId, start);
    },
  }),
  route('POST', '/session/sign-out', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'signOutAtProvider',
    summary: 'Sign out, also at the provider that started the session',
    description:
      'Ends the session and its access tokens, as `DELETE /session` does. Then open the URL, if there is one.',
    responses: {
      200: json('signed out', signedOut, { redirectTo: null }, { 'set-cookie': 'removes the session cookie' }),
    },
    handle: async (services, { auth }, reply) => {
      const returnTo = `${services.addresses.base()}/sign-in`;
      const redirectTo = await signOutAtProvider(services.deps, auth.session, returnTo);
      removeSessionCookie(services, reply);
      return { redirectTo: redirectTo ?? null };
    },
  }),
  route('POST', '/session/oidc/:providerId/backchannel-logout', {
    access: { kind: 'public' },
    errorFormat: oauthErrorFormat,
    body: logoutBody,
    id: 'endSessionsByProvider',
    summary: 'End the sessions that a logout token of the provider names',
    description:
      'For providers: OpenID Connect Back-Channel Logout 1.0. Each token works once. Tokens that are not valid count against a limit of the address.',
    responses: { 200: { description: 'no such session is open' } },
    errors: ['not_found', 'rate_limited', 'unavailable', 'storage_full'],
    handle: async (services, { request, params, body }, reply) => {
      const provider = findProvider(services.deps, params.providerId);
      const token = requireParameter('logout_token', body.logout_token);
      const { network, address } = browserOf(services, request);
      const message = 'Too many logout tokens that are not valid were sent.';
      const limit = { limiter: services.codeTries, key: `logout ${network}`, message };
      try {
        await withAttemptLimits([limit], () => endSessionsByLogoutToken(services.deps, provider, token), {
          ofError: (error) => (error instanceof SignInRefusal ? 'wrong' : 'undecided'),
        });
      } catch (error) {
        if (!(error instanceof SignInRefusal)) throw error;
        const { reason } = error;
        const details = { provider: provider.settings.id };
        if (reason !== undefined) await recordRefusal(services.deps, { means: 'oidc', reason, address, details });
        throw new OauthError('invalid_request', 'The logout token is not valid.');
      }
      return reply.send();
    },
  }),
  accountRoute('GET', '/api/v1/me/identities', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    id: 'listIdentities',
    summary: 'List the accounts at sign-in providers that are linked to yours',
    responses: {
      200: json('all of them', listOf(identityWire), {
        objects: [
          {
            id: example.identityId,
            provider: { id: 'example', label: 'Example' },
            issuer: 'https://id.example.com',
            email: 'ada@example.org',
            createdAt: example.time,
            lastUsedAt: example.time,
          },
        ],
      }),
    },
    handle: async ({ deps }, { auth }) => {
      const identities = await listIdentities(deps, auth.actor);
      return { objects: identities.map((identity) => toIdentity(identity, deps.signInProviders)) };
    },
  }),
];

/** Returns the redirect URI of a provider, which must be registered there. */
export function callbackUrl({ addresses }: Pick<Services, 'addresses'>, providerId: string): string {
  return `${addresses.base()}/session/oidc/${providerId}/callback`;
}

async function sendToProvider(
  services: Services,
  request: Request,
  reply: Reply,
  providerId: string,
  start: SignInStart,
): Promise<{ readonly redirectTo: string }> {
  const provider = findProvider(services.deps, providerId);
  const browser = {
    network: browserOf(services, request).network,
    providerSecret: readCookie(services, request, 'provider'),
    redirectUri: callbackUrl(services, provider.settings.id),
  };
  const { redirectTo, providerSecret } = await startSignIn(services.deps, provider, start, browser);
  setCookie(services, reply, 'provider', providerSecret, signInLifetimeMs);
  return { redirectTo };
}
