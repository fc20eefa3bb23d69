import { providerReturn } from '@tenon/protocol';
import { completeSignIn } from '../auth/oidc/complete-sign-in.ts';
import { removeIdentity } from '../auth/oidc/identities.ts';
import { callbackUrl } from '../auth/oidc/provider-routes.ts';
import { findProvider } from '../auth/oidc/start-sign-in.ts';
import { browserOf, setSessionCookies } from '../auth/session-cookies.ts';
import { networkOf } from '../http/client-address.ts';
import { readCookie } from '../http/cookies.ts';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import { type Route, routeTagged } from '../http/route.ts';
import { applyGroupRules } from './group-roles.ts';

/* The ends of a sign-in at a provider and of a linked account, which change roles in applications. */

const route = routeTagged('Browser session');
const accountRoute = routeTagged('Account');

export const providerCallbackRoutes: readonly Route[] = [
  /** Another site sends the browser here. The state and the cookie prove that this browser started the sign-in. */
  route('GET', '/session/oidc/:providerId/callback', {
    access: { kind: 'public' },
    page: true,
    id: 'completeProviderSignIn',
    summary: "The provider's response: completes a sign-in, and returns to the console",
    description:
      'The redirect URI to register at the provider. The response always redirects to `/sign-in`, after a refusal with the parameter `refused`.',
    responses: {
      303: {
        description: 'back to the console',
        headers: { location: 'the sign-in page', 'set-cookie': 'the session cookie, if the user signed in' },
      },
    },
    errors: ['not_found', 'rate_limited', 'unavailable'],
    handle: async (services, { request, params }, reply) => {
      const provider = findProvider(services.deps, params.providerId);
      const { id } = provider.settings;
      const browser = browserOf(services, request);
      const seconds = services.deps.rates.providerSignIns.take(`callback ${networkOf(browser.address)}`);
      if (seconds > 0) throw new TooManyAttemptsError('Too many sign-ins were completed.', seconds);
      const query = request.target.includes('?') ? request.target.slice(request.target.indexOf('?')) : '';
      const returning = {
        ...browser,
        providerSecret: readCookie(services, request, 'provider'),
        responseUrl: new URL(`${callbackUrl(services, id)}${query}`),
      };
      const outcome = await completeSignIn(services.deps, provider, returning, applyGroupRules);
      const { purpose = 'sign_in', started, refusal } = outcome;
      if (started !== undefined) setSessionCookies(services, reply, started);
      if (refusal !== undefined) {
        const { fault, message } = refusal;
        services.log.info({ provider: id, purpose, fault, detail: message }, 'provider sign-in refused');
      }
      const returned = { [providerReturn.purpose]: purpose, [providerReturn.provider]: id };
      const parameters = new URLSearchParams({
        ...returned,
        ...(refusal === undefined ? {} : { [providerReturn.refused]: refusal.fault }),
      });
      reply.header('referrer-policy', 'no-referrer');
      return reply.code(303).header('location', `${services.addresses.base()}/sign-in?${parameters}`).send();
    },
  }),
  accountRoute('DELETE', '/api/v1/me/identities/:identityId', {
    access: { kind: 'user', scope: 'manage', userLevel: true },
    id: 'removeIdentity',
    summary: 'Remove a linked account at a provider',
    description:
      "Ends the sessions that it started, except the request's own, and takes back the roles that its groups gave. 409 for your only means of sign-in.",
    responses: { 204: { description: 'removed' } },
    errors: ['not_found', 'step_up_required', 'conflict'],
    handle: ({ deps }, { auth, params }) => removeIdentity(deps, auth.actor, params.identityId, applyGroupRules),
  }),
];
