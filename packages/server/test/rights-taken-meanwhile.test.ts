import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AppId, GuestId } from '@tenon/protocol';
import { setOperator, suspendUser } from '../src/auth/manage-users.ts';
import { hashSecret } from '../src/auth/secrets.ts';
import type { Store } from '../src/db/store.ts';
import type { Deps } from '../src/deps.ts';
import { signIn, signUpPerson } from './helpers/jar.ts';
import { openService, type TestService } from './helpers/service.ts';
import { invite, listOfInvitations, makeWorld, ok, tinyModule, type World } from './helpers/world.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const api = '/api/v1';
const inApp = (method: string, rest: string, json?: unknown) => (world: World) => ({
  method,
  path: `${api}/apps/${world.appId}${rest}`,
  json,
});
const atPoint = (method: string, rest: string, json?: unknown) => (world: World) => ({
  method,
  path: `${api}/extension-points/${world.extensionPointId}${rest}`,
  json,
});
const ofPlugin = (method: string, rest: string, json?: unknown) => (world: World) => ({
  method,
  path: `${api}/artifacts/${world.plugin.id}${rest}`,
  json,
});

/** What a manager does to an application and what is in it; the owner's part is in it as well. */
const byOwner: Readonly<Record<string, (world: World) => Request | Promise<Request>>> = {
  'renames the application': inApp('PUT', '', { name: 'Other' }),
  'deletes the application': inApp('DELETE', ''),
  'invites a member': inApp('POST', '/members', { role: 'admin' }),
  'changes the role of a member': (world) => inApp('PUT', `/members/${world.viewer.id}`, { role: 'admin' })(world),
  'removes a member': (world) => inApp('DELETE', `/members/${world.viewer.id}`)(world),
  'invites a guest': inApp('POST', '/guests', { deliveryMethod: 'link', guestKey: 'customers/new' }),
  'removes a guest': (world) => inApp('DELETE', `/guests/${world.guestId}`)(world),
  'removes a user of a guest': (world) => inApp('DELETE', `/guests/${world.guestId}/users/${world.guest.id}`)(world),
  'revokes an invitation': async (world) => {
    const pending = (await listOfInvitations(world)).find(({ status }) => status === 'pending');
    return inApp('DELETE', `/invitations/${pending?.id}`)(world);
  },
  'makes an extension point': inApp('POST', '/extension-points', { name: 'Other' }),
  'changes an extension point': atPoint('PUT', '', { name: 'Other' }),
  'deletes an extension point': atPoint('DELETE', ''),
  'pins a binding': (world) => atPoint('PUT', `/guests/${world.guestId}/pins/median`, { version: 1 })(world),
  'blocks a plugin': ofPlugin('PUT', '/block', { reason: 'It is slow.' }),
  'yanks a version': ofPlugin('POST', '/versions/1/yank', { reason: 'It is wrong.' }),
  'rolls a plugin back': ofPlugin('POST', '/rollback', { version: 1 }),
  'deletes a plugin': ofPlugin('DELETE', ''),
};

const byGuest: Readonly<Record<string, (world: World) => Request>> = {
  'publishes a further version': (world) => ({
    method: 'PUT',
    path: `${api}/artifacts/${world.plugin.id}`,
    body: tinyModule(2),
    headers: { 'content-type': 'application/wasm' },
  }),
  'yanks a version': ofPlugin('POST', '/versions/1/yank', { reason: 'It is wrong.' }),
  'rolls a plugin back': ofPlugin('POST', '/rollback', { version: 1 }),
  'deletes a plugin': ofPlugin('DELETE', ''),
};

/** What an operator does to another user, who is made for it. */
const byOperator: Readonly<Record<string, readonly [method: string, rest: string, json?: unknown]>> = {
  'suspends a user': ['PUT', '/suspension'],
  'ends a suspension': ['DELETE', '/suspension'],
  'makes an operator': ['PUT', '/operator'],
  'revokes the operator role': ['DELETE', '/operator'],
  'creates a password link': ['POST', '/password-link', { email: 'late@example.org' }],
  'deletes a user': ['DELETE', ''],
};

/** Changes that any account makes, which a token that was revoked meanwhile must not make. */
const byAnybody: Readonly<Record<string, (world: World) => Request | Promise<Request>>> = {
  'makes an application': () => ({ method: 'POST', path: `${api}/apps`, json: { name: 'Late' } }),
  'makes a token': () => ({ method: 'POST', path: `${api}/tokens`, json: { name: 'Late' } }),
  'makes an API key': () => ({ method: 'POST', path: `${api}/api-keys`, json: { name: 'Late' } }),
  'revokes another token': async ({ service, owner }) => {
    const other = await service.token(owner.id);
    const { token } = await ok<{ token: { id: string } }>(service, 'GET', `${api}/me`, { token: other });
    return { method: 'DELETE', path: `${api}/tokens/${token.id}` };
  },
  'revokes an API key': async ({ service, owner }) => {
    const json = { name: 'kept' };
    const { id } = await ok<{ id: string }>(service, 'POST', `${api}/api-keys`, { token: owner.token, json });
    return { method: 'DELETE', path: `${api}/api-keys/${id}` };
  },
  'renames the account': () => ({ method: 'PUT', path: `${api}/me`, json: { name: 'Late' } }),
  'accepts an invitation': async ({ service, owner, appId }) => ({
    method: 'POST',
    path: `${api}/invitations/accept`,
    json: { code: await invite(service, owner, appId, 'customers/late') },
  }),
  'declines an invitation': async ({ service, owner, appId }) => ({
    method: 'POST',
    path: `${api}/invitations/decline`,
    json: { code: await invite(service, owner, appId, 'customers/late') },
  }),
};

describe('a right that is taken away just before the transaction of a change', () => {
  let service: TestService;
  let world: World;
  /** Runs once, before the next transaction that a request makes. */
  let meanwhile: (() => Promise<unknown>) | undefined;

  before(async () => {
    service = await openService({
      replace: ({ deps }) => {
        const store: Store = {
          ...deps.store,
          async write(work) {
            const first = meanwhile;
            meanwhile = undefined;
            await first?.();
            return deps.store.write(work);
          },
        };
        return { deps: { ...deps, store } satisfies Deps };
      },
    });
    world = await makeWorld(service);
    await invite(service, world.owner, world.appId, 'customers/pending');
  });
  after(() => service.close());

  async function answerOf(request: Request, token: string, takeAway: () => Promise<unknown>): Promise<number> {
    const { method, path, ...rest } = request;
    meanwhile = takeAway;
    const { statusCode } = await service.call(method, path, { token, ...rest });
    assert.equal(meanwhile, undefined, 'it came to the transaction');
    return statusCode;
  }

  async function revoke(secret: string): Promise<void> {
    await service.store.write(async (tx) => {
      const token = await tx.tokenByHash(hashSecret(secret));
      assert.ok(token);
      await tx.deleteToken(token.id);
    });
  }

  for (const [what, requestOf] of Object.entries(byOwner)) {
    it(`keeps one who was a manager from it: ${what}`, async () => {
      const { appId, admin, service } = world;
      const request = await requestOf(world);
      const isOwners = /member|deletes the application/.test(what);
      // Another owner stays, so that the application always has one.
      const who = isOwners ? await service.user('Second owner') : admin;
      const role = isOwners ? 'owner' : 'admin';
      await service.store.write((tx) => tx.putMember({ appId: appId as AppId, userId: who.id, role, createdAtMs: 1 }));
      const takeAway = () => service.store.write((tx) => tx.deleteMember(appId as AppId, who.id));
      assert.equal(await answerOf(request, who.token, takeAway), 404);
    });
  }

  for (const [what, [method, rest, json]] of Object.entries(byOperator)) {
    it(`keeps one who was an operator from it: ${what}`, async () => {
      const { deps } = service.services;
      for (const [takeAway, status] of [
        [setOperator, 403],
        [suspendUser, 401], // it revokes the token
      ] as const) {
        const [operator, user] = [await service.user('Olga'), await service.user('Una')];
        for (const { id } of [operator, await service.user('Oscar')]) await setOperator(deps, 'operator', id, true);
        const request = { method, path: `${api}/users/${user.id}${rest}`, json };
        assert.equal(
          await answerOf(request, operator.token, () => takeAway(deps, 'operator', operator.id, false)),
          status,
        );
      }
    });
  }

  for (const [what, requestOf] of Object.entries(byGuest)) {
    it(`keeps one who held a guest from it: ${what}`, async () => {
      const { guest, guestId } = world;
      // The claim stays, so that the plugin is as before for the next one.
      const takeAway = () => service.store.write((tx) => tx.deleteGuestUser([guestId as GuestId], guest.id));
      const status = await answerOf(requestOf(world), guest.token, takeAway);
      await service.store.write((tx) =>
        tx.putGuestUser({ guestId: guestId as GuestId, userId: guest.id, acceptedAtMs: 1 }),
      );
      assert.ok([403, 404].includes(status), String(status));
    });
  }

  for (const [what, requestOf] of Object.entries({ ...byOwner, ...byAnybody })) {
    it(`refuses a token that was revoked: ${what}`, async () => {
      const { id } = world.owner;
      const token = await service.token(id);
      assert.equal(await answerOf(await requestOf(world), token, () => revoke(token)), 401);
    });
  }

  for (const [what, requestOf] of Object.entries(byGuest)) {
    it(`refuses a publisher's token that was revoked: ${what}`, async () => {
      const token = await service.token(world.guest.id);
      assert.equal(await answerOf(requestOf(world), token, () => revoke(token)), 401);
    });
  }

  it('rejects the token of a page whose session ended', async () => {
    const person = await signUpPerson(service);
    const token = await person.jar.token();
    const takeAway = () => service.store.write((tx) => tx.deleteSessionsOf(person.id));
    const request = { method: 'POST', path: `${api}/apps`, json: { name: 'Late' } };
    assert.equal(await answerOf(request, token, takeAway), 401);
  });

  it('rejects a token of a session that a password change in another session ended', async () => {
    const person = await signUpPerson(service);
    const elsewhere = await (await signIn(service, person)).token();
    const token = await person.jar.token();
    const json = { currentPassword: person.password, newPassword: 'heron quartz 88 lantern' };
    const takeAway = () => ok(service, 'PUT', `${api}/me/password`, { token: elsewhere, json });
    assert.equal(await answerOf({ method: 'POST', path: `${api}/apps`, json: { name: 'Late' } }, token, takeAway), 401);
  });

  it('does not confirm a session with a password that changed during its verification', async () => {
    const person = await signUpPerson(service);
    const token = await service.token(person.id);
    const json = { currentPassword: person.password, newPassword: 'heron quartz 88 lantern' };
    meanwhile = () => ok(service, 'PUT', `${api}/me/password`, { token, json });
    const { statusCode } = await person.jar.call('POST', '/session/confirm', { password: person.password });
    assert.equal(meanwhile, undefined);
    assert.equal(statusCode, 401);
  });

  it('does not delete an account whose password changed during the verification of the old one', async () => {
    const person = await signUpPerson(service);
    const token = await service.token(person.id);
    const takeAway = async () => {
      await service.store.write((tx) => tx.putPassword({ userId: person.id, hash: 'changed', updatedAtMs: 1 }));
    };
    const request = { method: 'POST', path: `${api}/me/deletion`, json: { password: person.password } };
    assert.equal(await answerOf(request, token, takeAway), 409);
  });

  it('leaves all data unchanged', async () => {
    const { owner, appId, extensionPointId } = world;
    const app = await ok<{ name: string }>(service, 'GET', `${api}/apps/${appId}`, { token: owner.token });
    assert.equal(app.name, 'Acme');
    const point = await ok<{ name: string }>(service, 'GET', `${api}/extension-points/${extensionPointId}`, {
      token: owner.token,
    });
    assert.equal(point.name, 'Formulas');
    const path = `${api}/artifacts/${world.plugin.id}/versions`;
    const versions = await ok<{ objects: { state: string }[] }>(service, 'GET', path, { token: owner.token });
    assert.deepEqual(
      versions.objects.map(({ state }) => state),
      ['published'],
    );
  });
});
