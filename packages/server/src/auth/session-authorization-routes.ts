import {
  type AuthorizationView,
  authorizationDecision,
  authorizationOutcome,
  authorizationView,
  authorizationViewInput,
  comparisonCode,
  deviceDecision,
  userCodeInput,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { sessionActor } from '../audit/record.ts';
import { jsonBody } from '../http/bodies/json-body.ts';
import { example } from '../http/examples.ts';
import { json, type Route, routeTagged } from '../http/route.ts';
import { withUserCodeTries } from './code-attempts.ts';
import { decideAuthorization } from './oauth/authorization-codes.ts';
import { parseAuthorizationRequest } from './oauth/authorization-request.ts';
import { type Client, findClient } from './oauth/clients.ts';
import { decideDeviceGrant, findOpenDeviceGrant } from './oauth/device-grants.ts';
import { loginTokenLifetimeDays } from './oauth/login-tokens.ts';

/*
 * The approval of command-line logins by a signed-in user in a browser. The page at the authorization endpoint sends its unchanged query
 * twice: when it opens, and with the user's decision. The server keeps no state in between.
 */

const route = routeTagged('Browser session');

const requestExample =
  'response_type=code&client_id=tenon-cli&redirect_uri=http%3A%2F%2F127.0.0.1%3A51004%2Fcallback&scope=read+publish&state=af0ifjsldkj&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&device_name=adas-laptop';

const viewExample = {
  client: { id: 'tenon-cli', name: 'Tenon command line' },
  deviceName: 'adas-laptop',
  address: '192.0.2.7',
  scopes: ['read' as const, 'publish' as const],
  userCode: 'WDJB-MJHT',
  tokenLifetimeDays: loginTokenLifetimeDays,
  requestedAt: example.time,
};

const outcomeExample = {
  redirectTo:
    'http://127.0.0.1:51004/callback?code=SplxlOBeZQQYbYS6WxSbIA2nF3fM0Vy9sd4jC1kYwEo&state=af0ifjsldkj&iss=http%3A%2F%2Flocalhost%3A8366',
};

const approvalStepUp = 'Approving requires step-up within the last 5 minutes (`POST /session/confirm`).';

const decisionErrors = ['step_up_required', 'conflict', 'rate_limited'] as const;

export const sessionAuthorizationRoutes: readonly Route[] = [
  route('POST', '/session/authorization/view', {
    access: { kind: 'session' },
    body: jsonBody(authorizationViewInput, { request: requestExample }),
    id: 'viewAuthorization',
    summary: "Describe a program's authorization request",
    responses: {
      200: json(
        'the request; or, for an invalid request, the URL to redirect to with the error',
        Type.Union([authorizationView, authorizationOutcome]),
        { flow: 'loopback', ...viewExample },
      ),
    },
    errors: ['invalid_request'],
    handle: ({ addresses, clients, deps }, { request, body }) => {
      const parsed = parseAuthorizationRequest(body.request, addresses.base());
      if ('redirectTo' in parsed) return { redirectTo: parsed.redirectTo };
      const { client, scopes, deviceName, codeChallenge } = parsed;
      return toView({
        flow: 'loopback',
        client,
        scopes: [...scopes],
        deviceName,
        address: clients.of(request.message), // a loopback redirect: the browser and the program are on the same machine
        userCode: comparisonCode(codeChallenge),
        requestedAt: new Date(deps.clock()).toISOString(),
      });
    },
  }),
  route('POST', '/session/authorization', {
    access: { kind: 'session' },
    body: jsonBody(authorizationDecision, { request: requestExample, decision: 'approve', userId: example.userId }),
    id: 'decideAuthorization',
    summary: "Approve or deny a program's authorization request",
    description: approvalStepUp,
    responses: { 200: json('the URL to redirect the browser to', authorizationOutcome, outcomeExample) },
    errors: ['invalid_request', ...decisionErrors],
    handle: async ({ addresses, deps }, { auth, body }) => {
      const parsed = parseAuthorizationRequest(body.request, addresses.base());
      if ('redirectTo' in parsed) return { redirectTo: parsed.redirectTo };
      return { redirectTo: await decideAuthorization(deps, sessionActor(auth.session), parsed, body) };
    },
  }),
  route('POST', '/session/device/view', {
    access: { kind: 'session' },
    body: jsonBody(userCodeInput, { userCode: 'WDJB-MJHT' }),
    id: 'viewDeviceLogin',
    summary: "Describe a device's login request by its user code",
    responses: { 200: json('the request', authorizationView, { flow: 'device', ...viewExample }) },
    errors: ['not_found', 'rate_limited'],
    handle: async (services, { request, auth, body }) => {
      const { deps } = services;
      const { grant, userCode } = await withUserCodeTries(services, request, auth.session.id, () =>
        findOpenDeviceGrant(deps, deps.store.read, body.userCode),
      );
      const { deviceName, address, createdAtMs } = grant;
      return toView({
        flow: 'device',
        client: findClient(grant.clientId) ?? { id: grant.clientId, name: grant.clientId },
        scopes: [...grant.scopes],
        deviceName,
        address,
        userCode,
        requestedAt: new Date(createdAtMs).toISOString(),
      });
    },
  }),
  route('POST', '/session/device', {
    access: { kind: 'session' },
    body: jsonBody(deviceDecision, { userCode: 'WDJB-MJHT', decision: 'approve', userId: example.userId }),
    id: 'decideDeviceLogin',
    summary: "Approve or deny a device's login request by its user code",
    description: `A decision is final. ${approvalStepUp}`,
    responses: { 204: { description: 'decided; the device learns the decision with its next poll' } },
    errors: ['not_found', ...decisionErrors],
    handle: async (services, { request, auth: { session }, body }) =>
      withUserCodeTries(services, request, session.id, () =>
        decideDeviceGrant(services.deps, sessionActor(session), body.userCode, body),
      ),
  }),
];

function toView(view: Omit<AuthorizationView, 'client' | 'tokenLifetimeDays'> & { client: Client }): AuthorizationView {
  const { id, name } = view.client;
  return { ...view, client: { id, name }, tokenLifetimeDays: loginTokenLifetimeDays };
}
