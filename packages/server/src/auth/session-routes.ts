import {
  linkCode,
  oneTimeLinkInfo,
  passwordLinkRequest,
  passwordReset,
  sessionConfirmation,
  sessionState,
  sessionToken,
  signInInput,
  signUpInput,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { jsonBody } from '../http/bodies/json-body.ts';
import { readCookie } from '../http/cookies.ts';
import { accountExample, example } from '../http/examples.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { resetPassword } from './accounts.ts';
import { withCodeTries } from './code-attempts.ts';
import { confirmSession } from './confirmation.ts';
import { requestPasswordLink } from './mailed-links.ts';
import { describeLink } from './one-time-links.ts';
import { recordingRefusals } from './passkeys/refuse-passkey.ts';
import { relyingPartyOf } from './passkeys/relying-party.ts';
import { browserOf, removeSessionCookie } from './session-cookies.ts';
import { respondSignedIn, sessionStateExample, signedOutState, stateOf } from './session-state.ts';
import { endSession, findSession, issueSessionToken } from './sessions.ts';
import { signIn } from './sign-in.ts';
import { signUp } from './sign-up.ts';

/*
 * The routes that use the session cookie: sign-in, sign-up, and a short-lived access token, with which the console's pages call the API
 * like any other client. Routes below `/api` ignore cookies, and the routes here ignore tokens.
 */

const route = routeTagged('Browser session');
const codeExample = 'rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M';
const passwordExample = 'magnolia tugboat 17 linen';
const setsCookies = {
  'set-cookie': 'the session cookie, and the cookie that marks the browser as known to the account',
};
const linkErrors = ['not_found', 'link_used', 'link_expired', 'rate_limited'] as const;

export const sessionRoutes: readonly Route[] = [
  route('GET', '/session', {
    access: { kind: 'ownOrigin' },
    id: 'readSession',
    summary: "Read the browser's session, and who may sign up",
    responses: { 200: json('the state', sessionState, sessionStateExample) },
    handle: async (services, { request }) => {
      const session = await findSession(services.deps, readCookie(services, request, 'session'));
      if (session === undefined) return signedOutState(services);
      services.lastUsed.note(session.id, session.userId, request.message);
      return stateOf(services, session);
    },
  }),
  route('POST', '/session', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(signInInput, { email: accountExample.email, password: passwordExample }),
    id: 'signIn',
    summary: 'Sign in',
    description:
      "Starts a new session and ends the browser's previous one. The response is the same for an unknown address and a wrong password. For an account with a passkey, it starts no session: `secondFactor` is set, and `/session/passkey` or `/session/recovery-code` completes the sign-in.",
    responses: { 200: json('signed in', sessionState, sessionStateExample, setsCookies) },
    errors: ['password_sign_in_off', 'invalid_credentials', 'rate_limited', 'unavailable'],
    handle: async (services, { request, body }, reply) =>
      respondSignedIn(services, reply, await signIn(services.deps, body, browserOf(services, request))),
  }),
  route('POST', '/session/sign-up', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(signUpInput, {
      name: accountExample.name,
      email: accountExample.email,
      password: passwordExample,
      invitationCode: codeExample,
    }),
    id: 'signUp',
    summary: 'Create an account and sign in to it',
    description:
      "Unless sign-up is open, the request needs the code of an invitation or of the operator's set-up link. Each code creates one account. Signing up does not accept the invitation.",
    responses: { 201: json('created and signed in', sessionState, sessionStateExample, setsCookies) },
    errors: [
      'password_sign_in_off',
      'sign_up_closed',
      'email_taken',
      'invitation_used',
      'invitation_expired',
      'invitation_revoked',
      'weak_password',
      'unavailable',
      ...linkErrors,
    ],
    handle: async (services, { request, body }, reply) => {
      const browser = browserOf(services, request);
      const started = await withCodeTries(services, request, () => signUp(services.deps, body, browser));
      return respondSignedIn(services, reply, started);
    },
  }),
  route('POST', '/session/link', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(linkCode, { code: codeExample }),
    id: 'readLink',
    summary: "Describe an operator's link without using it",
    responses: {
      200: json('the purpose of the link', oneTimeLinkInfo, {
        purpose: 'reset_password',
        email: accountExample.email,
        expiresAt: example.time,
      }),
    },
    errors: linkErrors,
    handle: (services, { request, body }) =>
      withCodeTries(services, request, () => describeLink(services.deps, body.code)),
  }),
  route('POST', '/session/password-link', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(passwordLinkRequest, { email: accountExample.email }),
    id: 'requestPasswordLink',
    summary: 'Mail a link that resets a forgotten password',
    description:
      'The response is the same for an address without an account. 404 if the server sends no mail. An address gets at most 5 mails an hour.',
    responses: { 204: { description: 'if the address has an account, a mail is on its way' } },
    errors: ['password_sign_in_off', 'not_found', 'rate_limited'],
    handle: (services, { request, body }) =>
      requestPasswordLink(services.deps, body.email, browserOf(services, request).network),
  }),
  route('POST', '/session/reset-password', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(passwordReset, { code: codeExample, password: passwordExample }),
    id: 'resetPassword',
    summary: "Reset an account's password with a link, and sign in",
    description:
      "Ends the account's other sessions, its other links, and approved logins whose token was not fetched yet. Revokes access tokens and API keys unless `revokeTokens` is `false`. An account with a passkey needs it too, as after a password.",
    responses: { 200: json('reset and signed in', sessionState, sessionStateExample, setsCookies) },
    errors: ['password_sign_in_off', 'weak_password', 'unavailable', ...linkErrors],
    handle: async (services, { request, body }, reply) => {
      const browser = browserOf(services, request);
      const started = await withCodeTries(services, request, () => resetPassword(services.deps, body, browser));
      return respondSignedIn(services, reply, started);
    },
  }),
  route('DELETE', '/session', {
    access: { kind: 'session' },
    id: 'signOut',
    summary: 'Sign out: end the session and its access tokens',
    responses: { 204: { description: 'signed out', headers: { 'set-cookie': 'removes the session cookie' } } },
    handle: async (services, { auth }, reply) => {
      await endSession(services.deps, auth.session);
      removeSessionCookie(services, reply);
    },
  }),
  route('POST', '/session/token', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'createSessionToken',
    summary: "Create an access token for the session's pages, valid for an hour or until the session ends",
    description: 'The token has all scopes. `GET /api/v1/tokens` does not list it. Keep it in memory only.',
    responses: {
      201: json('the token', sessionToken, {
        accessToken: 'tnn_0000000000000000000000000000AbCdEf',
        scopes: ['read', 'publish', 'manage'],
        expiresAt: '2026-03-01T13:00:00.000Z',
      }),
    },
    handle: async ({ deps }, { auth }) => {
      const { record, secret } = await issueSessionToken(deps, auth.session);
      return { accessToken: secret, scopes: record.scopes, expiresAt: new Date(record.expiresAtMs).toISOString() };
    },
  }),
  route('POST', '/session/confirm', {
    access: { kind: 'session' },
    body: jsonBody(sessionConfirmation, { password: passwordExample }),
    id: 'confirmSession',
    summary: 'Confirm the session: for 5 minutes, sensitive actions do not fail with `step_up_required`',
    description: 'Send the response of a passkey, or for an account without one, the password.',
    responses: { 204: { description: 'confirmed' } },
    errors: ['invalid_credentials', 'invalid_passkey', 'conflict', 'unavailable'],
    handle: ({ addresses, clients, deps }, { request, auth, body }) =>
      recordingRefusals(deps, clients.of(request.message), () =>
        confirmSession(deps, relyingPartyOf(addresses.base()), auth.session, body),
      ),
  }),
];
