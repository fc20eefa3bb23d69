import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AppId, GuestId } from '@tenon/protocol';
import type { Context } from '../src/domain/context.ts';
import type { Store } from '../src/domain/ports.ts';
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
  'puts a member': (world) => inApp('PUT', `/members/${world.stranger.id}`, { role: 'admin' })(world),
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

describe('a right that is taken away just before the transaction of a change', () => {
  let service: TestService;
  let world: World;
  /** Runs once, before the next transaction that a request makes. */
  let meanwhile: (() => Promise<unknown>) | undefined;

  before(async () => {
    service = await openService({
      replace: ({ context }) => {
        const store: Store = {
          ...context.store,
          async write(work) {
            const first = meanwhile;
            meanwhile = undefined;
            await first?.();
            return context.store.write(work);
          },
        };
        return { context: { ...context, store } satisfies Context };
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

  for (const [what, requestOf] of Object.entries(byOwner)) {
    it(`keeps one who was a manager from it: ${what}`, async () => {
      const { appId, admin, owner, service } = world;
      const request = await requestOf(world);
      const isOwners = /member|deletes the application/.test(what);
      // Another owner stays, so that the application always has one.
      const who = isOwners ? await service.user('Second owner') : admin;
      const role = isOwners ? 'owner' : 'admin';
      const path = `${api}/apps/${appId}/members/${who.id}`;
      await ok(service, 'PUT', path, { token: owner.token, json: { role } });
      const takeAway = () => service.store.write((tx) => tx.deleteMember(appId as AppId, who.id));
      assert.equal(await answerOf(request, who.token, takeAway), 404);
    });
  }

  for (const [what, requestOf] of Object.entries(byGuest)) {
    it(`keeps one who held a guest from it: ${what}`, async () => {
      const { guest, guestId } = world;
      // The claim stays, so that the plugin is as before for the next one.
      const takeAway = () => service.store.write((tx) => tx.deleteGuestUser(guestId as GuestId, guest.id));
      const status = await answerOf(requestOf(world), guest.token, takeAway);
      await service.store.write((tx) =>
        tx.putGuestUser({ guestId: guestId as GuestId, userId: guest.id, acceptedAtMs: 1 }),
      );
      assert.ok([403, 404].includes(status), String(status));
    });
  }

  it('has left everything as it was', async () => {
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
