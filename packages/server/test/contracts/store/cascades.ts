import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../../src/db/store.ts';
import { createRecords, withoutTeamFields } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** What goes with what is deleted, and what stays. */
export function cascadesContract(backend: Backend): void {
  describe('deletions', () => {
    const store = opened(backend, backend.openStore);

    it('deleteApp() deletes everything of the application, and nothing of another', async () => {
      const doomed = await populate(store.it);
      const kept = await populate(store.it);
      await store.it.write((tx) => tx.deleteApp(doomed.app.id));

      assert.deepEqual(await whatIsLeft(store.it, doomed), ['owner', 'freeToken']);
      assert.deepEqual(await whatIsLeft(store.it, kept), everything);
      assert.deepEqual(await store.it.read.appsOf(doomed.owner.id, undefined, {}), []);
      assert.deepEqual(await store.it.read.appsOf(doomed.publisher.id, undefined, {}), []);
      assert.equal(
        await store.it.read.mayReadContent(doomed.owner.id, doomed.version.contentAddress, undefined),
        false,
      );
    });

    it('deleteExtensionPoint() deletes plugins, versions and bindings', async () => {
      const doomed = await populate(store.it);
      const kept = await populate(store.it);
      await store.it.write((tx) => tx.deleteExtensionPoint(doomed.extensionPoint.id));

      const taken = ['extensionPoint', 'plugin', 'binding', 'readable'];
      assert.deepEqual(
        await whatIsLeft(store.it, doomed),
        everything.filter((name) => !taken.includes(name)),
      );
      assert.deepEqual(await whatIsLeft(store.it, kept), everything);
    });

    it('deleteGuest() deletes invitations, users and bindings, keeps plugins, and frees the key', async () => {
      const doomed = await populate(store.it);
      await store.it.write((tx) => tx.deleteGuest(doomed.guest.id));

      const taken = ['guest', 'guestUser', 'invitation', 'binding'];
      assert.deepEqual(
        await whatIsLeft(store.it, doomed),
        everything.filter((name) => !taken.includes(name)),
      );
      const again = await createRecords(store.it).guest(doomed.app, doomed.guest.guestKey);
      assert.deepEqual(await store.it.read.bindings(doomed.extensionPoint.id, again.guestKey), []);
    });

    it('deleteGuestUser() deletes only the bindings of that user under that guest', async () => {
      const { app, guest, publisher, extensionPoint, version, key } = await populate(store.it);
      const records = createRecords(store.it);
      const colleague = await records.user();
      await records.hold(guest, colleague);
      const theirs = await records.binding(await records.version(key('theirs', colleague)), guest.id);
      const second = await records.guest(app);
      const elsewhere = await records.binding(version, second.id);
      await store.it.write((tx) => tx.deleteGuestUser([guest.id], publisher.id));

      assert.deepEqual(await store.it.read.bindings(extensionPoint.id, guest.guestKey), [theirs]);
      assert.deepEqual(await store.it.read.bindings(extensionPoint.id, second.guestKey), [elsewhere]);
      assert.deepEqual(await store.it.read.guestsHeldBy(publisher.id, app.id), []);
      assert.deepEqual(await store.it.read.guestsHeldBy(colleague.id, app.id), [withoutTeamFields(guest)]);
      assert.ok(await store.it.read.plugin(version));
    });

    it('frees the name of a binding for another user', async () => {
      const { guest, publisher, version, key, owner } = await populate(store.it);
      await store.it.write((tx) => tx.deleteGuestUser([guest.id], publisher.id));
      const records = createRecords(store.it);
      const successor = await records.binding(await records.version(key(version.name, owner)), guest.id);
      assert.deepEqual(await store.it.read.bindings(successor.extensionPointId, guest.guestKey), [successor]);
    });

    it('rejects dangling references', async () => {
      const { app, guest, owner, version } = await populate(store.it);
      const records = createRecords(store.it);
      await store.it.write((tx) => tx.deleteApp(app.id));
      await assert.rejects(records.guest(app));
      await assert.rejects(records.extensionPoint(app));
      await assert.rejects(records.member(app, owner));
      await assert.rejects(records.invitation(guest, owner));
      await assert.rejects(records.version(version));
      await assert.rejects(records.binding(version, guest.id));
      await assert.rejects(records.token(owner, { appId: app.id }));
    });
  });
}

type Populated = Awaited<ReturnType<typeof populate>>;

/** One of each. */
async function populate(store: Store) {
  const records = createRecords(store);
  const stage = await records.stage();
  const invitation = await records.invitation(stage.guest, stage.owner);
  const version = await records.version(stage.key('plugin'));
  await records.binding(version, stage.guest.id);
  const boundToken = await records.token(stage.owner, { appId: stage.app.id });
  const freeToken = await records.token(stage.owner);
  return { ...stage, invitation, version, boundToken, freeToken };
}

const everything = [
  'app',
  'owner',
  'member',
  'extensionPoint',
  'guest',
  'guestUser',
  'invitation',
  'plugin',
  'binding',
  'readable',
  'boundToken',
  'freeToken',
];

/** The names of those of `everything` that are still there. */
async function whatIsLeft({ read }: Store, of: Populated): Promise<string[]> {
  const responses: Record<string, unknown> = {
    app: await read.app(of.app.id),
    owner: await read.user(of.owner.id),
    member: await read.member(of.app.id, of.owner.id),
    extensionPoint: await read.extensionPoint(of.extensionPoint.id),
    guest: await read.guest(of.guest.id),
    guestUser: (await read.usersOfGuests([of.guest.id]))[0],
    invitation: await read.invitation(of.invitation.id),
    plugin: await read.plugin(of.version),
    binding: (await read.bindingsOfPlugins([of.version]))[0],
    readable: (await read.mayReadContent(of.owner.id, of.version.contentAddress, undefined)) || undefined,
    boundToken: await read.token(of.boundToken.id),
    freeToken: await read.token(of.freeToken.id),
  };
  return everything.filter((name) => responses[name] !== undefined);
}
