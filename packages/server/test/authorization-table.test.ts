import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type ContentAddress,
  cliClientId,
  newId,
  ociDigestOf,
  ociRepositoryOf,
  type Problem,
  type TokenScope,
} from '@tenon/protocol';
import type { Response } from 'light-my-request';
import { startSession } from '../src/auth/sessions.ts';
import { allRoutes } from '../src/routes.ts';
import { approve, approvedLogin, authorizationQuery, encode, exchangeOf, openBrowser } from './helpers/browser.ts';
import { type CallOptions, openService, type TestService, type TestUser } from './helpers/service.ts';
import { createAuthenticator } from './helpers/software-authenticator.ts';
import {
  formOf,
  freshModule,
  invite,
  makeApp,
  makeExtensionPoint,
  makeGuest,
  makeMember,
  makeWorld,
  ok,
  publishAs,
  testModule,
  tinyModule,
  type World,
  withdrawnBytes,
} from './helpers/world.ts';

/*
 * Who gets what, for every route. A cell is the status, and for a refusal the first letter of what its code tells apart:
 * 401m missing_credentials, 401i invalid_token, 401c invalid_credentials, 401o not_signed_in, 401k invalid_passkey, 403s insufficient_scope,
 * 403f forbidden, 403n not_a_guest, 403p step_up_required.
 */
const callers = [
  'no token',
  'malformed token',
  'expired token',
  'revoked token',
  'wrong kind of token',
  'token without the scope',
  'stranger',
  'guest',
  'other guest',
  'viewer',
  'admin',
  'owner',
] as const;
type Caller = (typeof callers)[number];

const refused = '401m 401i 401i 401i 401i';
const everybody = (status: number | string) => callers.map(() => status).join(' ');

/** How a route is called: a path, and what goes with it. What a success, or a try with a wrong secret, uses up is made afresh. */
interface Target extends Omit<CallOptions, 'token'> {
  readonly path: string;
}

interface Row {
  readonly cells: string;
  /** The scope that the token without it lacks; none when any token will do. */
  readonly scope?: TokenScope;
  readonly target: (world: World) => Target | Promise<Target>;
}

const api = '/api/v1';
const inApp = (rest: string) => (world: World) => ({ path: `${api}/apps/${world.appId}${rest}` });
const inExtensionPoint = (rest: string) => (world: World) => ({
  path: `${api}/extension-points/${world.extensionPointId}${rest}`,
});

function everyoneIn({ owner, admin, viewer, guest, otherGuest, stranger }: World): TestUser[] {
  return [owner, admin, viewer, guest, otherGuest, stranger];
}

/** An application like the world's own, to be deleted. */
async function appToLose({ service, owner, admin, viewer, guest, otherGuest }: World): Promise<string> {
  const appId = await makeApp(service, owner, { admin, viewer });
  await makeGuest(service, owner, appId, 'a', guest);
  await makeGuest(service, owner, appId, 'b', otherGuest);
  return appId;
}

async function guestToLose({ service, owner, appId, stranger }: World) {
  const user = await service.user('Gone');
  assert.notEqual(user.id, stranger.id);
  return { user, guestId: await makeGuest(service, owner, appId, `gone-${user.id}`, user) };
}

async function freshCode({ service, owner, appId }: World): Promise<string> {
  return invite(service, owner, await makeApp(service, owner), `fresh-${appId}`);
}

async function freshIdentity({ service, owner }: World): Promise<string> {
  const id = newId('identity');
  await service.store.write(async (tx) => {
    for (const one of await tx.identities(owner.id)) await tx.deleteIdentity(one.id);
    const times = { createdAtMs: 1, lastUsedAtMs: 1 };
    const account = { providerId: 'none', issuer: 'https://id.example', subject: id, email: null };
    await tx.insertIdentity({ id, userId: owner.id, ...account, ...times });
  });
  return id;
}

async function freshSession({ services: { deps } }: TestService, { id }: TestUser): Promise<string> {
  const browser = {
    userAgent: null,
    address: '::1',
    network: '::1',
    sessionSecret: undefined,
    browserSecret: undefined,
  };
  const { session } = await deps.store.write((tx) => startSession(deps, tx, id, browser, { means: 'password' }));
  return session.id;
}

function form(path: string, fields: Parameters<typeof encode>[0]): Target {
  return { path, body: encode(fields), headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}

function pageRows(...paths: readonly string[]): Record<string, Row> {
  return Object.fromEntries(paths.map((path) => [`GET ${path}`, { cells: everybody(200), target: () => ({ path }) }]));
}

/** A plugin of the guest's that is unchanged; its path. */
async function freshPlugin({ service, guest, extensionPointId }: World, at = extensionPointId): Promise<string> {
  const { id } = await publishAs(service, guest, at, `fresh-${newId('version')}`, freshModule());
  return `${api}/artifacts/${id}`;
}

/** A plugin of the guest's whose first version awaits approval; its path. */
async function awaitingPlugin(world: World): Promise<string> {
  const { service, owner, appId } = world;
  const at = await makeExtensionPoint(service, owner, appId);
  const json = { requiresApproval: true };
  await ok(service, 'PUT', `${api}/extension-points/${at}`, { token: owner.token, json });
  return freshPlugin(world, at);
}

/** A plugin of the guest's whose second version is in a roll-out; the path of the roll-out. */
async function freshRollOut(world: World): Promise<string> {
  const { service, guest, owner, appId } = world;
  const at = await makeExtensionPoint(service, owner, appId);
  const json = { rollOut: { steps: [{ percent: 1, holdSeconds: null }], halt: null } };
  await ok(service, 'PUT', `${api}/extension-points/${at}`, { token: owner.token, json });
  await publishAs(service, guest, at, 'staged', freshModule());
  const { id } = await publishAs(service, guest, at, 'staged', freshModule());
  return `${api}/artifacts/${id}/versions/2/roll-out`;
}

/** A plugin of the guest's whose first version waits for its minimum age; its path. */
async function coolingPlugin(world: World): Promise<string> {
  const { service, owner, appId } = world;
  const at = await makeExtensionPoint(service, owner, appId);
  const json = { minVersionAgeSeconds: 3600 };
  await ok(service, 'PUT', `${api}/extension-points/${at}`, { token: owner.token, json });
  return freshPlugin(world, at);
}

/** The path of the block of a publisher who has nothing published. */
async function publisherBlock(world: World): Promise<string> {
  const { user } = await guestToLose(world);
  return `${api}/apps/${world.appId}/publishers/${user.id}/block`;
}

const anSbom = { bomFormat: 'CycloneDX', specVersion: '1.6' };

const aSimulation = {
  testModuleBase64: testModule.toString('base64'),
  mockHostBase64: tinyModule(8).toString('base64'),
  mockInput: 'input',
};

/** A route of a fresh simulation. */
async function inSimulation({ service, owner, appId }: World, rest: string): Promise<Target> {
  const at = await makeExtensionPoint(service, owner, appId); // its versions are tested
  const path = `${api}/extension-points/${at}/simulations/table`;
  const { statusCode } = await service.call('PUT', path, { token: owner.token, json: aSimulation });
  assert.ok(statusCode < 300);
  return { path: `${path}${rest}` };
}

const aWebhook = { url: 'https://hooks.example.org/tenon' };

/** A route of a fresh webhook of the application. */
const inWebhook = (rest: string, json?: unknown) => async (world: World) => {
  const { service, owner, appId } = world;
  const path = `${api}/apps/${appId}/webhooks`;
  const { id } = await ok<{ id: string }>(service, 'POST', path, { token: owner.token, json: aWebhook });
  return { path: `${path}/${id}${rest}`, json };
};

const module = formOf([{ name: 'wasm', content: tinyModule(7) }]);

const rows: Readonly<Record<string, Row>> = {
  'GET /api/v1/me': { cells: `${refused} 200 200 200 200 200 200 200`, target: () => ({ path: `${api}/me` }) },
  'PUT /api/v1/me': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({ path: `${api}/me`, json: {} }),
  },
  // The server sends no mail.
  'POST /api/v1/me/verification': {
    cells: `${refused} 403s 404 404 404 404 404 404`,
    scope: 'manage',
    target: () => ({ path: `${api}/me/verification`, json: {} }),
  },
  'PUT /api/v1/me/email': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({ path: `${api}/me/email`, json: { email: `${newId('user')}@example.org` } }),
  },
  // These people have no password: `conflict`.
  'PUT /api/v1/me/password': {
    cells: `${refused} 403s 409 409 409 409 409 409`,
    scope: 'manage',
    target: () => ({
      path: `${api}/me/password`,
      json: { currentPassword: 'magnolia tugboat 17', newPassword: 'four candles and handles' },
    }),
  },
  // Their application has no other owner: `conflict`.
  'POST /api/v1/me/deletion': {
    cells: `${refused} 403s 409 409 409 409 409 409`,
    scope: 'manage',
    target: async (world) => {
      for (const user of everyoneIn(world)) await makeApp(world.service, user);
      return { path: `${api}/me/deletion`, json: {} };
    },
  },
  'GET /api/v1/sessions': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({ path: `${api}/sessions` }),
  },
  'DELETE /api/v1/sessions/:sessionId': {
    cells: `${refused} 403s 404 404 404 404 404 204`,
    scope: 'manage',
    target: async ({ service, owner }) => ({ path: `${api}/sessions/${await freshSession(service, owner)}` }),
  },
  // The body is not valid, so that the others' tokens stay.
  'POST /api/v1/credentials/revoke-all': {
    cells: `${refused} 403s 422 422 422 422 422 422`,
    scope: 'manage',
    target: () => ({ path: `${api}/credentials/revoke-all`, json: { includeCurrent: 'yes' } }),
  },
  ...Object.fromEntries(
    [
      ['GET', ''],
      ['GET', '/:subjectId'],
      ['PUT', '/:subjectId/:name'],
      ['DELETE', '/:subjectId/:name'],
    ].map(([method, rest = '']): [string, Row] => [
      `${method} /api/v1/quota-overrides${rest}`,
      {
        cells: `${refused} 403s 403f 403f 403f 403f 403f 403f`,
        scope: 'manage',
        target: ({ appId }) => ({
          path: `${api}/quota-overrides${rest.replace(':subjectId', appId).replace(':name', 'plugins')}`,
          ...(method === 'PUT' && { json: { limit: 1 } }),
        }),
      },
    ]),
  ),
  'GET /api/v1/logins': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({ path: `${api}/logins` }),
  },
  'DELETE /api/v1/logins/:loginId': {
    cells: `${refused} 403s 404 404 404 404 404 204`,
    scope: 'manage',
    target: async ({ service, owner }) => ({ path: `${api}/logins/${(await approvedLogin(service, owner)).id}` }),
  },
  'GET /api/v1/me/identities': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({ path: `${api}/me/identities` }),
  },
  'DELETE /api/v1/me/identities/:identityId': {
    cells: `${refused} 403s 404 404 404 404 404 409`, // the owner's only means of sign-in
    scope: 'manage',
    target: async (world) => ({ path: `${api}/me/identities/${await freshIdentity(world)}` }),
  },
  'GET /api/v1/apps': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'read',
    target: () => ({ path: `${api}/apps` }),
  },
  'POST /api/v1/apps': {
    cells: `${refused} 403s 201 201 201 201 201 201`,
    scope: 'manage',
    target: () => ({ path: `${api}/apps`, json: { name: 'Another' } }),
  },
  'GET /api/v1/apps/:appId': { cells: `${refused} 403s 404 200 200 200 200 200`, scope: 'read', target: inApp('') },
  'PUT /api/v1/apps/:appId': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('')(world), json: { name: 'Acme' } }),
  },
  'DELETE /api/v1/apps/:appId': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 204`,
    scope: 'manage',
    target: async (world) => ({ path: `${api}/apps/${await appToLose(world)}` }),
  },
  'GET /api/v1/me/quotas': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'read',
    target: () => ({ path: `${api}/me/quotas` }),
  },
  'GET /api/v1/apps/:appId/quotas': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/quotas'),
  },
  'GET /api/v1/apps/:appId/members': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/members'),
  },
  'POST /api/v1/apps/:appId/members': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/members')(world), json: { role: 'viewer' } }),
  },
  'GET /api/v1/apps/:appId/members/invitations': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/members/invitations'),
  },
  // The owner is the last one.
  'DELETE /api/v1/apps/:appId/membership': {
    cells: `${refused} 403s 404 403f 403f 204 204 409`,
    scope: 'manage',
    target: async (world) => ({ path: `${api}/apps/${await appToLose(world)}/membership` }),
  },
  'PUT /api/v1/apps/:appId/members/:userId': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp(`/members/${world.viewer.id}`)(world), json: { role: 'viewer' } }),
  },
  'DELETE /api/v1/apps/:appId/members/:userId': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 204`,
    scope: 'manage',
    target: async (world) => {
      const { service, owner, appId } = world;
      const user = await service.user();
      await makeMember(service, owner, appId, 'viewer', user);
      return { path: `${api}/apps/${appId}/members/${user.id}` };
    },
  },
  'GET /api/v1/apps/:appId/extension-points': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: inApp('/extension-points'),
  },
  'POST /api/v1/apps/:appId/extension-points': {
    cells: `${refused} 403s 404 403f 403f 403f 201 201`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/extension-points')(world), json: { name: 'More' } }),
  },
  'GET /api/v1/extension-points/:extensionPointId': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: inExtensionPoint(''),
  },
  'PUT /api/v1/extension-points/:extensionPointId': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inExtensionPoint('')(world), json: { name: 'Formulas' } }),
  },
  'POST /api/v1/extension-points/:extensionPointId/schema/trial': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inExtensionPoint('/schema/trial')(world), json: { schema: 'exports: [evaluate]' } }),
  },
  'GET /api/v1/extension-points/:extensionPointId/simulations': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: inExtensionPoint('/simulations'),
  },
  'POST /api/v1/extension-points/:extensionPointId/simulations/trial': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inExtensionPoint('/simulations/trial')(world), json: {} }),
  },
  'GET /api/v1/extension-points/:extensionPointId/simulations/:name': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: (world) => inSimulation(world, ''),
  },
  'PUT /api/v1/extension-points/:extensionPointId/simulations/:name': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ ...(await inSimulation(world, '')), json: aSimulation }),
  },
  'DELETE /api/v1/extension-points/:extensionPointId/simulations/:name': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: (world) => inSimulation(world, ''),
  },
  'GET /api/v1/extension-points/:extensionPointId/simulations/:name/test-module': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: (world) => inSimulation(world, '/test-module'),
  },
  'GET /api/v1/extension-points/:extensionPointId/simulations/:name/mock-host': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: (world) => inSimulation(world, '/mock-host'),
  },
  'GET /api/v1/extension-points/:extensionPointId/attestation': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inExtensionPoint('/attestation'),
  },
  'GET /api/v1/extension-points/:extensionPointId/schema/revisions': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inExtensionPoint('/schema/revisions'),
  },
  'DELETE /api/v1/extension-points/:extensionPointId': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async ({ service, owner, appId }) => ({
      path: `${api}/extension-points/${await makeExtensionPoint(service, owner, appId)}`,
    }),
  },
  'GET /api/v1/apps/:appId/overview': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/overview'),
  },
  'GET /api/v1/apps/:appId/plugins': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: inApp('/plugins'),
  },
  'GET /api/v1/apps/:appId/guests': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/guests'),
  },
  'POST /api/v1/apps/:appId/guests': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/guests')(world), json: { deliveryMethod: 'link', guestKey: 'k' } }),
  },
  'POST /api/v1/apps/:appId/guests/invite': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/guests/invite')(world), json: { deliveryMethod: 'link', guestKey: 'k' } }),
  },
  'GET /api/v1/apps/:appId/guests/:guestId': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => inApp(`/guests/${world.guestId}`)(world),
  },
  'PUT /api/v1/apps/:appId/guests/:guestId': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp(`/guests/${world.guestId}`)(world), json: { label: 'Globex' } }),
  },
  'DELETE /api/v1/apps/:appId/guests/:guestId': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => inApp(`/guests/${(await guestToLose(world)).guestId}`)(world),
  },
  'DELETE /api/v1/apps/:appId/guests/:guestId/users/:userId': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const { guestId, user } = await guestToLose(world);
      return inApp(`/guests/${guestId}/users/${user.id}`)(world);
    },
  },
  'GET /api/v1/apps/:appId/invitations': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/invitations'),
  },
  'POST /api/v1/apps/:appId/invitations': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/invitations')(world), json: { invitations: [{ guestKey: 'bulk' }] } }),
  },
  'POST /api/v1/apps/:appId/invitations/renew': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/invitations/renew')(world), json: { filter: { status: 'expired' } } }),
  },
  'POST /api/v1/apps/:appId/invitations/revoke': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/invitations/revoke')(world), json: { filter: { status: 'expired' } } }),
  },
  'POST /api/v1/apps/:appId/invitations/:invitationId/renew': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => {
      const { service, owner, appId } = world;
      await invite(service, owner, appId, 'to-be-renewed');
      const path = `${api}/apps/${appId}/invitations`;
      const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', path, { token: owner.token });
      return { path: `${path}/${objects.at(-1)?.id}/renew`, json: {} };
    },
  },
  'DELETE /api/v1/apps/:appId/invitations/:invitationId': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const { service, owner, appId } = world;
      await invite(service, owner, appId, 'to-be-revoked');
      const path = `${api}/apps/${appId}/invitations`;
      const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', path, { token: owner.token });
      return { path: `${path}/${objects.at(-1)?.id}` };
    },
  },
  'POST /api/v1/invitations/preview': {
    cells: everybody(200),
    target: async (world) => ({ path: `${api}/invitations/preview`, json: { code: await freshCode(world) } }),
  },
  'POST /api/v1/invitations/accept': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'publish',
    target: async (world) => ({ path: `${api}/invitations/accept`, json: { code: await freshCode(world) } }),
  },
  'POST /api/v1/invitations/decline': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'publish',
    target: async (world) => ({ path: `${api}/invitations/decline`, json: { code: await freshCode(world) } }),
  },
  'GET /api/v1/extension-points/:extensionPointId/bindings/*': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => inExtensionPoint(`/bindings/${world.guestKey}`)(world),
  },
  'GET /api/v1/extension-points/:extensionPointId/changes': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => ({ ...inExtensionPoint('/changes')(world), isEndless: true }),
  },
  'GET /api/v1/apps/:appId/changes': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => ({ ...inApp('/changes')(world), isEndless: true }),
  },
  'GET /api/v1/apps/:appId/updates': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: (world) => ({ ...inApp('/updates')(world), isEndless: true }),
  },
  'GET /api/v1/c/:contentAddress': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/c/${plugin.contentAddress}` }),
  },
  'PUT /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName': {
    cells: `${refused} 403s 404 200 403f 403n 403n 403n`,
    scope: 'publish',
    target: ({ plugin }) => ({
      path: `${api}/artifacts/${plugin.id}`,
      body: freshModule(),
      headers: { 'content-type': 'application/wasm' },
    }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}` }),
  },
  'DELETE /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName': {
    cells: `${refused} 403s 404 204 404 403f 204 204`,
    scope: 'manage',
    target: async (world) => ({ path: await freshPlugin(world) }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/bindings': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/bindings` }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions` }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1` }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/content': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/content` }),
  },
  'GET /v2/': { cells: `${refused} 200 200 200 200 200 200 200`, target: () => ({ path: '/v2/' }) },
  'GET /v2/*': { cells: `${refused} 404 404 404 404 404 404 404`, target: () => ({ path: '/v2/app/tags/list' }) },
  // It takes basic credentials.
  'GET /v2/token': { cells: everybody('401m'), target: () => ({ path: '/v2/token' }) },
  'GET /.well-known/wasm-pkg/registry.json': {
    cells: everybody(200),
    target: () => ({ path: '/.well-known/wasm-pkg/registry.json' }),
  },
  ...Object.fromEntries(
    ['manifests/:reference', 'blobs/:digest', 'tags/list', 'referrers/:digest'].map((rest): [string, Row] => [
      `GET /v2/:appId/:extensionPointId/:userId/:repository/${rest}`,
      {
        cells: `${refused} 403s 404 200 404 200 200 200`,
        scope: 'read',
        target: ({ appId, extensionPointId, guest, plugin }) => {
          const path = `/v2/${ociRepositoryOf(appId, extensionPointId, guest.id, 'median')}/${rest}`;
          const digest = ociDigestOf(plugin.contentAddress as ContentAddress);
          return { path: path.replace(':reference', '1').replace(':digest', digest) };
        },
      },
    ]),
  ),
  ...Object.fromEntries(
    (
      [
        ['POST', 202],
        ['GET', 204],
        ['PATCH', 202],
        ['PUT', 201],
        ['DELETE', 204],
      ] as const
    ).map(([method, status]): [string, Row] => [
      `${method} /v2/:appId/:extensionPointId/:userId/:repository/blobs/uploads/${method === 'POST' ? '' : ':uploadId'}`,
      {
        cells: `${refused} 403s 404 ${status} 403f 403n 403n 403n`,
        scope: 'publish',
        target: async ({ service, appId, extensionPointId, guest }) => {
          const path = `/v2/${ociRepositoryOf(appId, extensionPointId, guest.id, 'uploaded')}/blobs/uploads/`;
          if (method === 'POST') return { path };
          const { headers } = await service.call('POST', path, { token: guest.token });
          const upload = String(headers.location);
          if (method !== 'PUT') return { path: upload };
          const body = freshModule();
          return { path: `${upload}?digest=sha256:${hash('sha256', body, 'hex')}`, body };
        },
      },
    ]),
  ),
  'PUT /v2/:appId/:extensionPointId/:userId/:repository/manifests/:reference': {
    cells: `${refused} 403s 404 201 403f 403n 403n 403n`,
    scope: 'publish',
    target: async ({ service, appId, extensionPointId, guest }) => {
      const path = `/v2/${ociRepositoryOf(appId, extensionPointId, guest.id, 'median')}/manifests/1`;
      const { rawPayload: body } = await service.call('GET', path, { token: guest.token });
      return { path, body, headers: { 'content-type': 'application/vnd.oci.image.manifest.v1+json' } };
    },
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/comparison': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/comparison` }),
  },
  // No test has ended.
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/test-result': {
    cells: `${refused} 403s 404 404 404 404 404 404`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/test-result` }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/diff': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/diff` }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/simulation-runs': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/simulation-runs` }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/simulation-runs': {
    cells: `${refused} 403s 404 409 404 403f 409 409`,
    scope: 'manage',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/simulation-runs` }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/attestations': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/attestations` }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/attestations': {
    // Only its publisher attaches.
    cells: `${refused} 403s 404 201 404 403f 403f 403f`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshPlugin(world)}/versions/1/attestations`, json: anSbom }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/attestations': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({
      path: `${api}/artifacts/${plugin.id}/attestations?contentAddress=${plugin.contentAddress}`,
    }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/yank': {
    cells: `${refused} 403s 404 200 404 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshPlugin(world)}/versions/1/yank`, json: { reason: 'why' } }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/restore': {
    cells: `${refused} 403s 404 200 404 403f 200 200`,
    scope: 'manage',
    target: async (world) => {
      const { service, guest } = world;
      const version = `${await freshPlugin(world)}/versions/1`;
      await ok(service, 'POST', `${version}/yank`, { token: guest.token, json: { reason: 'why' } });
      return { path: `${version}/restore` };
    },
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/approve': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await awaitingPlugin(world)}/versions/1/approve` }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/reject': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await awaitingPlugin(world)}/versions/1/reject`, json: { reason: 'why' } }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/roll-out': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: async (world) => ({ path: await freshRollOut(world) }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/roll-out/pause': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshRollOut(world)}/pause` }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/roll-out/resume': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => {
      const path = await freshRollOut(world);
      await ok(world.service, 'POST', `${path}/pause`, { token: world.owner.token });
      return { path: `${path}/resume` };
    },
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/roll-out/promote': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshRollOut(world)}/promote` }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/roll-out/abort': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshRollOut(world)}/abort`, json: { reason: 'why' } }),
  },
  'GET /api/v1/apps/:appId/roll-outs': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/roll-outs'),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/rollback': {
    cells: `${refused} 403s 404 200 404 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshPlugin(world)}/rollback`, json: { version: 1 } }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/about': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: async (world) => ({ path: `${await freshPlugin(world)}/about` }),
  },
  'PUT /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/about': {
    // Only its publisher describes it; the team removes what it should not say.
    cells: `${refused} 403s 404 200 404 403f 403f 403f`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshPlugin(world)}/about`, json: { readme: 'Hello' } }),
  },
  'DELETE /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/about': {
    cells: `${refused} 403s 404 204 404 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const path = `${await freshPlugin(world)}/about`;
      await ok(world.service, 'PUT', path, { token: world.guest.token, json: { description: 'Rude' } });
      return { path };
    },
  },
  'PUT /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/block': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await freshPlugin(world)}/block`, json: { reason: 'why' } }),
  },
  'DELETE /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/block': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const { service, owner } = world;
      const path = `${await freshPlugin(world)}/block`;
      await ok(service, 'PUT', path, { token: owner.token, json: { reason: 'why' } });
      return { path };
    },
  },
  'PUT /api/v1/extension-points/:extensionPointId/guests/:guestId/pins/:pluginName': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({
      ...inExtensionPoint(`/guests/${world.guestId}/pins/median`)(world),
      json: { version: 1 },
    }),
  },
  'DELETE /api/v1/extension-points/:extensionPointId/guests/:guestId/pins/:pluginName': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const { path } = inExtensionPoint(`/guests/${world.guestId}/pins/median`)(world);
      await ok(world.service, 'PUT', path, { token: world.owner.token, json: { version: 1 } });
      return { path };
    },
  },
  'GET /api/v1/apps/:appId/guests/:guestId/bindings': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => inApp(`/guests/${world.guestId}/bindings`)(world),
  },
  'GET /api/v1/apps/:appId/usage': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/usage'),
  },
  'GET /api/v1/extension-points/:extensionPointId/usage': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inExtensionPoint('/usage'),
  },
  'GET /api/v1/apps/:appId/guests/:guestId/usage': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => inApp(`/guests/${world.guestId}/usage`)(world),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/usage': {
    cells: `${refused} 403s 404 200 404 200 200 200`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/usage` }),
  },
  'GET /api/v1/apps/:appId/usage/series': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: (world) => inApp(`/usage/series?ids=${world.guestId}`)(world),
  },
  'POST /api/v1/extension-points/:extensionPointId/otlp/v1/metrics': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: (world) => ({ ...inExtensionPoint('/otlp/v1/metrics')(world), json: { resourceMetrics: [] } }),
  },
  'GET /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/roll-out/reports': {
    // The version is in no roll-out.
    cells: `${refused} 403s 404 403f 403f 404 404 404`,
    scope: 'read',
    target: ({ plugin }) => ({ path: `${api}/artifacts/${plugin.id}/versions/1/roll-out/reports` }),
  },
  'GET /api/v1/extension-points/:extensionPointId/withdrawals': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inExtensionPoint('/withdrawals'),
  },
  'DELETE /api/v1/extension-points/:extensionPointId/withdrawals/:userId/:contentAddress': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const { contentAddress } = await withdrawnBytes(world);
      return inExtensionPoint(`/withdrawals/${world.guest.id}/${contentAddress}`)(world);
    },
  },
  'GET /api/v1/apps/:appId/audit': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'read',
    target: inApp('/audit'),
  },
  'GET /api/v1/me/audit': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({ path: `${api}/me/audit` }),
  },
  'POST /api/v1/artifacts/:extensionPointId/plugin/:userId/:pluginName/versions/:number/release': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: `${await coolingPlugin(world)}/versions/1/release`, json: { reason: 'why' } }),
  },
  'GET /api/v1/apps/:appId/blocked-publishers': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/blocked-publishers'),
  },
  'PUT /api/v1/apps/:appId/publishers/:userId/block': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: async (world) => ({ path: await publisherBlock(world), json: { reason: 'why' } }),
  },
  'DELETE /api/v1/apps/:appId/publishers/:userId/block': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const path = await publisherBlock(world);
      await ok(world.service, 'PUT', path, { token: world.owner.token, json: { reason: 'why' } });
      return { path };
    },
  },
  'GET /api/v1/apps/:appId/published-versions': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => inApp(`/published-versions?userId=${world.otherGuest.id}`)(world),
  },
  'POST /api/v1/apps/:appId/published-versions/yank': {
    cells: `${refused} 403s 404 403f 403f 403f 200 200`,
    scope: 'manage',
    target: (world) => ({
      ...inApp('/published-versions/yank')(world),
      json: { userId: world.viewer.id, reason: 'why' },
    }),
  },
  'GET /api/v1/me/published-versions': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'read',
    target: () => ({ path: `${api}/me/published-versions` }),
  },
  'POST /api/v1/me/published-versions/yank': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'manage',
    target: () => ({
      path: `${api}/me/published-versions/yank`,
      json: { credentialId: newId('token'), reason: 'why' },
    }),
  },
  'GET /api/v1/apps/:appId/approvals': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/approvals'),
  },
  'GET /api/v1/extension-points/:extensionPointId/plugins': {
    cells: `${refused} 403s 404 200 200 200 200 200`,
    scope: 'read',
    target: inExtensionPoint('/plugins'),
  },
  'GET /api/v1/tokens': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'read',
    target: () => ({ path: `${api}/tokens` }),
  },
  'POST /api/v1/tokens': {
    cells: `${refused} 403s 201 201 201 201 201 201`,
    scope: 'manage',
    target: () => ({ path: `${api}/tokens`, json: { name: 'CI' } }),
  },
  'DELETE /api/v1/tokens/:tokenId': {
    cells: `${refused} 403s 404 404 404 404 404 204`,
    scope: 'manage',
    target: async ({ service, owner }) => {
      const json = { name: 'to be revoked' };
      const { id } = await ok<{ id: string }>(service, 'POST', `${api}/tokens`, { token: owner.token, json });
      return { path: `${api}/tokens/${id}` };
    },
  },
  'GET /api/v1/api-keys': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'read',
    target: () => ({ path: `${api}/api-keys` }),
  },
  'POST /api/v1/api-keys': {
    cells: `${refused} 403s 201 201 201 201 201 201`,
    scope: 'manage',
    target: () => ({ path: `${api}/api-keys`, json: { name: 'build server' } }),
  },
  'DELETE /api/v1/api-keys/:apiKeyId': {
    cells: `${refused} 403s 404 404 404 404 404 204`,
    scope: 'manage',
    target: async ({ service, owner }) => {
      const json = { name: 'to be revoked' };
      const { id } = await ok<{ id: string }>(service, 'POST', `${api}/api-keys`, { token: owner.token, json });
      return { path: `${api}/api-keys/${id}` };
    },
  },
  'GET /api/v1/trust-rules': {
    cells: `${refused} 403s 200 200 200 200 200 200`,
    scope: 'read',
    target: () => ({ path: `${api}/trust-rules` }),
  },
  'POST /api/v1/trust-rules': {
    cells: `${refused} 403s 422 201 201 422 422 422`,
    scope: 'manage',
    target: (world) => ({ path: `${api}/trust-rules`, json: trustRuleOf(world) }),
  },
  'DELETE /api/v1/trust-rules/:trustRuleId': {
    cells: `${refused} 403s 404 204 404 404 404 404`,
    scope: 'manage',
    target: async (world) => {
      const options = { token: world.guest.token, json: trustRuleOf(world) };
      const { id } = await ok<{ id: string }>(world.service, 'POST', `${api}/trust-rules`, options);
      return { path: `${api}/trust-rules/${id}` };
    },
  },
  'GET /api/v1/apps/:appId/trust-rules': {
    cells: `${refused} 403s 404 403f 403f 200 200 200`,
    scope: 'read',
    target: inApp('/trust-rules'),
  },
  'GET /api/v1/apps/:appId/webhooks': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'manage',
    target: inApp('/webhooks'),
  },
  'POST /api/v1/apps/:appId/webhooks': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 201`,
    scope: 'manage',
    target: (world) => ({ ...inApp('/webhooks')(world), json: aWebhook }),
  },
  'GET /api/v1/apps/:appId/webhooks/:webhookId': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'manage',
    target: inWebhook(''),
  },
  'PUT /api/v1/apps/:appId/webhooks/:webhookId': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'manage',
    target: inWebhook('', { isEnabled: false }),
  },
  'DELETE /api/v1/apps/:appId/webhooks/:webhookId': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 204`,
    scope: 'manage',
    target: inWebhook(''),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/secrets': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 201`,
    scope: 'manage',
    target: inWebhook('/secrets', {}),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/test': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 202`,
    scope: 'manage',
    target: inWebhook('/test'),
  },
  'GET /api/v1/apps/:appId/webhooks/:webhookId/deliveries': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 200`,
    scope: 'manage',
    target: inWebhook('/deliveries'),
  },
  // There is no such delivery.
  'POST /api/v1/apps/:appId/webhooks/:webhookId/deliveries/:deliveryId/replay': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 404`,
    scope: 'manage',
    target: inWebhook(`/deliveries/${newId('webhookDelivery')}/replay`),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/replay': {
    cells: `${refused} 403s 404 403f 403f 403f 403f 202`,
    scope: 'manage',
    target: inWebhook('/replay', { since: '2026-03-01T12:00:00.000Z' }),
  },
  'DELETE /api/v1/apps/:appId/trust-rules/:trustRuleId': {
    cells: `${refused} 403s 404 403f 403f 403f 204 204`,
    scope: 'manage',
    target: async (world) => {
      const options = { token: world.guest.token, json: trustRuleOf(world) };
      const { id } = await ok<{ id: string }>(world.service, 'POST', `${api}/trust-rules`, options);
      return inApp(`/trust-rules/${id}`)(world);
    },
  },
  // Here people come with API keys, and the wrong kind is an access token; a scope is nothing that a key could lack.
  'POST /instrument': {
    cells: `${refused} 200 200 200 200 200 200 200`,
    target: () => ({ path: '/instrument', ...module }),
  },
  'GET /accept-invite': {
    cells: everybody(200),
    target: async (world) => ({ path: `/accept-invite?code=${await freshCode(world)}` }),
  },
  // The console's one document and its files, for everybody: what it shows comes from the routes above.
  ...pageRows(
    '/',
    '/sign-in',
    '/sign-up',
    '/set-up',
    '/reset-password',
    '/account',
    '/account/tokens',
    '/account/activity',
    '/status',
    '/oauth/authorize',
    '/device',
    '/trace',
    '/users',
    '/quotas',
    '/favicon.ico',
    '/apple-touch-icon.png',
    '/robots.txt',
  ),
  'GET /users/:userId': { cells: everybody(200), target: ({ viewer }) => ({ path: `/users/${viewer.id}` }) },
  ...pageRows('/verify-email', '/change-email', '/unsubscribe'),
  'POST /verify-email': { cells: everybody(404), target: () => form('/verify-email?code=x', {}) },
  'POST /change-email': { cells: everybody(404), target: () => form('/change-email?code=x', {}) },
  'POST /unsubscribe': { cells: everybody(404), target: () => form('/unsubscribe?code=x', {}) },
  'GET /apps/*': { cells: everybody(200), target: ({ appId }) => ({ path: `/apps/${appId}` }) },
  'GET /assets/*': { cells: everybody(404), target: () => ({ path: '/assets/none-of-that-name.js' }) },
  // What a cookie opens, and a token doesn't: `browser-session-table.test.ts` has the callers that count here.
  'GET /session': { cells: everybody(200), target: () => ({ path: '/session' }) },
  'POST /session': {
    cells: everybody('401c'),
    target: () => ({ path: '/session', json: { email: `${newId('user')}@nowhere.example`, password: 'x' } }),
  },
  'POST /session/sign-up': {
    cells: everybody(403),
    target: () => ({ path: '/session/sign-up', json: { name: 'x', email: 'x@nowhere.example', password: 'x' } }),
  },
  'POST /session/link': {
    cells: everybody(404),
    target: () => ({ path: '/session/link', json: { code: 'x' } }),
  },
  'POST /session/password-link': {
    cells: everybody(404),
    target: () => ({ path: '/session/password-link', json: { email: 'x' } }),
  },
  'POST /session/reset-password': {
    cells: everybody(404),
    target: () => ({ path: '/session/reset-password', json: { code: 'x', password: 'x' } }),
  },
  'POST /session/oidc/:providerId': {
    cells: everybody(404),
    target: () => ({ path: '/session/oidc/none', json: {} }),
  },
  'GET /session/oidc/:providerId/callback': {
    cells: everybody(404),
    target: () => ({ path: '/session/oidc/none/callback?code=x&state=x' }),
  },
  'POST /session/oidc/:providerId/backchannel-logout': {
    cells: everybody(404),
    target: () => form('/session/oidc/none/backchannel-logout', { logout_token: 'x' }),
  },
  'POST /session/oidc/:providerId/link': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/oidc/none/link', json: {} }),
  },
  'POST /session/oidc/:providerId/confirm': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/oidc/none/confirm', json: {} }),
  },
  'POST /session/sign-out': { cells: everybody('401o'), target: () => ({ path: '/session/sign-out', json: {} }) },
  'DELETE /session': { cells: everybody('401o'), target: () => ({ path: '/session' }) },
  'POST /session/token': { cells: everybody('401o'), target: () => ({ path: '/session/token', json: {} }) },
  'POST /session/confirm': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/confirm', json: { password: 'x' } }),
  },
  'POST /session/passkey/options': {
    cells: everybody(200),
    target: () => ({ path: '/session/passkey/options', json: {} }),
  },
  'POST /session/passkey': {
    cells: everybody('401k'),
    target: () => ({ path: '/session/passkey', json: { response: createAuthenticator().get({ challenge: 'x' }) } }),
  },
  'POST /session/recovery-code': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/recovery-code', json: { code: 'x' } }),
  },
  'POST /session/confirm/options': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/confirm/options', json: {} }),
  },
  'GET /session/passkeys': { cells: everybody('401o'), target: () => ({ path: '/session/passkeys' }) },
  'POST /session/passkeys/options': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/passkeys/options', json: {} }),
  },
  'POST /session/passkeys': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/passkeys', json: {} }),
  },
  'PUT /session/passkeys/:passkeyId': {
    cells: everybody('401o'),
    target: () => ({ path: `/session/passkeys/${newId('passkey')}`, json: { name: 'x' } }),
  },
  'DELETE /session/passkeys/:passkeyId': {
    cells: everybody('401o'),
    target: () => ({ path: `/session/passkeys/${newId('passkey')}` }),
  },
  'POST /session/recovery-codes': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/recovery-codes', json: {} }),
  },
  'POST /session/authorization/view': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/authorization/view', json: { request: authorizationQuery() } }),
  },
  'POST /session/authorization': {
    cells: everybody('401o'),
    target: () => ({
      path: '/session/authorization',
      json: { request: authorizationQuery(), decision: 'approve' },
    }),
  },
  'POST /session/device/view': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/device/view', json: { userCode: 'BCDF-GHJK' } }),
  },
  'POST /session/device': {
    cells: everybody('401o'),
    target: () => ({ path: '/session/device', json: { userCode: 'BCDF-GHJK', decision: 'approve' } }),
  },
  // Programs that log in have no token yet; one that they bring means nothing here.
  'GET /.well-known/oauth-authorization-server': {
    cells: everybody(200),
    target: () => ({ path: '/.well-known/oauth-authorization-server' }),
  },
  'POST /oauth/token': {
    cells: everybody(200),
    target: async ({ service }) => form('/oauth/token', exchangeOf(await approve(await openBrowser(service)))),
  },
  'POST /oauth/device_authorization': {
    cells: everybody(200),
    target: () => form('/oauth/device_authorization', { client_id: cliClientId }),
  },
  'POST /oauth/revoke': {
    cells: everybody(200),
    target: async ({ service, stranger }) => form('/oauth/revoke', { token: await service.token(stranger.id) }),
  },
  'GET /healthz': { cells: everybody(200), target: () => ({ path: '/healthz' }) },
  'GET /api/v1/status': {
    // Owners are no operators: that takes another right, which gives none of theirs.
    cells: `${refused} 403s 403f 403f 403f 403f 403f 403f`,
    scope: 'read',
    target: () => ({ path: `${api}/status` }),
  },
  ...Object.fromEntries(
    [
      ['GET', ''],
      ['GET', '/:userId'],
      ['DELETE', '/:userId'],
      ['PUT', '/:userId/suspension'],
      ['DELETE', '/:userId/suspension'],
      ['DELETE', '/:userId/passkeys'],
      ['PUT', '/:userId/operator'],
      ['DELETE', '/:userId/operator'],
      ['POST', '/:userId/password-link'],
      ['POST', '/:userId/credentials/revoke-all'],
    ].map(([method, rest = '']): [string, Row] => [
      `${method} /api/v1/users${rest}`,
      {
        // Neither owners nor the user themselves: only operators, which this application lacks.
        cells: `${refused} 403s 403f 403f 403f 403f 403f 403f`,
        scope: 'manage',
        target: ({ viewer }) => ({
          path: `${api}/users${rest.replace(':userId', viewer.id)}`,
          ...(method === 'POST' && { json: {} }),
        }),
      },
    ]),
  ),
  'GET /readyz': { cells: everybody(200), target: () => ({ path: '/readyz' }) },
  'GET /.well-known/tenon-signing-keys.json': {
    cells: everybody(200),
    target: () => ({ path: '/.well-known/tenon-signing-keys.json' }),
  },
  'GET /packages': { cells: everybody(200), target: () => ({ path: '/packages' }) },
  'GET /packages/:file': { cells: everybody(404), target: () => ({ path: '/packages/unknown.tgz' }) },
  'GET /openapi.json': { cells: everybody(200), target: () => ({ path: '/openapi.json' }) },
  'GET /docs': { cells: everybody(200), target: () => ({ path: '/docs' }) },
  'GET /docs/search.json': { cells: everybody(200), target: () => ({ path: '/docs/search.json' }) },
  'GET /docs/*': { cells: everybody(404), target: () => ({ path: '/docs/unknown' }) },
  'GET /reference/errors': { cells: everybody(200), target: () => ({ path: '/reference/errors' }) },
};

describe('authorization', () => {
  let service: TestService;
  let world: World;
  before(async () => {
    // Each cell may try an unknown code or password, all from one address.
    service = await openService({
      config: {
        codeTriesPerMinute: 1000,
        deviceLoginsPerMinute: 1000,
        signInTriesPerMinute: 1000,
        signInsPerMinute: 1000,
        accountTriesPerHour: 1000,
      },
    });
    world = await makeWorld(service);
  });
  after(() => service.close());

  it('has exactly one row for every route', () => {
    const served = new Set<string>();
    for (const line of registeredRoutes(service)) served.add(line);
    assert.deepEqual([...served].sort(), Object.keys(rows).sort());
  });

  for (const [name, { cells, scope, target }] of Object.entries(rows)) {
    it(name, async () => {
      const expected = cells.split(' ');
      assert.equal(expected.length, callers.length, 'every caller has a cell');
      const [method = ''] = name.split(' ');
      const found: string[] = [];
      let unused: Target | undefined;
      for (const caller of callers) {
        const token = await tokenFor(world, caller, name, scope);
        unused ??= await target(world);
        const { path, ...options } = unused;
        // First a dry run, which must not change what the action itself does.
        const tried = dryRuns.has(name)
          ? await service.call(method, `${path}?dryRun=true`, { ...options, token })
          : undefined;
        const response = await service.call(method, path, { ...options, token });
        const cell = cellOf(response);
        found.push(cell);
        const usesUp = method !== 'GET' && (response.statusCode < 400 || cell === '401c');
        if (usesUp) unused = undefined;
        if (tried !== undefined) assertSameAnswer(tried, response, caller);
        if (method === 'GET') {
          const head = await service.call('HEAD', path, { ...options, token, isEndless: false });
          assert.equal(head.statusCode, response.statusCode, `HEAD as ${caller}`);
          assert.equal(head.payload, '');
        }
      }
      assert.deepEqual(Object.fromEntries(callers.map((caller, at) => [caller, found[at]])), toCells(expected));
    });
  }
});

/** The routes that have a dry run. */
const dryRuns = new Set(
  allRoutes.filter(({ query }) => query?.properties.dryRun).map(({ method, path }) => `${method} ${path}`),
);

/** A dry run fails as the action does, word for word, and otherwise returns the effects, or what a publish or a mass yank returns. */
function assertSameAnswer(tried: Response, response: Response, caller: Caller): void {
  if (response.statusCode < 400) {
    assert.equal(tried.statusCode, 200, tried.payload);
    if (tried.payload.includes('isNewVersion') || tried.payload.includes('isDryRun')) {
      assert.deepEqual(Object.keys(tried.json()), Object.keys(response.json()));
      return;
    }
    assert.deepEqual(Object.keys(tried.json()).sort(), ['changed', 'changes', 'hasMore', 'outcomes', 'unchanged']);
    assert.equal(tried.payload.includes('guestKey'), !caller.includes('guest') && tried.json().changed > 0);
    return;
  }
  assert.equal(tried.statusCode, response.statusCode);
  const [first, second] = [tried, response].map((one) => ({ ...one.json<Problem>(), instance: undefined }));
  assert.deepEqual(first, second);
}

function toCells(expected: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(callers.map((caller, at) => [caller, expected[at]]));
}

/** The body of a problem document, or of an OCI error. */
interface Refusal {
  readonly code?: string;
  readonly errors?: readonly { readonly detail?: { readonly code?: string } }[];
}

function cellOf(response: { statusCode: number; headers: object; json(): Refusal }): string {
  const { statusCode } = response;
  const contentType = String((response.headers as Record<string, unknown>)['content-type']);
  const isOci = statusCode >= 400 && contentType.startsWith('application/json');
  if (!isOci && !contentType.startsWith('application/problem+json')) return String(statusCode);
  const letters: Readonly<Record<string, string>> = {
    missing_credentials: 'm',
    invalid_token: 'i',
    insufficient_scope: 's',
    forbidden: 'f',
    not_a_guest: 'n',
    invalid_credentials: 'c',
    not_signed_in: 'o',
    step_up_required: 'p',
    invalid_passkey: 'k',
  };
  const { code, errors } = response.json();
  return `${statusCode}${letters[code ?? errors?.[0]?.detail?.code ?? ''] ?? ''}`;
}

/** What the server has routes for, as `METHOD /path`; HEAD stands with its GET. */
function registeredRoutes(service: TestService): string[] {
  const { router } = service.app;
  return router.endpoints.map(({ route: { method, path } }) => {
    assert.equal(router.find(method, path)?.endpoint.route.path, path);
    return `${method} ${path}`;
  });
}

const expiredMs = -1000;

async function tokenFor(world: World, caller: Caller, name: string, scope?: TokenScope): Promise<string | undefined> {
  const { service, owner, guest } = world;
  const isInstrument = name === 'POST /instrument';
  const people: Partial<Record<Caller, TestUser>> = {
    stranger: world.stranger,
    guest,
    'other guest': world.otherGuest,
    viewer: world.viewer,
    admin: world.admin,
    owner,
  };
  switch (caller) {
    case 'no token':
      return undefined;
    case 'malformed token':
      return 'tnn_nonsense';
    case 'expired token':
      return service.token(owner.id, { lifetimeMs: expiredMs });
    case 'revoked token':
      return isInstrument ? revokedKey(world) : (revokedTokens.get(world) ?? revokedToken(world));
    case 'wrong kind of token':
      return isInstrument ? owner.token : service.apiKey(owner.id);
    case 'token without the scope': {
      if (isInstrument) return service.apiKey(owner.id);
      const scopes = (['read', 'publish', 'manage'] as const).filter((one) => one !== scope);
      return service.token(scope === 'publish' ? guest.id : owner.id, { scopes });
    }
    default: {
      const user = people[caller];
      assert.ok(user);
      return isInstrument ? service.apiKey(user.id) : user.token;
    }
  }
}

const revokedTokens = new Map<World, string>();

async function revokedToken(world: World): Promise<string> {
  const { service, owner } = world;
  const created = await ok<{ id: string; token: string }>(service, 'POST', `${api}/tokens`, {
    token: owner.token,
    json: { name: 'short-lived' },
  });
  await ok(service, 'GET', `${api}/me`, { token: created.token });
  await ok(service, 'DELETE', `${api}/tokens/${created.id}`, { token: owner.token });
  revokedTokens.set(world, created.token);
  return created.token;
}

async function revokedKey({ service, owner }: World): Promise<string> {
  const created = await ok<{ id: string; apiKey: string }>(service, 'POST', `${api}/api-keys`, {
    token: owner.token,
    json: { name: 'short-lived' },
  });
  await ok(service, 'DELETE', `${api}/api-keys/${created.id}`, { token: owner.token });
  return created.apiKey;
}

function trustRuleOf({ extensionPointId }: World) {
  return {
    plugin: { extensionPointId, name: 'median' },
    provider: 'github',
    claims: { repository: 'octo/median' },
  };
}
