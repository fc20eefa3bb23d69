import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type ApiKeyCreated,
  type App,
  type AppAuditEntry,
  cliClientId,
  type DeviceAuthorization,
  type ExtensionPoint,
  oauthPaths,
  type Plugin,
  type TokenCreated,
} from '@tenon/protocol';
import { setOperator } from '../src/auth/manage-users.ts';
import { authorizationQuery, postForm } from './helpers/browser.ts';
import { goodPassword, type Person, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { formOf, type List, makeGuest, makeMember, ok, publishAs, tinyModule } from './helpers/world.ts';

const api = '/api/v1';
const dayMs = 24 * 60 * 60 * 1000;

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

describe('a session that was confirmed long ago', () => {
  let victim: Person;
  let thief: Person;
  let appId: string;
  let extensionPointId: string;
  let userCode: string;
  let awaiting: string;
  let blocked: string;
  let other: string;
  let cooling: string;
  let publisher: string;
  let withdrawn: string;
  let stagedPointId: string;
  let staged: string;
  let paused: string;
  let lostGuestId: string;
  let joinedAppId: string;

  const call = async (method: string, path: string, json?: unknown) =>
    path.startsWith('/session/')
      ? victim.jar.call(method, path, json)
      : service.call(method, api + path, { token: await victim.jar.token(), json });

  before(async () => {
    [victim, thief] = [await signUpPerson(service), await signUpPerson(service, { name: 'Thief' })];
    appId = (await call('POST', '/apps', { name: 'Production' })).json<App>().id;
    const point = { name: 'e', requiresApproval: true };
    extensionPointId = (await call('POST', `/apps/${appId}/extension-points`, point)).json<ExtensionPoint>().id;
    const [owner, member] = [await victim.jar.token(), await thief.jar.token()];
    await makeMember(service, { token: owner }, appId, 'viewer', { token: member });
    const guest = await service.user('Guest');
    await makeGuest(service, { id: victim.id, token: owner }, appId, 'acme', guest);
    const publish = async (name: string, size: number) =>
      `/artifacts/${(await publishAs(service, guest, extensionPointId, name, tinyModule(size))).id}`;
    [awaiting, blocked, other] = [await publish('one', 1), await publish('two', 2), await publish('three', 3)];
    assert.equal((await call('PUT', `${blocked}/block`, { reason: 'Spies.' })).statusCode, 200);
    const aged = (
      await call('POST', `/apps/${appId}/extension-points`, { name: 'a', minVersionAgeSeconds: 3600 })
    ).json();
    await call('PUT', `/extension-points/${extensionPointId}`, { minVersionAgeSeconds: 3600 });
    cooling = `/artifacts/${(await publishAs(service, guest, aged.id, 'four', tinyModule(4))).id}`;
    const rollOut = { steps: [{ percent: 1, holdSeconds: null }], halt: null };
    stagedPointId = (await call('POST', `/apps/${appId}/extension-points`, { name: 's', rollOut })).json().id;
    const stage = async (name: string, size: number) => {
      await publishAs(service, guest, stagedPointId, name, tinyModule(size));
      const { id } = await publishAs(service, guest, stagedPointId, name, tinyModule(size + 1));
      return `/artifacts/${id}/versions/2/roll-out`;
    };
    [staged, paused] = [await stage('staged', 6), await stage('paused', 8)];
    assert.equal((await call('POST', `${paused}/pause`)).statusCode, 200);
    const otherGuest = await service.user('Other');
    await makeGuest(service, { id: victim.id, token: owner }, appId, 'other', otherGuest);
    publisher = otherGuest.id;
    lostGuestId = await makeGuest(service, { id: victim.id, token: owner }, appId, 'lost', await service.user('Lost'));
    const boss = await service.user('Boss');
    joinedAppId = (await ok<App>(service, 'POST', `${api}/apps`, { token: boss.token, json: { name: 'Joined' } })).id;
    await makeMember(service, boss, joinedAppId, 'viewer', { token: owner });
    const gone = await publish('five', 5);
    const { contentAddress } = (await call('GET', gone)).json<Plugin>();
    assert.equal((await call('POST', `${gone}/versions/1/reject`, { reason: 'why' })).statusCode, 200);
    await ok(service, 'DELETE', api + gone, { token: guest.token });
    withdrawn = `${guest.id}/${contentAddress}`;
    const blocking = await call('PUT', `/apps/${appId}/publishers/${publisher}/block`, { reason: 'Spies.' });
    assert.equal(blocking.statusCode, 200);
    await setOperator(service.services.deps, 'operator', victim.id, true);
    service.advance(5 * 60_000);
    const started = await postForm(service, oauthPaths.deviceAuthorization, { client_id: cliClientId });
    userCode = started.json<DeviceAuthorization>().user_code;
  });

  const farReaching: Readonly<Record<string, () => [method: string, path: string, json?: unknown]>> = {
    'a token that reads': () => ['POST', '/tokens', { name: 'x', scopes: ['read'] }],
    'a token that publishes': () => ['POST', '/tokens', { name: 'x', scopes: ['read', 'publish'] }],
    'a token of all scopes': () => ['POST', '/tokens', { name: 'x' }],
    'a login of a program on this machine': () => [
      'POST',
      '/session/authorization',
      { request: authorizationQuery({ scope: 'read' }), decision: 'approve' },
    ],
    'a login of another machine': () => ['POST', '/session/device', { userCode, decision: 'approve' }],
    'an API key': () => ['POST', '/api-keys', { name: 'x' }],
    'turning approval off': () => ['PUT', `/extension-points/${extensionPointId}`, { requiresApproval: false }],
    'approving a version': () => ['POST', `${awaiting}/versions/1/approve`, {}],
    'lowering the minimum age': () => ['PUT', `/extension-points/${extensionPointId}`, { minVersionAgeSeconds: 0 }],
    'releasing a version early': () => ['POST', `${cooling}/versions/1/release`, { reason: 'why' }],
    'resuming a roll-out': () => ['POST', `${paused}/resume`],
    'promoting a version': () => ['POST', `${staged}/promote`],
    'changing the plan of roll-outs': () => ['PUT', `/extension-points/${stagedPointId}`, { rollOut: null }],
    'unblocking a publisher': () => ['DELETE', `/apps/${appId}/publishers/${publisher}/block`],
    'ending a withdrawal': () => ['DELETE', `/extension-points/${extensionPointId}/withdrawals/${withdrawn}`],
    'removing a guest': () => ['DELETE', `/apps/${appId}/guests/${lostGuestId}`],
    'leaving a team': () => ['DELETE', `/apps/${joinedAppId}/membership`],
    'a mass yank': () => ['POST', `/apps/${appId}/published-versions/yank`, { userId: thief.id, reason: 'why' }],
    'unblocking a plugin': () => ['DELETE', `${blocked}/block`],
    'deleting a plugin': () => ['DELETE', blocked],
    'an invitation of a viewer': () => ['POST', `/apps/${appId}/members`, { role: 'viewer' }],
    'the role of a member': () => ['PUT', `/apps/${appId}/members/${thief.id}`, { role: 'viewer' }],
    'a passkey': () => ['POST', '/session/passkeys/options', {}],
    'another e-mail address': () => ['PUT', '/me/email', { email: 'victim-2@example.org' }],
    'an invitation of an owner': () => ['POST', `/apps/${appId}/members`, { role: 'owner' }],
    'another owner': () => ['PUT', `/apps/${appId}/members/${thief.id}`, { role: 'owner' }],
    'removing a member': () => ['DELETE', `/apps/${appId}/members/${thief.id}`],
    'deleting an extension point': () => ['DELETE', `/extension-points/${extensionPointId}`],
    'deleting an application': () => ['DELETE', `/apps/${appId}`],
    'a link that sets the password of another user': () => ['POST', `/users/${thief.id}/password-link`, {}],
    'another operator': () => ['PUT', `/users/${thief.id}/operator`],
    'revoking the operator role': () => ['DELETE', `/users/${thief.id}/operator`],
    'suspending a user': () => ['PUT', `/users/${thief.id}/suspension`],
    'ending a suspension': () => ['DELETE', `/users/${thief.id}/suspension`],
    'deleting a user': () => ['DELETE', `/users/${thief.id}`],
  };

  for (const [what, request] of Object.entries(farReaching)) {
    it(`needs it again for ${what}`, async () => {
      assertProblem(await call(...request()), 403, 'step_up_required');
    });
  }

  it("doesn't need it for other changes", async () => {
    const point = `/extension-points/${extensionPointId}`;
    assert.equal((await call('PUT', point, { name: 'f' })).statusCode, 200);
    assert.equal((await call('PUT', point, { requiresApproval: true })).statusCode, 200);
    assert.equal((await call('PUT', `/apps/${appId}`, { name: 'Renamed' })).statusCode, 200);
    const denied = { request: authorizationQuery({}), decision: 'deny' };
    assert.equal((await call('POST', '/session/authorization', denied)).statusCode, 200);
  });

  it('blocks a plugin at once, marks the block, and confirms it after step-up', async () => {
    const path = `${other}/block`;
    const json = { reason: 'Spies.' };
    assert.equal((await call('PUT', path, json)).json<Plugin>().status.isUnconfirmed, true);
    const token = await service.token(victim.id);
    const blocks = async () => {
      const list = await ok<List<AppAuditEntry>>(service, 'GET', `${api}/apps/${appId}/audit?action=plugin.block`, {
        token,
      });
      return list.objects.map(({ details }) => details.isConfirmed);
    };
    assert.deepEqual(await blocks(), [false, undefined]);
    assert.equal((await victim.jar.call('POST', '/session/confirm', { password: goodPassword })).statusCode, 204);
    assert.equal((await call('PUT', path, json)).json<Plugin>().status.isUnconfirmed, undefined);
    assert.deepEqual(await blocks(), [undefined, false, undefined]);
    service.advance(5 * 60_000);
  });

  it("doesn't affect a program’s token, which was granted with step-up", async () => {
    const token = await service.token(victim.id);
    const app = await ok<App>(service, 'POST', `${api}/apps`, { token, json: { name: 'By a program' } });
    assert.equal((await service.call('DELETE', `${api}/apps/${app.id}`, { token })).statusCode, 204);
  });

  it('may make all of these changes once it is confirmed', async () => {
    assert.equal((await victim.jar.call('POST', '/session/confirm', { password: goodPassword })).statusCode, 204);
    for (const request of Object.values(farReaching)) {
      const { statusCode, payload } = await call(...request());
      assert.ok(statusCode < 300, payload);
    }
  });
});

describe('the lifetime of a token', () => {
  const daysOf = ({ expiresAt }: { expiresAt: string }) =>
    Math.round((Date.parse(expiresAt) - service.services.deps.clock()) / dayMs);

  it('is 90 days for reading and 7 for more by default, and at most 90 for more', async () => {
    const { id } = await service.user();
    const token = await service.token(id, { lifetimeMs: 4000 * dayMs });
    const make = (json: object) => service.call('POST', `${api}/tokens`, { token, json: { name: 'x', ...json } });
    const days = async (json: object) => daysOf((await make(json)).json<TokenCreated>());
    assert.equal(await days({ scopes: ['read'] }), 90);
    assert.equal(await days({ scopes: ['read'], expiresInDays: 3650 }), 3650);
    for (const scopes of [['publish'], ['read', 'publish'], ['manage'], undefined]) {
      assert.equal(await days({ scopes }), 7);
      assert.equal(await days({ scopes, expiresInDays: 90 }), 90);
      const { detail, errors } = assertProblem(await make({ scopes, expiresInDays: 91 }), 422, 'invalid_field');
      assert.match(detail, /at most 90 \(got 91\)/);
      assert.equal(errors?.[0]?.pointer, '/expiresInDays');
    }
  });

  it('is not longer than that of the program’s token that creates it', async () => {
    const { id } = await service.user();
    const token = await service.token(id, { lifetimeMs: 2 * dayMs });
    const json = { name: 'x', expiresInDays: 3 };
    assertProblem(await service.call('POST', `${api}/tokens`, { token, json }), 403, 'forbidden');
    assertProblem(await service.call('POST', `${api}/api-keys`, { token, json }), 403, 'forbidden');
    const made = await ok<TokenCreated>(service, 'POST', `${api}/tokens`, { token, json: { name: 'x' } });
    const key = await ok<ApiKeyCreated>(service, 'POST', `${api}/api-keys`, { token, json: { name: 'x' } });
    assert.deepEqual([daysOf(made), daysOf(key)], [2, 2]);
  });
});

describe('an API key', () => {
  const instrument = (token: string) =>
    service.call('POST', '/instrument', { token, ...formOf([{ name: 'wasm', content: tinyModule(1) }]) });
  const make = (token: string, json: object = { name: 'x' }) =>
    ok<ApiKeyCreated>(service, 'POST', `${api}/api-keys`, { token, json });

  it('expires after 90 days or the requested number, at most 365', async () => {
    const { id } = await service.user();
    const token = await service.token(id, { lifetimeMs: 400 * dayMs });
    const [usual, short] = [await make(token), await make(token, { name: 'y', expiresInDays: 1 })];
    const tooLong = await service.call('POST', `${api}/api-keys`, { token, json: { name: 'z', expiresInDays: 366 } });
    assertProblem(tooLong, 422, 'invalid_field');
    const { objects } = await ok<List<ApiKeyCreated>>(service, 'GET', `${api}/api-keys`, { token });
    assert.deepEqual(
      objects.map(({ expiresAt }) => expiresAt),
      [usual.expiresAt, short.expiresAt],
    );
    assert.equal((await instrument(short.apiKey)).statusCode, 200);
    service.advance(dayMs + 1);
    assertProblem(await instrument(short.apiKey), 401, 'invalid_token');
    assert.equal((await instrument(usual.apiKey)).statusCode, 200);
    service.advance(89 * dayMs);
    assertProblem(await instrument(usual.apiKey), 401, 'invalid_token');
  });

  it('expires with the program’s token that created it', async () => {
    const { id } = await service.user();
    const token = await service.token(id);
    const maker = await ok<TokenCreated>(service, 'POST', `${api}/tokens`, { token, json: { name: 'maker' } });
    const key = await make(maker.token);
    assert.equal((await instrument(key.apiKey)).statusCode, 200);
    await ok(service, 'DELETE', `${api}/tokens/${maker.id}`, { token });
    assertProblem(await instrument(key.apiKey), 401, 'invalid_token');
    assert.deepEqual(await ok(service, 'GET', `${api}/api-keys`, { token }), { objects: [] });
  });

  it('that is created in a browser does not end with the session', async () => {
    const person = await signUpPerson(service);
    const key = await make(await person.jar.token());
    await person.jar.call('DELETE', '/session');
    assert.equal((await instrument(key.apiKey)).statusCode, 200);
  });
});
