import {
  passkey,
  passkeyAssertionInput,
  passkeyAttestationInput,
  passkeyList,
  passkeyName,
  passkeyOptions,
  recoveryCodeInput,
  recoveryCodes,
  registeredPasskey,
  type SessionState,
  sessionState,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import type { PasskeyRecord } from '../../db/passkey-records.ts';
import { jsonBody } from '../../http/bodies/json-body.ts';
import { readCookie, setCookie } from '../../http/cookies.ts';
import { example } from '../../http/examples.ts';
import type { Reply } from '../../http/reply.ts';
import { json, type Route, routeTagged } from '../../http/route.ts';
import { time, timeOrNull } from '../../http/wire-time.ts';
import type { Services } from '../../services.ts';
import { browserOf } from '../session-cookies.ts';
import { respondSignedIn, sessionStateExample } from '../session-state.ts';
import { challengeLifetimeMs, createChallenge } from './challenges.ts';
import { assertionOptions, registerPasskey, registrationOptions, removePasskey, renamePasskey } from './passkeys.ts';
import { createRecoveryCodes } from './recovery-codes.ts';
import { recordingRefusals } from './refuse-passkey.ts';
import { relyingPartyOf } from './relying-party.ts';
import { signInOptions, signInWithPasskey, signInWithRecoveryCode } from './second-factor.ts';

/*
 * Passkeys and recovery codes. The routes use the session cookie, so that a program's token can't add a way to sign in.
 */

const route = routeTagged('Browser session');

const passkeyExample = {
  id: 'psk_01hzy3v5e8fqr8b8t1m6x0c2da' as const,
  name: 'Laptop',
  createdAt: example.time,
  lastUsedAt: example.time,
  isCurrent: true,
};
const credentialExample = 'q0mLr2V7Yw8k3dJ5xN1uTg';
const optionsExample = {
  challenge: 'rIpkzGDfBFDFHVAuUYsGZ0YTvXAHvvIkmEFsnfzFh0M',
  rpId: 'tenon.example.org',
  userVerification: 'required',
};
const clientDataExample = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';
const assertionExample = {
  id: credentialExample,
  rawId: credentialExample,
  type: 'public-key' as const,
  response: { clientDataJSON: clientDataExample, authenticatorData: 'SZYN5YgOjGh0', signature: 'MEUCIQDx' },
  clientExtensionResults: {},
};
const attestationExample = {
  ...assertionExample,
  response: { clientDataJSON: clientDataExample, attestationObject: 'o2NmbXRkbm9uZQ', transports: ['internal'] },
};
const codesExample = ['4g7k-x2m9-0ahq-w8tz'];
const sets = { 'set-cookie': 'a cookie that ties the sign-in to the browser' };

export const passkeyRoutes: readonly Route[] = [
  route('POST', '/session/passkey/options', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(Type.Object({}), {}),
    id: 'signInOptions',
    summary: 'Start a sign-in with a passkey',
    description:
      'Returns the options of `navigator.credentials.get()`: for any passkey, or after the password, for those of the account. The challenge works once, for 5 minutes, in this browser.',
    responses: { 200: json('the options', passkeyOptions, optionsExample, sets) },
    errors: ['rate_limited'],
    handle: async (services, { request }, reply) => {
      const { network } = browserOf(services, request);
      const secret = readCookie(services, request, 'signIn');
      const { options, signInSecret } = await signInOptions(services.deps, rpOf(services), network, secret);
      setCookie(services, reply, 'signIn', signInSecret, challengeLifetimeMs);
      return options;
    },
  }),
  route('POST', '/session/passkey', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(passkeyAssertionInput, { response: assertionExample }),
    id: 'signInWithPasskey',
    summary: 'Sign in with a passkey',
    description: 'Needs no e-mail address. After a password, it completes the sign-in.',
    responses: { 200: json('signed in', sessionState, sessionStateExample) },
    errors: ['invalid_passkey', 'account_suspended', 'rate_limited'],
    handle: async (services, { request, body }, reply) => {
      const secret = readCookie(services, request, 'signIn');
      const browser = browserOf(services, request);
      const started = await signInWithPasskey(services.deps, rpOf(services), body.response, browser, secret);
      return respondComplete(services, reply, started);
    },
  }),
  route('POST', '/session/recovery-code', {
    access: { kind: 'ownOrigin' },
    body: jsonBody(recoveryCodeInput, { code: codesExample[0] ?? '' }),
    id: 'signInWithRecoveryCode',
    summary: 'Complete a sign-in with a recovery code, after the password',
    responses: { 200: json('signed in', sessionState, sessionStateExample) },
    errors: ['invalid_credentials', 'not_signed_in', 'account_suspended', 'rate_limited'],
    handle: async (services, { request, body }, reply) => {
      const secret = readCookie(services, request, 'signIn');
      const browser = browserOf(services, request);
      return respondComplete(services, reply, await signInWithRecoveryCode(services.deps, body.code, browser, secret));
    },
  }),
  route('POST', '/session/confirm/options', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'confirmOptions',
    summary: 'Start confirming the session with a passkey',
    responses: { 200: json('the options of `navigator.credentials.get()`', passkeyOptions, optionsExample) },
    errors: ['conflict', 'rate_limited'],
    handle: async (services, { auth: { session } }) => {
      const { deps } = services;
      const passkeys = await deps.store.read.passkeysOf(session.userId);
      const challenge = await createChallenge(deps, { purpose: 'confirm', holder: session.id, userId: session.userId });
      return assertionOptions(rpOf(services), challenge, passkeys);
    },
  }),
  route('GET', '/session/passkeys', {
    access: { kind: 'session' },
    id: 'listPasskeys',
    summary: 'List your passkeys, and count your recovery codes',
    responses: { 200: json('the passkeys', passkeyList, { objects: [passkeyExample], recoveryCodes: 10 }) },
    handle: async ({ deps: { store } }, { auth: { session } }) => {
      const current = (await store.read.session(session.id))?.passkeyId ?? null;
      const passkeys = await store.read.passkeysOf(session.userId);
      return {
        objects: passkeys.map((one) => toPasskey(one, current)),
        recoveryCodes: await store.read.countRecoveryCodes(session.userId),
      };
    },
  }),
  route('POST', '/session/passkeys/options', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'registrationOptions',
    summary: 'Start adding a passkey',
    responses: { 200: json('the options of `navigator.credentials.create()`', passkeyOptions, optionsExample) },
    errors: ['step_up_required', 'limit_exceeded', 'rate_limited'],
    handle: (services, { auth }) => registrationOptions(services.deps, rpOf(services), auth.session),
  }),
  route('POST', '/session/passkeys', {
    access: { kind: 'session' },
    body: jsonBody(passkeyAttestationInput, { name: 'Laptop', response: attestationExample }),
    id: 'registerPasskey',
    summary: 'Add a passkey',
    description: "With the account's first passkey, the server creates recovery codes and returns them once.",
    responses: {
      201: json('the passkey', registeredPasskey, { passkey: passkeyExample, recoveryCodes: codesExample }),
    },
    errors: ['invalid_passkey', 'step_up_required', 'limit_exceeded', 'conflict'],
    handle: async (services, { request, auth: { session }, body }) => {
      const { address } = browserOf(services, request);
      const { deps } = services;
      const { passkey: made, recoveryCodes: codes } = await recordingRefusals(deps, address, () =>
        registerPasskey(deps, rpOf(services), session, body),
      );
      return { passkey: toPasskey(made, made.id), ...(codes !== undefined && { recoveryCodes: [...codes] }) };
    },
  }),
  route('PUT', '/session/passkeys/:passkeyId', {
    access: { kind: 'session' },
    body: jsonBody(passkeyName, { name: 'Laptop' }),
    id: 'renamePasskey',
    summary: 'Rename a passkey',
    responses: { 200: json('the passkey', passkey, passkeyExample) },
    errors: ['not_found', 'step_up_required'],
    handle: async ({ deps }, { auth: { session }, params, body }) =>
      toPasskey(await renamePasskey(deps, session, params.passkeyId, body.name), session.passkeyId),
  }),
  route('DELETE', '/session/passkeys/:passkeyId', {
    access: { kind: 'session' },
    id: 'removePasskey',
    summary: 'Remove a passkey',
    description: 'Ends the other sessions that used it. With the last passkey, the recovery codes are deleted.',
    responses: { 204: { description: 'removed' } },
    errors: ['not_found', 'conflict', 'step_up_required'],
    handle: ({ deps }, { auth: { session }, params }) => removePasskey(deps, session, params.passkeyId),
  }),
  route('POST', '/session/recovery-codes', {
    access: { kind: 'session' },
    body: jsonBody(Type.Object({}), {}),
    id: 'createRecoveryCodes',
    summary: 'Create recovery codes; the earlier ones stop working',
    responses: { 201: json('the codes, shown once', recoveryCodes, { codes: codesExample }) },
    errors: ['conflict', 'step_up_required'],
    handle: async ({ deps }, { auth }) => ({ codes: [...(await createRecoveryCodes(deps, auth.session))] }),
  }),
];

function rpOf({ addresses }: Services) {
  return relyingPartyOf(addresses.base());
}

function toPasskey({ id, name, createdAtMs, lastUsedAtMs }: PasskeyRecord, currentId: string | null) {
  return { id, name, createdAt: time(createdAtMs), lastUsedAt: timeOrNull(lastUsedAtMs), isCurrent: id === currentId };
}

function respondComplete(
  services: Services,
  reply: Reply,
  started: Parameters<typeof respondSignedIn>[2],
): Promise<SessionState> {
  setCookie(services, reply, 'signIn', '', 0);
  return respondSignedIn(services, reply, started);
}
