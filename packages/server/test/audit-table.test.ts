import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type AppId,
  type AuditAction,
  auditActions,
  cliClientId,
  type DeviceAuthorization,
  deviceCodeGrantType,
  type ExtensionPointId,
  newId,
  ociEmptyConfig,
  ociMediaTypes,
  ociRepositoryOf,
  type SessionState,
  type UserId,
  type WebhookDelivery,
  type WebhookId,
} from '@tenon/protocol';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import { revokeSigningKey, rotateSigningKey } from '../src/attestations/signing-keys.ts';
import { createPasswordLink, setOperator } from '../src/auth/manage-users.ts';
import { createSetUpLink } from '../src/auth/one-time-links.ts';
import { recordRefusal } from '../src/auth/refusals.ts';
import { hashSecret, makeCode } from '../src/auth/secrets.ts';
import { type AuditEventRecord, auditCursor } from '../src/db/audit-records.ts';
import type { MailedCodeRecord } from '../src/db/mail-records.ts';
import { advanceRollOuts } from '../src/plugins/roll-outs/advance.ts';
import { haltRollOut } from '../src/plugins/roll-outs/halt.ts';
import { allRoutes } from '../src/routes.ts';
import { settleDelivery } from '../src/webhooks/settle.ts';
import {
  approve,
  approvedLogin,
  authorizationQuery,
  encode,
  exchangeOf,
  openBrowser,
  postForm,
  requestFrom,
} from './helpers/browser.ts';
import { goodPassword, openJar, signIn, signUpPerson } from './helpers/jar.ts';
import { noMailServer } from './helpers/mail-server.ts';
import { logoutClaims, openIssuer, providerOf, type TestIssuer, testClientId } from './helpers/oidc-issuer.ts';
import { addPasskey, enterPassword, optionsOf } from './helpers/passkeys.ts';
import { endTrip, startTrip, travel } from './helpers/provider-sign-in.ts';
import { openService, type TestService, type TestUser } from './helpers/service.ts';
import { putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';
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
  tinyModule,
  type World,
  withdrawnBytes,
} from './helpers/world.ts';

/*
 * The audit events of each route that changes something. A route that is missing here fails, and so does one that
 * leaves another row, or none.
 */

/** A change that waits to be made, by whom it will be, and what of it is no one's to read later. */
interface Change {
  readonly by?: UserId;
  readonly secrets?: readonly string[];
  readonly send: () => Promise<LightMyRequestResponse>;
}

interface Row {
  readonly actions: readonly AuditAction[];
  readonly prepare: (world: World) => Promise<Change>;
}

const api = '/api/v1';
/** The sign-in provider `corp`. */
let issuer: TestIssuer;

async function personOfProvider({ service }: World) {
  const jar = openJar(service);
  const sub = newId('user');
  await travel(issuer, jar, { grant: { claims: { sub, email: `${sub}@example.org` } } });
  const { account } = (await jar.call('GET', '/session')).json<SessionState>();
  assert.ok(account);
  return { id: account.id as UserId, jar, sub };
}

const uploads = '/v2/:appId/:extensionPointId/:userId/:repository/blobs/uploads';
const artifact = `${api}/artifacts/:extensionPointId/plugin/:userId/:pluginName`;

/** The path of the OCI repository of a plugin of the guest's. */
function ociPathOf({ appId, extensionPointId, guest }: World, name: string): string {
  return `/v2/${ociRepositoryOf(appId, extensionPointId, guest.id, name)}`;
}

/** Starts an upload. @returns its path */
async function ociUpload(world: World): Promise<string> {
  const { service, guest } = world;
  const path = `${ociPathOf(world, 'uploaded')}/blobs/uploads/`;
  return String((await service.call('POST', path, { token: guest.token })).headers.location);
}

function calling(
  { service }: World,
  user: TestUser,
  method: string,
  path: string,
  json?: unknown,
  secrets: readonly string[] = [],
): Change {
  return { by: user.id, secrets, send: () => service.call(method, `${api}${path}`, { token: user.token, json }) };
}

/** A plugin of the guest's that is unchanged: its path below the interface's. */
async function freshPlugin({ service, guest, extensionPointId }: World, at = extensionPointId): Promise<string> {
  return `/artifacts/${(await publishAs(service, guest, at, `p-${newId('version')}`, freshModule())).id}`;
}

async function awaitingVersion(world: World): Promise<string> {
  const { service, owner, appId } = world;
  const at = await makeExtensionPoint(service, owner, appId);
  await ok(service, 'PUT', `${api}/extension-points/${at}`, { token: owner.token, json: { requiresApproval: true } });
  return `${await freshPlugin(world, at)}/versions/1`;
}

/** A version in a roll-out with one step; the path of the roll-out. */
async function freshRollOut(world: World, holdSeconds: number | null = null): Promise<string> {
  const { service, owner, appId } = world;
  const at = await makeExtensionPoint(service, owner, appId);
  const json = { rollOut: { steps: [{ percent: 1, holdSeconds }], halt: null } };
  await ok(service, 'PUT', `${api}/extension-points/${at}`, { token: owner.token, json });
  const path = await freshPlugin(world, at);
  const [extensionPointId = '', , , name = ''] = path.replace('/artifacts/', '').split('/');
  await publishAs(service, world.guest, extensionPointId, name, freshModule());
  return `${path}/versions/2/roll-out`;
}

async function freshCode({ service, owner, appId }: World): Promise<string> {
  return invite(service, owner, appId, newId('guest'));
}

async function personOf({ service }: World) {
  const person = await signUpPerson(service);
  return { ...person, user: { id: person.id, token: await person.jar.token() } };
}

/** A code that was mailed to a person with a verified address. */
async function mailedCode(service: TestService, fields: Partial<MailedCodeRecord> & Pick<MailedCodeRecord, 'purpose'>) {
  const { id, email } = await signUpPerson(service);
  const code = makeCode(randomBytes);
  const expiresAtMs = Date.now() + 60_000;
  const mailed = { codeHash: hashSecret(code), recipient: email, userId: id, invitationId: null, notice: null };
  await service.store.write(async (tx) => {
    const verifiedEmail = fields.purpose === 'verify_email' ? null : email;
    await tx.putMailPreferences({ userId: id, verifiedEmail, muted: [] });
    await tx.insertMailedCode({ ...mailed, expiresAtMs, ...fields });
  });
  return { id, code };
}

async function deviceGrant({ service }: World): Promise<DeviceAuthorization> {
  return (await postForm(service, '/oauth/device_authorization', { client_id: cliClientId })).json();
}

/** The path of the block of a publisher who has nothing published. */
async function publisherBlock({ service, owner, appId }: World): Promise<string> {
  const user = await service.user('Mallory');
  await makeGuest(service, owner, appId, newId('guest'), user);
  return `/apps/${appId}/publishers/${user.id}/block`;
}

/** The credentials that published the versions of a plugin. */
async function credentialsOf({ service, owner, appId }: World, pluginId: string): Promise<(string | null)[]> {
  const path = `${api}/apps/${appId}/published-versions?userId=${pluginId.split('/')[2]}`;
  const { objects } = (await service.call('GET', path, { token: owner.token })).json<{
    objects: { pluginId: string; credentialId: string | null }[];
  }>();
  return objects.filter((one) => one.pluginId === pluginId).map(({ credentialId }) => credentialId);
}

const yanked = async (world: World): Promise<string> => {
  const version = `${await freshPlugin(world)}/versions/1`;
  await ok(world.service, 'POST', `${api}${version}/yank`, { token: world.owner.token, json: { reason: 'why' } });
  return version;
};

/** An operator's act on another user: in the operator's trail, and without a name in the user's. */
function byOperator(action: AuditAction, method: string, rest: string, json?: unknown, before?: string): Row {
  return {
    actions: [action, action],
    prepare: async ({ service }) => {
      const [operator, person] = [await service.user('Olga'), await signUpPerson(service)];
      await setOperator(service.services.deps, 'operator', operator.id, true);
      const path = `${api}/users/${person.id}`;
      const call = (path: string, method: string) => service.call(method, path, { token: operator.token, json });
      if (before !== undefined) await call(`${path}${before}`, 'PUT');
      return { send: () => call(`${path}${rest}`, method) };
    },
  };
}

/** An operator's change of a quota of an account and of an application: in their trails, and in the operator's own. */
async function quotaChange({ service, appId }: World, method: 'PUT' | 'DELETE'): Promise<Change> {
  const [operator, user] = [await service.user('Olga'), await service.user()];
  await setOperator(service.services.deps, 'operator', operator.id, true);
  const paths = [`${user.id}/tokens`, `${appId}/plugins`].map((rest) => `${api}/quota-overrides/${rest}`);
  const send = async (method: string) => {
    const json = method === 'PUT' ? { limit: 1_000_000 } : undefined;
    const [first = '', second = ''] = paths;
    await service.call(method, first, { token: operator.token, json });
    return service.call(method, second, { token: operator.token, json });
  };
  if (method === 'DELETE') await send('PUT');
  return { send: () => send(method) };
}

const simulation = { fixtures: [{ export: 'evaluate', expect: {} }] };
/** The same with an extension point of its own, because simulations concern all that is published there. */
async function withOwnPoint(world: World): Promise<World> {
  return { ...world, extensionPointId: await makeExtensionPoint(world.service, world.owner, world.appId) };
}

const simulationPath = (name: string, { extensionPointId }: World) =>
  `/extension-points/${extensionPointId}/simulations/${name}`;

const rows: Readonly<Record<string, Row>> = {
  'PUT /api/v1/extension-points/:extensionPointId/simulations/:name': {
    actions: ['simulation.put'],
    prepare: async (world) => {
      const path = simulationPath('put', await withOwnPoint(world));
      return calling(world, world.admin, 'PUT', path, simulation);
    },
  },
  'DELETE /api/v1/extension-points/:extensionPointId/simulations/:name': {
    actions: ['simulation.delete'],
    prepare: async (world) => {
      const path = simulationPath('deleted', await withOwnPoint(world));
      await ok(world.service, 'PUT', `${api}${path}`, { token: world.owner.token, json: simulation });
      return calling(world, world.admin, 'DELETE', path);
    },
  },
  'PUT /api/v1/users/:userId/suspension': byOperator('account.suspend', 'PUT', '/suspension'),
  'DELETE /api/v1/users/:userId/suspension': byOperator(
    'account.unsuspend',
    'DELETE',
    '/suspension',
    undefined,
    '/suspension',
  ),
  'DELETE /api/v1/users/:userId/passkeys': {
    actions: ['second_factor.reset', 'second_factor.reset'],
    prepare: async (world) => {
      const { service } = world;
      const [operator, person] = [await service.user('Olga'), await signUpPerson(service)];
      await addPasskey(person);
      await setOperator(service.services.deps, 'operator', operator.id, true);
      const { token } = operator;
      return { send: () => service.call('DELETE', `${api}/users/${person.id}/passkeys`, { token }) };
    },
  },
  'PUT /api/v1/users/:userId/operator': byOperator('operator.grant', 'PUT', '/operator'),
  'DELETE /api/v1/users/:userId/operator': byOperator('operator.revoke', 'DELETE', '/operator', undefined, '/operator'),
  'POST /api/v1/users/:userId/credentials/revoke-all': byOperator(
    'account.revoke_credentials',
    'POST',
    '/credentials/revoke-all',
    {},
  ),
  'POST /api/v1/credentials/revoke-all': {
    actions: ['account.revoke_credentials'],
    prepare: async (world) => calling(world, await world.service.user(), 'POST', '/credentials/revoke-all', {}),
  },
  'DELETE /api/v1/logins/:loginId': {
    actions: ['login.revoke'],
    prepare: async (world) => {
      const { service, owner } = world;
      return calling(world, owner, 'DELETE', `/logins/${(await approvedLogin(service, owner)).id}`);
    },
  },
  'PUT /api/v1/quota-overrides/:subjectId/:name': {
    actions: ['account.quota', 'account.quota', 'app.quota', 'app.quota'],
    prepare: (world) => quotaChange(world, 'PUT'),
  },
  'DELETE /api/v1/quota-overrides/:subjectId/:name': {
    actions: ['account.quota', 'account.quota', 'app.quota', 'app.quota'],
    prepare: (world) => quotaChange(world, 'DELETE'),
  },
  'POST /api/v1/users/:userId/password-link': byOperator('account.password_link', 'POST', '/password-link', {}),
  'DELETE /api/v1/users/:userId': byOperator('account.delete', 'DELETE', ''),
  'POST /api/v1/apps': {
    actions: ['app.create'],
    prepare: async (world) => calling(world, world.stranger, 'POST', '/apps', { name: 'New' }),
  },
  'PUT /api/v1/apps/:appId': {
    actions: ['app.update'],
    prepare: async (world) => calling(world, world.owner, 'PUT', `/apps/${world.appId}`, { name: 'Other' }),
  },
  'DELETE /api/v1/apps/:appId': {
    actions: ['app.delete'],
    prepare: async (world) =>
      calling(world, world.owner, 'DELETE', `/apps/${await makeApp(world.service, world.owner)}`),
  },
  'PUT /api/v1/apps/:appId/members/:userId': {
    actions: ['member.put'],
    prepare: async (world) =>
      calling(world, world.owner, 'PUT', `/apps/${world.appId}/members/${world.viewer.id}`, { role: 'admin' }),
  },
  'DELETE /api/v1/apps/:appId/members/:userId': {
    actions: ['member.remove'],
    prepare: async (world) => {
      const { service, owner, appId } = world;
      const user = await service.user();
      await makeMember(service, owner, appId, 'viewer', user);
      return calling(world, owner, 'DELETE', `/apps/${appId}/members/${user.id}`);
    },
  },
  'POST /api/v1/apps/:appId/members': {
    actions: ['member.invite'],
    prepare: async (world) => calling(world, world.owner, 'POST', `/apps/${world.appId}/members`, { role: 'admin' }),
  },
  'DELETE /api/v1/apps/:appId/membership': {
    actions: ['member.leave'],
    prepare: async (world) => {
      const { service, owner, appId } = world;
      const user = await service.user();
      await makeMember(service, owner, appId, 'viewer', user);
      return calling(world, user, 'DELETE', `/apps/${appId}/membership`);
    },
  },
  'POST /api/v1/apps/:appId/extension-points': {
    actions: ['extension_point.create'],
    prepare: async (world) =>
      calling(world, world.admin, 'POST', `/apps/${world.appId}/extension-points`, { name: 'New' }),
  },
  'PUT /api/v1/extension-points/:extensionPointId': {
    actions: ['extension_point.update'],
    prepare: async (world) =>
      calling(world, world.admin, 'PUT', `/extension-points/${world.extensionPointId}`, { name: 'New' }),
  },
  'DELETE /api/v1/extension-points/:extensionPointId': {
    actions: ['extension_point.delete'],
    prepare: async (world) => {
      const id = await makeExtensionPoint(world.service, world.owner, world.appId);
      return calling(world, world.admin, 'DELETE', `/extension-points/${id}`);
    },
  },
  ...Object.fromEntries(
    ['guests', 'guests/invite'].map((end): [string, Row] => [
      `POST /api/v1/apps/:appId/${end}`,
      {
        actions: ['guest.invite'],
        prepare: async (world) => {
          const json = { deliveryMethod: 'link', guestKey: 'a-private-key', email: 'g@example.org', name: 'Gloria' };
          return calling(world, world.admin, 'POST', `/apps/${world.appId}/${end}`, json, ['g@example.org', 'Gloria']);
        },
      },
    ]),
  ),
  'PUT /api/v1/apps/:appId/guests/:guestId': {
    actions: ['guest.update'],
    prepare: async (world) => {
      const json = { label: 'Label of Gloria', note: 'Note of Gloria' };
      return calling(world, world.admin, 'PUT', `/apps/${world.appId}/guests/${world.guestId}`, json, ['of Gloria']);
    },
  },
  'DELETE /api/v1/apps/:appId/guests/:guestId': {
    actions: ['guest.remove'],
    prepare: async (world) => {
      const { service, owner, appId, stranger } = world;
      const id = await makeGuest(service, owner, appId, 'another-private-key', stranger);
      return calling(world, world.admin, 'DELETE', `/apps/${appId}/guests/${id}`);
    },
  },
  'DELETE /api/v1/apps/:appId/guests/:guestId/users/:userId': {
    actions: ['guest.remove_user'],
    prepare: async (world) => {
      const { service, owner, appId, stranger } = world;
      const id = await makeGuest(service, owner, appId, 'another-private-key', stranger);
      return calling(world, world.admin, 'DELETE', `/apps/${appId}/guests/${id}/users/${stranger.id}`);
    },
  },
  'POST /api/v1/apps/:appId/invitations': {
    actions: ['guest.invite'],
    prepare: async (world) => {
      const invitations = [
        { guestKey: 'a-new-private-key', email: 'g@example.org', name: 'Gloria', label: 'of Gloria' },
      ];
      const path = `/apps/${world.appId}/invitations`;
      return calling(world, world.admin, 'POST', path, { invitations }, ['g@example.org', 'Gloria']);
    },
  },
  ...Object.fromEntries(
    (['renew', 'revoke'] as const).flatMap((verb): [string, Row][] => {
      const actions = [`invitation.${verb}` as const];
      const withInvitation = async (world: World) => {
        const { service, owner } = world;
        const appId = await makeApp(service, owner);
        await invite(service, owner, appId, 'another-private-key');
        const path = `/apps/${appId}/invitations`;
        const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', `${api}${path}`, owner);
        return { path, id: objects[0]?.id };
      };
      const many: Row = {
        actions,
        prepare: async (world) => {
          const { path, id } = await withInvitation(world);
          return calling(world, world.owner, 'POST', `${path}/${verb}`, { ids: [id] });
        },
      };
      const one: Row = {
        actions,
        prepare: async (world) => {
          const { path, id } = await withInvitation(world);
          return calling(world, world.owner, 'POST', `${path}/${id}/renew`, {});
        },
      };
      const path = 'POST /api/v1/apps/:appId/invitations';
      return [
        [`${path}/${verb}`, many],
        ...(verb === 'renew' ? [[`${path}/:invitationId/renew`, one] as [string, Row]] : []),
      ];
    }),
  ),
  'DELETE /api/v1/apps/:appId/invitations/:invitationId': {
    actions: ['invitation.revoke'],
    prepare: async (world) => {
      const { service, owner } = world;
      const appId = await makeApp(service, owner);
      await invite(service, owner, appId, 'another-private-key');
      const path = `/apps/${appId}/invitations`;
      const { objects } = await ok<{ objects: { id: string }[] }>(service, 'GET', `${api}${path}`, owner);
      return calling(world, owner, 'DELETE', `${path}/${objects[0]?.id}`);
    },
  },
  'POST /api/v1/invitations/accept': {
    actions: ['invitation.accept'],
    prepare: async (world) => {
      const code = await freshCode(world);
      return calling(world, world.stranger, 'POST', '/invitations/accept', { code }, [code]);
    },
  },
  'POST /api/v1/invitations/decline': {
    actions: ['invitation.decline'],
    prepare: async (world) => {
      const code = await freshCode(world);
      return calling(world, world.stranger, 'POST', '/invitations/decline', { code }, [code]);
    },
  },
  [`PUT ${artifact}`]: {
    actions: ['plugin.publish'],
    prepare: async (world) => {
      const { service, guest, extensionPointId } = world;
      const path = `${api}/artifacts/${extensionPointId}/plugin/${guest.id}/fresh`;
      const headers = { 'content-type': 'application/wasm' };
      const send = () => service.call('PUT', path, { token: guest.token, body: tinyModule(9), headers });
      return { by: guest.id, send };
    },
  },
  'PUT /v2/:appId/:extensionPointId/:userId/:repository/manifests/:reference': {
    actions: ['plugin.publish'],
    prepare: async (world) => {
      const { service, guest } = world;
      const path = ociPathOf(world, 'pushed');
      const module = freshModule();
      const digest = `sha256:${hash('sha256', module, 'hex')}`;
      const options = { token: guest.token, body: module };
      await service.call('POST', `${path}/blobs/uploads/?digest=${digest}`, options);
      const layer = { mediaType: ociMediaTypes.layer, digest, size: module.length };
      const manifest = { schemaVersion: 2, config: ociEmptyConfig, layers: [layer] };
      const headers = { 'content-type': ociMediaTypes.manifest };
      const body = JSON.stringify(manifest);
      const send = () => service.call('PUT', `${path}/manifests/1.0.0`, { token: guest.token, body, headers });
      return { by: guest.id, send };
    },
  },
  [`DELETE ${artifact}`]: {
    actions: ['plugin.delete'],
    prepare: async (world) => calling(world, world.guest, 'DELETE', await freshPlugin(world)),
  },
  [`POST ${artifact}/versions/:number/simulation-runs`]: {
    actions: ['version.retest', 'version.test'],
    prepare: async (world) => {
      const own = await withOwnPoint(world);
      const path = await freshPlugin(own);
      await putSimulation(world.service, own.extensionPointId);
      return {
        send: () =>
          world.service.call('POST', `${api}${path}/versions/1/simulation-runs`, { token: world.guest.token }),
      };
    },
  },
  [`POST ${artifact}/versions/:number/yank`]: {
    actions: ['version.yank'],
    prepare: async (world) => {
      const path = `${await freshPlugin(world)}/versions/1/yank`;
      return calling(world, world.guest, 'POST', path, { reason: 'why' });
    },
  },
  [`POST ${artifact}/versions/:number/restore`]: {
    actions: ['version.restore'],
    prepare: async (world) => calling(world, world.admin, 'POST', `${await yanked(world)}/restore`),
  },
  [`POST ${artifact}/versions/:number/approve`]: {
    actions: ['version.approve'],
    prepare: async (world) => calling(world, world.admin, 'POST', `${await awaitingVersion(world)}/approve`),
  },
  [`POST ${artifact}/versions/:number/reject`]: {
    actions: ['version.reject'],
    prepare: async (world) =>
      calling(world, world.admin, 'POST', `${await awaitingVersion(world)}/reject`, { reason: 'why' }),
  },
  [`POST ${artifact}/versions/:number/release`]: {
    actions: ['version.release'],
    prepare: async (world) => {
      const at = await makeExtensionPoint(world.service, world.owner, world.appId);
      const age = { token: world.owner.token, json: { minVersionAgeSeconds: 60 } };
      await ok(world.service, 'PUT', `${api}/extension-points/${at}`, age);
      const path = `${await freshPlugin(world, at)}/versions/1/release`;
      return calling(world, world.admin, 'POST', path, { reason: 'why' });
    },
  },
  [`POST ${artifact}/versions/:number/roll-out/pause`]: {
    actions: ['roll_out.pause'],
    prepare: async (world) => calling(world, world.admin, 'POST', `${await freshRollOut(world)}/pause`),
  },
  [`POST ${artifact}/versions/:number/roll-out/resume`]: {
    actions: ['roll_out.resume'],
    prepare: async (world) => {
      const path = await freshRollOut(world);
      await ok(world.service, 'POST', `${api}${path}/pause`, { token: world.owner.token });
      return calling(world, world.admin, 'POST', `${path}/resume`);
    },
  },
  [`POST ${artifact}/versions/:number/roll-out/promote`]: {
    actions: ['roll_out.promote', 'roll_out.complete'],
    prepare: async (world) => calling(world, world.admin, 'POST', `${await freshRollOut(world)}/promote`),
  },
  [`POST ${artifact}/versions/:number/roll-out/abort`]: {
    actions: ['version.yank', 'roll_out.abort'],
    prepare: async (world) =>
      calling(world, world.admin, 'POST', `${await freshRollOut(world)}/abort`, { reason: 'why' }),
  },
  'PUT /api/v1/apps/:appId/publishers/:userId/block': {
    actions: ['publisher.block'],
    prepare: async (world) => calling(world, world.admin, 'PUT', await publisherBlock(world), { reason: 'why' }),
  },
  'DELETE /api/v1/apps/:appId/publishers/:userId/block': {
    actions: ['publisher.unblock'],
    prepare: async (world) => {
      const path = await publisherBlock(world);
      await ok(world.service, 'PUT', `${api}${path}`, { token: world.owner.token, json: { reason: 'why' } });
      return calling(world, world.admin, 'DELETE', path);
    },
  },
  'POST /api/v1/apps/:appId/published-versions/yank': {
    // The token is revoked in two trails: the team member's, and the publisher's.
    actions: ['version.yank', 'version.reject', 'token.revoke', 'token.revoke'],
    prepare: async (world) => {
      const { service, owner, appId } = world;
      const user = await service.user('Mallory');
      await makeGuest(service, owner, appId, newId('guest'), user);
      const at = await makeExtensionPoint(service, owner, appId);
      const { id } = await publishAs(service, user, at, 'median', freshModule());
      await ok(service, 'PUT', `${api}/extension-points/${at}`, {
        token: owner.token,
        json: { requiresApproval: true },
      });
      await publishAs(service, user, at, 'median', freshModule());
      const [tokenId] = await credentialsOf(world, id);
      const path = `/apps/${appId}/published-versions/yank`;
      const { send } = calling(world, world.admin, 'POST', path, { credentialId: tokenId, reason: 'why' });
      return { send };
    },
  },
  'POST /api/v1/me/published-versions/yank': {
    actions: ['version.yank', 'token.revoke'],
    prepare: async (world) => {
      const { service, owner, appId, extensionPointId } = world;
      const user = await service.user('Mallory');
      await makeGuest(service, owner, appId, newId('guest'), user);
      const { id } = await publishAs(service, user, extensionPointId, `p-${newId('version')}`, freshModule());
      const [credentialId] = await credentialsOf(world, id);
      return calling(world, user, 'POST', '/me/published-versions/yank', { credentialId, reason: 'why' });
    },
  },
  [`POST ${artifact}/rollback`]: {
    actions: ['plugin.roll_back'],
    prepare: async (world) =>
      calling(world, world.guest, 'POST', `${await freshPlugin(world)}/rollback`, { version: 1 }),
  },
  [`POST ${artifact}/versions/:number/attestations`]: {
    actions: ['version.attach'],
    prepare: async (world) => {
      const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: 'not in the trail' };
      return calling(world, world.guest, 'POST', `${await freshPlugin(world)}/versions/1/attestations`, sbom, [
        sbom.serialNumber,
      ]);
    },
  },
  [`PUT ${artifact}/about`]: {
    actions: ['plugin.describe'],
    prepare: async (world) => {
      const readme = 'not in the trail';
      return calling(world, world.guest, 'PUT', `${await freshPlugin(world)}/about`, { readme }, [readme]);
    },
  },
  [`DELETE ${artifact}/about`]: {
    actions: ['plugin.describe'],
    prepare: async (world) => {
      const path = `${await freshPlugin(world)}/about`;
      await ok(world.service, 'PUT', `${api}${path}`, { token: world.guest.token, json: { readme: 'rude' } });
      return calling(world, world.admin, 'DELETE', path);
    },
  },
  [`PUT ${artifact}/block`]: {
    actions: ['plugin.block'],
    prepare: async (world) =>
      calling(world, world.admin, 'PUT', `${await freshPlugin(world)}/block`, { reason: 'why' }),
  },
  [`DELETE ${artifact}/block`]: {
    actions: ['plugin.unblock'],
    prepare: async (world) => {
      const path = `${await freshPlugin(world)}/block`;
      await ok(world.service, 'PUT', `${api}${path}`, { token: world.owner.token, json: { reason: 'why' } });
      return calling(world, world.admin, 'DELETE', path);
    },
  },
  'DELETE /api/v1/extension-points/:extensionPointId/withdrawals/:userId/:contentAddress': {
    actions: ['plugin.end_withdrawal'],
    prepare: async (world) => {
      const { contentAddress } = await withdrawnBytes(world);
      const path = `/extension-points/${world.extensionPointId}/withdrawals/${world.guest.id}/${contentAddress}`;
      return calling(world, world.admin, 'DELETE', path);
    },
  },
  'PUT /api/v1/extension-points/:extensionPointId/guests/:guestId/pins/:pluginName': {
    actions: ['binding.pin'],
    prepare: async (world) => {
      const path = `/extension-points/${world.extensionPointId}/guests/${world.guestId}/pins/median`;
      return calling(world, world.admin, 'PUT', path, { version: 1 });
    },
  },
  'DELETE /api/v1/extension-points/:extensionPointId/guests/:guestId/pins/:pluginName': {
    actions: ['binding.unpin'],
    prepare: async (world) => {
      const path = `/extension-points/${world.extensionPointId}/guests/${world.guestId}/pins/median`;
      await ok(world.service, 'PUT', `${api}${path}`, { token: world.owner.token, json: { version: 1 } });
      return calling(world, world.admin, 'DELETE', path);
    },
  },
  'PUT /api/v1/me': {
    actions: ['account.update'],
    prepare: async (world) => calling(world, (await personOf(world)).user, 'PUT', '/me', { name: 'Another user' }),
  },
  'PUT /api/v1/me/email': {
    actions: ['account.email_request'],
    prepare: async (world) =>
      calling(world, (await personOf(world)).user, 'PUT', '/me/email', { email: `${newId('user')}@example.org` }),
  },
  'PUT /api/v1/me/password': {
    actions: ['account.password_change'],
    prepare: async (world) => {
      const { user, password } = await personOf(world);
      const json = { currentPassword: password, newPassword: 'four candles and handles', revokeTokens: true };
      return calling(world, user, 'PUT', '/me/password', json, [password, json.newPassword]);
    },
  },
  'POST /api/v1/me/deletion': {
    actions: ['account.delete'],
    prepare: async (world) => {
      const { user, password } = await personOf(world);
      return calling(world, user, 'POST', '/me/deletion', { password }, [password]);
    },
  },
  'DELETE /api/v1/sessions/:sessionId': {
    actions: ['session.end'],
    prepare: async (world) => {
      const { user } = await personOf(world);
      const { objects } = await ok<{ objects: { id: string }[] }>(world.service, 'GET', `${api}/sessions`, user);
      return calling(world, user, 'DELETE', `/sessions/${objects[0]?.id}`);
    },
  },
  'POST /api/v1/tokens': {
    actions: ['token.create'],
    prepare: async (world) => calling(world, world.guest, 'POST', '/tokens', { name: 'CI' }),
  },
  'DELETE /api/v1/tokens/:tokenId': {
    actions: ['token.revoke'],
    prepare: async (world) => {
      const { service, guest } = world;
      const { id } = await ok<{ id: string }>(service, 'POST', `${api}/tokens`, { ...guest, json: { name: 'CI' } });
      return calling(world, guest, 'DELETE', `/tokens/${id}`);
    },
  },
  'POST /api/v1/api-keys': {
    actions: ['api_key.create'],
    prepare: async (world) => calling(world, world.guest, 'POST', '/api-keys', { name: 'builder' }),
  },
  'DELETE /api/v1/api-keys/:apiKeyId': {
    actions: ['api_key.revoke'],
    prepare: async (world) => {
      const { service, guest } = world;
      const { id } = await ok<{ id: string }>(service, 'POST', `${api}/api-keys`, { ...guest, json: { name: 'b' } });
      return calling(world, guest, 'DELETE', `/api-keys/${id}`);
    },
  },
  'POST /api/v1/trust-rules': {
    actions: ['trust_rule.create'],
    prepare: async (world) => calling(world, world.guest, 'POST', '/trust-rules', trustRuleOf(world)),
  },
  'POST /api/v1/apps/:appId/webhooks': {
    actions: ['webhook.create'],
    prepare: async (world) =>
      calling(world, world.owner, 'POST', `/apps/${world.appId}/webhooks`, aWebhook, ['s3cret']),
  },
  'PUT /api/v1/apps/:appId/webhooks/:webhookId': {
    actions: ['webhook.update'],
    prepare: (world) => inWebhook(world, 'PUT', '', { actions: ['version.yank'], isEnabled: false }),
  },
  'DELETE /api/v1/apps/:appId/webhooks/:webhookId': {
    actions: ['webhook.delete'],
    prepare: (world) => inWebhook(world, 'DELETE', ''),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/secrets': {
    actions: ['webhook.rotate_secret'],
    prepare: (world) => inWebhook(world, 'POST', '/secrets', { overlapHours: 1 }),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/test': {
    actions: ['webhook.test'],
    prepare: (world) => inWebhook(world, 'POST', '/test'),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/replay': {
    actions: ['webhook.replay'],
    prepare: (world) => inWebhook(world, 'POST', '/replay', { since: '2026-03-01T12:00:00.000Z' }),
  },
  'POST /api/v1/apps/:appId/webhooks/:webhookId/deliveries/:deliveryId/replay': {
    actions: ['webhook.replay'],
    async prepare(world) {
      const { service, owner, appId } = world;
      const id = await freshWebhook(world);
      const path = `/apps/${appId}/webhooks/${id}`;
      const delivery = await ok<WebhookDelivery>(service, 'POST', `${api}${path}/test`, owner);
      await service.store.write((tx) =>
        tx.setWebhookDelivery({ id: delivery.id as never, attempts: 0 }, { state: 'failed' }),
      );
      return calling(world, owner, 'POST', `${path}/deliveries/${delivery.id}/replay`);
    },
  },
  'DELETE /api/v1/trust-rules/:trustRuleId': {
    actions: ['trust_rule.delete'],
    prepare: async (world) => {
      const { service, guest } = world;
      const options = { ...guest, json: trustRuleOf(world) };
      const { id } = await ok<{ id: string }>(service, 'POST', `${api}/trust-rules`, options);
      return calling(world, guest, 'DELETE', `/trust-rules/${id}`);
    },
  },
  'DELETE /api/v1/apps/:appId/trust-rules/:trustRuleId': {
    // In two trails: the application's, and the publisher's.
    actions: ['trust_rule.delete', 'trust_rule.delete'],
    prepare: async (world) => {
      const { service, guest, owner, appId } = world;
      const options = { ...guest, json: trustRuleOf(world) };
      const { id } = await ok<{ id: string }>(service, 'POST', `${api}/trust-rules`, options);
      const { send } = calling(world, owner, 'DELETE', `/apps/${appId}/trust-rules/${id}`);
      return { send };
    },
  },
  'POST /session': {
    actions: ['session.start'],
    prepare: async (world) => {
      const { id, email, password } = await signUpPerson(world.service);
      const jar = openJar(world.service);
      return { by: id, secrets: [password], send: () => jar.call('POST', '/session', { email, password }) };
    },
  },
  'POST /session/sign-out': {
    actions: ['session.end'],
    async prepare({ service }) {
      const { id, jar } = await signUpPerson(service);
      return { by: id, send: () => jar.call('POST', '/session/sign-out', {}) };
    },
  },
  'POST /session/oidc/:providerId/backchannel-logout': {
    actions: ['session.end'],
    async prepare(world) {
      const { sub } = await personOfProvider(world);
      const claims = { iss: issuer.url, aud: testClientId, sub, jti: sub, ...logoutClaims() };
      const token = await issuer.token(claims, { typ: 'logout+jwt' });
      const path = '/session/oidc/corp/backchannel-logout';
      return { secrets: [token], send: () => postForm(world.service, path, { logout_token: token }) };
    },
  },
  'DELETE /api/v1/me/identities/:identityId': {
    actions: ['identity.unlink', 'session.end'],
    async prepare(world) {
      const { id, jar } = await personOfProvider(world);
      await travel(issuer, jar, { path: '/link', grant: { claims: { sub: newId('user') } } });
      const [identity] = await world.service.store.read.identities(id);
      const token = await world.service.token(id);
      return calling(world, { id, token }, 'DELETE', `/me/identities/${identity?.id}`);
    },
  },
  'POST /session/sign-up': {
    actions: ['account.create', 'session.start'],
    prepare: async ({ service }) => {
      const { code } = await createSetUpLink(service.services.deps, false);
      const json = { name: 'Ada', email: `${newId('user')}@example.org`, password: goodPassword, linkCode: code };
      const send = () => openJar(service).call('POST', '/session/sign-up', json);
      return { secrets: [code, json.password, json.email], send };
    },
  },
  'POST /session/reset-password': {
    actions: ['account.password_reset', 'session.start'],
    prepare: async ({ service }) => {
      const { id } = await signUpPerson(service);
      const { code } = await createPasswordLink(service.services.deps, 'operator', id);
      const json = { code, password: 'four candles and handles' };
      const send = () => openJar(service).call('POST', '/session/reset-password', json);
      return { by: id, secrets: [code, json.password], send };
    },
  },
  'POST /verify-email': {
    actions: ['account.verify_email'],
    prepare: async ({ service }) => {
      const { id, code } = await mailedCode(service, { purpose: 'verify_email' });
      return { by: id, secrets: [code], send: () => postForm(service, `/verify-email?code=${code}`, {}) };
    },
  },
  'POST /change-email': {
    actions: ['account.email_change'],
    prepare: async ({ service }) => {
      const recipient = `${newId('user')}@example.org`;
      const { id, code } = await mailedCode(service, { purpose: 'change_email', recipient });
      return { by: id, secrets: [code], send: () => postForm(service, `/change-email?code=${code}`, {}) };
    },
  },
  'POST /unsubscribe': {
    actions: ['account.update'],
    prepare: async ({ service }) => {
      const { id, code } = await mailedCode(service, { purpose: 'unsubscribe', notice: 'approvals' });
      return { by: id, secrets: [code], send: () => postForm(service, `/unsubscribe?code=${code}`, {}) };
    },
  },
  'DELETE /session': {
    actions: ['session.end'],
    prepare: async ({ service }) => {
      const { id, jar } = await signUpPerson(service);
      return { by: id, send: () => jar.call('DELETE', '/session') };
    },
  },
  'POST /session/confirm': {
    actions: ['session.confirm'],
    prepare: async ({ service }) => {
      const { id, jar, password } = await signUpPerson(service);
      return { by: id, secrets: [password], send: () => jar.call('POST', '/session/confirm', { password }) };
    },
  },
  'POST /session/passkey': {
    actions: ['session.start'],
    prepare: async ({ service }) => {
      const person = await signUpPerson(service);
      const { authenticator } = await addPasskey(person);
      const jar = openJar(service);
      const response = authenticator.get(await optionsOf(jar));
      return { by: person.id, send: () => jar.call('POST', '/session/passkey', { response }) };
    },
  },
  'POST /session/recovery-code': {
    actions: ['recovery_codes.use', 'session.start'],
    prepare: async ({ service }) => {
      const person = await signUpPerson(service);
      const { recoveryCodes: [code = ''] = [] } = await addPasskey(person);
      const jar = await enterPassword(service, person);
      const send = () => jar.call('POST', '/session/recovery-code', { code });
      return { by: person.id, secrets: [code], send };
    },
  },
  'POST /session/passkeys': {
    actions: ['passkey.register', 'recovery_codes.create'],
    prepare: async ({ service }) => {
      const { id, jar } = await signUpPerson(service);
      const response = createAuthenticator().create(await optionsOf(jar, '/session/passkeys/options'));
      return { by: id, send: () => jar.call('POST', '/session/passkeys', { name: 'Laptop', response }) };
    },
  },
  'PUT /session/passkeys/:passkeyId': {
    actions: ['passkey.rename'],
    prepare: async ({ service }) => {
      const { id, jar } = await signUpPerson(service);
      const { passkey } = await addPasskey({ jar });
      return { by: id, send: () => jar.call('PUT', `/session/passkeys/${passkey.id}`, { name: 'Old' }) };
    },
  },
  'DELETE /session/passkeys/:passkeyId': {
    actions: ['passkey.remove'],
    prepare: async ({ service }) => {
      const { id, jar } = await signUpPerson(service);
      const { passkey } = await addPasskey({ jar });
      return { by: id, send: () => jar.call('DELETE', `/session/passkeys/${passkey.id}`) };
    },
  },
  'POST /session/recovery-codes': {
    actions: ['recovery_codes.create'],
    prepare: async ({ service }) => {
      const { id, jar } = await signUpPerson(service);
      await addPasskey({ jar });
      return { by: id, send: () => jar.call('POST', '/session/recovery-codes', {}) };
    },
  },
  'POST /session/authorization': {
    actions: ['login.approve'],
    prepare: async ({ service }) => {
      const browser = await openBrowser(service);
      const json = { request: authorizationQuery({ scope: 'manage' }), decision: 'approve' };
      return {
        by: browser.userId,
        send: () => browser.post('/session/authorization', json),
      };
    },
  },
  'POST /session/device': {
    actions: ['login.approve'],
    prepare: async (world) => {
      const browser = await openBrowser(world.service);
      const { user_code, device_code } = await deviceGrant(world);
      return {
        by: browser.userId,
        secrets: [user_code, device_code],
        send: () => browser.post('/session/device', { userCode: user_code, decision: 'approve' }),
      };
    },
  },
  'POST /oauth/token': {
    actions: ['token.create'],
    prepare: async ({ service }) => {
      const browser = await openBrowser(service);
      const fields = exchangeOf(await approve(browser));
      return {
        by: browser.userId,
        secrets: [fields.code ?? '', fields.code_verifier ?? ''],
        send: () => postForm(service, '/oauth/token', fields),
      };
    },
  },
  'POST /oauth/revoke': {
    actions: ['token.revoke'],
    prepare: async ({ service, stranger }) => {
      const token = await service.token(stranger.id);
      return { by: stranger.id, send: () => postForm(service, '/oauth/revoke', { token }) };
    },
  },
};

/** Routes that are not `GET` and change nothing visible, and how each is called. */
const changeless: Readonly<Record<string, (world: World) => Promise<LightMyRequestResponse>>> = {
  'POST /session/passkey/options': ({ service }) => openJar(service).call('POST', '/session/passkey/options', {}),
  'POST /session/confirm/options': async ({ service }) =>
    (await signUpPerson(service)).jar.call('POST', '/session/confirm/options', {}),
  'POST /session/passkeys/options': async ({ service }) =>
    (await signUpPerson(service)).jar.call('POST', '/session/passkeys/options', {}),
  'POST /api/v1/invitations/preview': async (world) =>
    world.service.call('POST', `${api}/invitations/preview`, { json: { code: await freshCode(world) } }),
  'POST /api/v1/extension-points/:extensionPointId/schema/trial': ({ service, owner, extensionPointId }) =>
    service.call('POST', `${api}/extension-points/${extensionPointId}/schema/trial`, {
      token: owner.token,
      json: { schema: { exports: ['evaluate'] } },
    }),
  'POST /api/v1/extension-points/:extensionPointId/otlp/v1/metrics': ({ service, owner, extensionPointId }) =>
    service.call('POST', `${api}/extension-points/${extensionPointId}/otlp/v1/metrics`, {
      token: owner.token,
      json: { resourceMetrics: [] },
    }),
  'POST /api/v1/extension-points/:extensionPointId/simulations/trial': ({ service, owner, extensionPointId }) =>
    service.call('POST', `${api}/extension-points/${extensionPointId}/simulations/trial`, {
      token: owner.token,
      json: { simulation },
    }),
  // An upload is not part of a version.
  [`POST ${uploads}/`]: (world) =>
    world.service.call('POST', `${ociPathOf(world, 'uploaded')}/blobs/uploads/`, { token: world.guest.token }),
  [`PATCH ${uploads}/:uploadId`]: async (world) =>
    world.service.call('PATCH', await ociUpload(world), { token: world.guest.token, body: 'chunk' }),
  [`PUT ${uploads}/:uploadId`]: async (world) => {
    const target = `${await ociUpload(world)}?digest=sha256:${hash('sha256', 'chunk', 'hex')}`;
    return world.service.call('PUT', target, { token: world.guest.token, body: 'chunk' });
  },
  [`DELETE ${uploads}/:uploadId`]: async (world) =>
    world.service.call('DELETE', await ociUpload(world), { token: world.guest.token }),
  // They queue a mail. A password link is recorded when it is made, before the mail is sent.
  'POST /session/password-link': async ({ service }) =>
    openJar(service).call('POST', '/session/password-link', { email: (await signUpPerson(service)).email }),
  'POST /api/v1/me/verification': async (world) => {
    const { user } = await personOf(world);
    return world.service.call('POST', `${api}/me/verification`, { token: user.token, json: {} });
  },
  'POST /session/link': async ({ service }) => {
    const { code } = await createSetUpLink(service.services.deps, false);
    return openJar(service).call('POST', '/session/link', { code });
  },
  // The pages' own token is part of the session, whose start is recorded.
  'POST /session/token': async ({ service }) => (await signUpPerson(service)).jar.call('POST', '/session/token', {}),
  'POST /session/authorization/view': async ({ service }) =>
    (await openBrowser(service)).post('/session/authorization/view', { request: authorizationQuery() }),
  'POST /session/device/view': async (world) => {
    const browser = await openBrowser(world.service);
    return browser.post('/session/device/view', { userCode: (await deviceGrant(world)).user_code });
  },
  // What the provider answers is recorded: see below.
  'POST /session/oidc/:providerId': ({ service }) => openJar(service).call('POST', '/session/oidc/corp', {}),
  'POST /session/oidc/:providerId/link': async ({ service }) =>
    (await signUpPerson(service)).jar.call('POST', '/session/oidc/corp/link', {}),
  'POST /session/oidc/:providerId/confirm': async ({ service }) =>
    (await signUpPerson(service)).jar.call('POST', '/session/oidc/corp/confirm', {}),
  // It has no user yet.
  'POST /oauth/device_authorization': ({ service }) =>
    postForm(service, '/oauth/device_authorization', { client_id: cliClientId }),
  'POST /instrument': async ({ service, owner }) =>
    service.call('POST', '/instrument', {
      token: await service.apiKey(owner.id),
      ...formOf([{ name: 'wasm', content: tinyModule(7) }]),
    }),
};

/** What happens with no route of its own, or beside another change. */
const others: Readonly<Record<string, Row>> = {
  'a publish of a similar name': {
    actions: ['plugin.publish', 'plugin.find_similar'],
    prepare: async ({ service, owner, appId, guest, otherGuest }) => {
      const at = await makeExtensionPoint(service, owner, appId);
      await publishAs(service, guest, at, 'median', freshModule());
      const path = `${api}/artifacts/${at}/plugin/${otherGuest.id}/rnedian`;
      const headers = { 'content-type': 'application/wasm' };
      return { send: () => service.call('PUT', path, { token: otherGuest.token, body: freshModule(), headers }) };
    },
  },
  'denying a login that came with a redirect': {
    actions: ['login.deny'],
    prepare: async ({ service }) => {
      const browser = await openBrowser(service);
      const json = { request: authorizationQuery(), decision: 'deny' };
      return { by: browser.userId, send: () => browser.post('/session/authorization', json) };
    },
  },
  'denying a login that came with a code': {
    actions: ['login.deny'],
    prepare: async (world) => {
      const browser = await openBrowser(world.service);
      const { user_code } = await deviceGrant(world);
      const json = { userCode: user_code, decision: 'deny' };
      return { by: browser.userId, send: () => browser.post('/session/device', json) };
    },
  },
  'a device that fetches its token': {
    actions: ['token.create'],
    prepare: async (world) => {
      const browser = await openBrowser(world.service);
      const { user_code, device_code } = await deviceGrant(world);
      await browser.post('/session/device', { userCode: user_code, decision: 'approve' });
      const fields = { grant_type: deviceCodeGrantType, client_id: cliClientId, device_code };
      return {
        by: browser.userId,
        secrets: [user_code, device_code],
        send: () => postForm(world.service, '/oauth/token', fields),
      };
    },
  },
  'an authorization code that comes a second time': {
    actions: ['token.revoke'],
    prepare: async ({ service }) => {
      const fields = exchangeOf(await approve(await openBrowser(service)));
      await postForm(service, '/oauth/token', fields);
      return { send: () => postForm(service, '/oauth/token', encode(fields)) };
    },
  },
  'signing in with a session': {
    actions: ['session.end', 'session.start'],
    prepare: async ({ service }) => {
      const person = await signUpPerson(service);
      return {
        by: person.id,
        async send() {
          await signIn(service, person, person.jar);
          return person.jar.call('GET', '/session');
        },
      };
    },
  },
  'a refused sign-in with a wrong password': {
    actions: ['sign_in.refuse'],
    prepare: async ({ service }) => {
      const { email } = await signUpPerson(service);
      const fields = { email, password: 'magnolia tugboat 18 linen' };
      return { secrets: [email, fields.password], send: () => openJar(service).call('POST', '/session', fields) };
    },
  },
  'a refused token exchange': {
    actions: ['token_exchange.refuse'],
    prepare: async ({ service, appId }) => ({
      async send() {
        const details = { issuer: 'https://ci.example.org', subject: 'repo:acme/median' };
        const refusal = {
          means: 'token_exchange',
          reason: 'audience',
          address: '203.0.113.9',
          appId: appId as AppId,
          details,
        } as const;
        await recordRefusal(service.services.deps, refusal);
        return service.call('GET', '/healthz');
      },
    }),
  },
  'tokens and keys that are used from a new network': {
    actions: ['token.new_network', 'api_key.new_network'],
    prepare: async ({ service }) => {
      const { id, token } = await service.user();
      const { lastUsed } = service.services;
      const stored = await service.store.read.tokenByHash(hashSecret(token));
      const key = await service.store.read.apiKeyByHash(hashSecret(await service.apiKey(id)));
      return {
        async send() {
          for (const address of ['192.0.2.1', '198.51.100.1']) {
            for (const used of [stored, key]) if (used !== undefined) lastUsed.note(used.id, id, requestFrom(address));
            await lastUsed.flush();
          }
          return service.call('GET', `${api}/me`, { token });
        },
      };
    },
  },
  'a first sign-in with a provider': {
    actions: ['account.create', 'session.start'],
    async prepare({ service }) {
      const jar = openJar(service);
      const sub = newId('user');
      const query = issuer.authorize(await startTrip(jar), { claims: { sub, email: `${sub}@example.org` } });
      return {
        secrets: [query.get('code') ?? '', query.get('state') ?? ''],
        async send() {
          await endTrip(jar, query);
          return jar.call('GET', '/session');
        },
      };
    },
  },
  'linking an account at a provider': {
    actions: ['identity.link'],
    async prepare({ service }) {
      const { id, jar } = await signUpPerson(service);
      const query = issuer.authorize(await startTrip(jar, { path: '/link' }), { claims: { sub: newId('user') } });
      return {
        by: id,
        async send() {
          await endTrip(jar, query);
          return jar.call('GET', '/session');
        },
      };
    },
  },
  'confirming the session with a provider': {
    actions: ['session.confirm'],
    async prepare(world) {
      const { id, jar, sub } = await personOfProvider(world);
      const query = issuer.authorize(await startTrip(jar, { path: '/confirm' }), { claims: { sub } });
      return {
        by: id,
        async send() {
          await endTrip(jar, query);
          return jar.call('GET', '/session');
        },
      };
    },
  },
  'deleting an account that is in an application': {
    actions: ['account.delete', 'account.delete'],
    prepare: async (world) => {
      const { user, password } = await personOf(world);
      await makeGuest(world.service, world.owner, world.appId, 'leaving', user);
      return calling(world, user, 'POST', '/me/deletion', { password }, [password]);
    },
  },
  'the operator’s rotation and revocation of a signing key': {
    actions: ['signing_key.create', 'signing_key.create', 'signing_key.revoke'],
    prepare: async ({ service }) => ({
      async send() {
        const { deps } = service.services;
        const { key } = await rotateSigningKey(deps, 0);
        await revokeSigningKey(deps, key.id); // which creates another
        return service.call('GET', '/.well-known/tenon-signing-keys.json');
      },
    }),
  },
  'a roll-out that moves on, is halted by reports, and is superseded': {
    actions: [
      'roll_out.start',
      'plugin.publish',
      'roll_out.advance',
      'roll_out.halt',
      'extension_point.update',
      'roll_out.supersede',
      'plugin.publish',
    ],
    prepare: async (world) => {
      const { service, owner, guest, appId } = world;
      const at = await makeExtensionPoint(service, owner, appId);
      const [first, second] = [1, 2].map((percent) => ({ percent, holdSeconds: percent - 1 }));
      const settings = (rollOut: unknown) =>
        ok(service, 'PUT', `${api}/extension-points/${at}`, { token: owner.token, json: { rollOut } });
      await settings({ steps: [first, second], halt: null });
      await publishAs(service, guest, at, 'staged', freshModule());
      return {
        async send() {
          const { deps } = service.services;
          await publishAs(service, guest, at, 'staged', freshModule());
          await advanceRollOuts(deps);
          const [rollOut] = await service.store.read.openRollOuts([
            { extensionPointId: at as ExtensionPointId, userId: guest.id, name: 'staged' },
          ]);
          assert.equal(rollOut?.step, 1);
          await service.store.write((tx) => haltRollOut(deps, tx, rollOut, 'errors'));
          await settings(null);
          await publishAs(service, guest, at, 'staged', freshModule());
          return service.call('GET', `${api}/me`, { token: guest.token });
        },
      };
    },
  },
  'a webhook whose receiver is gone': {
    actions: ['webhook.create', 'webhook.disable', 'webhook.test'],
    prepare: async (world) => ({
      async send() {
        const { service } = world;
        const id = (await freshWebhook(world)) as WebhookId;
        await ok(service, 'POST', `${api}/apps/${world.appId}/webhooks/${id}/test`, world.owner);
        const [delivery] = await service.store.read.webhookDeliveries(id, undefined, { limit: 1 });
        assert.ok(delivery);
        const gone = { status: 410, error: 'status', response: '', durationMs: 1 } as const;
        await settleDelivery(service.services.deps, delivery, gone);
        return service.call('GET', `${api}/me`, { token: world.owner.token });
      },
    }),
  },
  'the operator’s links and accounts': {
    actions: [
      'account.create',
      'account.password_link',
      'link.create',
      'operator.grant',
      'operator.revoke',
      'token.create',
    ],
    prepare: async ({ service }) => ({
      async send() {
        const { deps } = service.services;
        const { id, token } = await service.user('Made by the operator');
        await createPasswordLink(deps, 'operator', id, `${id}@example.org`);
        await createSetUpLink(deps, false);
        await setOperator(deps, 'operator', id, true);
        await setOperator(deps, 'operator', id, true); // which is so already
        await setOperator(deps, 'operator', id, false);
        await setOperator(deps, 'operator', id, false);
        return service.call('GET', `${api}/me`, { token });
      },
    }),
  },
};

describe('the audit trail', () => {
  let service: TestService;
  let world: World;
  const seen = new Set<AuditAction>();
  before(async () => {
    issuer = await openIssuer();
    service = await openService({
      simulator: scriptedSimulator(async () => reportOf('passed')),
      config: {
        codeTriesPerMinute: 1000,
        deviceLoginsPerMinute: 1000,
        accountTriesPerHour: 1000,
        smtp: noMailServer,
        signIn: { passwordSignIn: true, providers: [providerOf(issuer.url)], warnings: [] },
      },
    });
    world = await makeWorld(service);
  });
  after(async () => {
    await service.close();
    await issuer.close();
  });

  async function newRows(work: () => Promise<unknown>): Promise<AuditEventRecord[]> {
    const all = async () => {
      const events: AuditEventRecord[] = [];
      for (let after: string | undefined; ; ) {
        const page = await service.store.read.auditOfAll({}, { after, limit: 1000 });
        events.push(...page);
        const last = page.at(-1);
        if (last === undefined) return events;
        after = auditCursor(last);
      }
    };
    const known = new Set((await all()).map(({ id }) => id));
    await work();
    return (await all()).filter(({ id }) => !known.has(id));
  }

  it('has a row for every route that changes something', () => {
    const changing = allRoutes.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual([...Object.keys(rows), ...Object.keys(changeless)].sort(), changing.sort());
  });

  for (const [name, { actions, prepare }] of Object.entries({ ...rows, ...others })) {
    it(`records ${name}: ${actions.join(', ')}`, async () => {
      const { by, secrets = [], send } = await prepare(world);
      let answer = '';
      const reported = await newRows(async () => {
        const response = await send();
        assert.ok(response.statusCode < 300 || /^an authorization code|^a refused/.test(name), response.payload);
        answer = `${response.payload} ${JSON.stringify(response.headers)}`;
      });
      assert.deepEqual(reported.map(({ action }) => action).sort(), [...actions].sort());
      for (const event of reported) {
        seen.add(event.action);
        if (by !== undefined) assert.equal(event.userId, by);
        assertWhole(event);
        assertDiscreet(event, [...secrets, ...secretsIn(answer)]);
      }
    });
  }

  for (const [name, call] of Object.entries(changeless)) {
    it(`records nothing for ${name}`, async () => {
      const reported = await newRows(async () => {
        const response = await call(world);
        assert.ok(response.statusCode < 300, response.payload);
      });
      // What is left is of those who were made to call it.
      const ofCallers: readonly AuditAction[] = ['account.create', 'session.start', 'link.create', 'guest.invite'];
      const rest = reported.filter(({ action, by }) => !ofCallers.includes(action) && by !== 'operator');
      assert.deepEqual(rest, []);
    });
  }

  it('covers every audit action', () => {
    assert.deepEqual([...seen].sort(), Object.keys(auditActions).sort());
  });
});

/** Says who and what, with names, and no more than its action has. */
function assertWhole(event: AuditEventRecord): void {
  const { action, by, details, userId, userName, viaId, targetId, appId, accountId } = event;
  const info = auditActions[action];
  assert.equal(by === 'user', userId !== null && userName !== null && userName !== '');
  if (by === 'user') assert.equal(accountId, userId, 'in the trail of the actor');
  if (info.trail === 'app') assert.ok(appId !== null);
  if (info.trail === 'account') assert.equal(appId, null);
  assert.notEqual(targetId, '');
  const names: readonly string[] = info.details;
  for (const name of Object.keys(details)) assert.ok(names.includes(name) || name === 'guestIds', `${action}: ${name}`);
  const isByLink = action === 'account.verify_email' || action === 'account.email_change' || 'mutedNotices' in details;
  const comesFromNowhere = [
    'account.create',
    'account.password_reset',
    'recovery_codes.use',
    'account.delete',
    'token.create',
  ];
  if (by === 'user' && viaId === null)
    assert.ok(isByLink || comesFromNowhere.includes(action), `${action} says from where`);
}

/** Says nothing that opens anything, and guest keys where only owners read them. */
function assertDiscreet({ guestKeys, ...event }: AuditEventRecord, secrets: readonly string[]): void {
  const text = JSON.stringify(event);
  assert.doesNotMatch(text, /tn[nk]_|whsec_|argon2|"password":/);
  for (const secret of secrets) assert.ok(secret.length > 0 && !text.includes(secret), `${secret} in ${text}`);
  for (const key of Object.values(guestKeys ?? {})) assert.ok(!text.includes(key), `${key} in ${text}`);
}

/** What an answer hands out that is not to be kept: codes, cookies, tokens. */
function secretsIn(answer: string): string[] {
  const patterns = [/[?&#]code=([\w-]+)/g, /tenon-(?:session|browser)=([\w-]{20,})/g, /(tn[nk]_\w+)/g];
  return patterns.flatMap((pattern) => [...answer.matchAll(pattern)].map(([, secret = '']) => secret));
}

const aWebhook = { url: 'https://hooks.example.org/s3cret', actions: ['plugin.publish'] };

async function freshWebhook({ service, owner, appId }: World): Promise<string> {
  const options = { token: owner.token, json: aWebhook };
  return (await ok<{ id: string }>(service, 'POST', `${api}/apps/${appId}/webhooks`, options)).id;
}

/** A change of a fresh webhook. */
async function inWebhook(world: World, method: string, rest: string, json?: unknown): Promise<Change> {
  const path = `/apps/${world.appId}/webhooks/${await freshWebhook(world)}${rest}`;
  return calling(world, world.owner, method, path, json, ['s3cret']);
}

function trustRuleOf({ guestId }: World) {
  return { guestId, provider: 'github', claims: { repository: 'octo/median' } };
}
