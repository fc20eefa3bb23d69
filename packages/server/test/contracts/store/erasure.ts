import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { Store } from '../../../src/db/store.ts';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

const deletion = { name: 'Deleted account', deletedAtMs: someTimeMs + 5 };

/** What a deleted account leaves behind. */
export function erasureContract(backend: Backend): void {
  describe('eraseUser()', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    const erase = ({ user }: Populated) => store.it.write((tx) => tx.eraseUser(user.id, deletion));

    it('deletes the data of only the given user', async () => {
      const stage = await records().stage();
      const doomed = await populate(store.it, stage, 'doomed');
      const kept = await populate(store.it, stage, 'kept');
      assert.deepEqual(await whatIsLeft(store.it, doomed), everything);
      await erase(doomed);
      assert.deepEqual(await whatIsLeft(store.it, doomed), []);
      assert.deepEqual(await whatIsLeft(store.it, kept), everything);
    });

    it('keeps a record with the given name, no address, and the time', async () => {
      const stage = await records().stage();
      const doomed = await populate(store.it, stage, 'doomed');
      const kept = await populate(store.it, stage, 'kept');
      await erase(doomed);
      assert.deepEqual(await store.it.read.user(doomed.user.id), { ...doomed.user, ...deletion, email: null });
      assert.deepEqual(await store.it.read.user(kept.user.id), kept.user);
    });

    it('removes the user from the lists of members and guest users', async () => {
      const stage = await records().stage();
      const doomed = await populate(store.it, stage, 'doomed');
      await erase(doomed);
      const members = await store.it.read.members(stage.app.id, {});
      assert.deepEqual(
        members.map(({ userId }) => userId),
        [stage.owner.id],
      );
      const holders = await store.it.read.usersOfGuests([stage.guest.id]);
      assert.deepEqual(
        holders.map(({ userId }) => userId),
        [stage.publisher.id],
      );
    });

    it('keeps bindings of others, and frees the names of the user', async () => {
      const stage = await records().stage();
      const doomed = await populate(store.it, stage, 'doomed');
      const theirs = await records().binding(await records().version(stage.key('theirs')), stage.guest.id);
      await erase(doomed);
      const { extensionPoint, guest } = stage;
      assert.deepEqual(await store.it.read.bindings(extensionPoint.id, guest.guestKey), [theirs]);
      const successor = await records().binding(await records().version(stage.key('doomed')), guest.id);
      assert.deepEqual(await store.it.read.binding(extensionPoint.id, guest.id, 'doomed'), successor);
    });

    it('keeps the invitations of the user, which remain valid', async () => {
      const stage = await records().stage();
      const doomed = await populate(store.it, stage, 'doomed');
      const made = await records().invitation(stage.guest, doomed.user);
      const used = await records().invitation(stage.guest, stage.owner, { signedUpUserId: doomed.user.id });
      await erase(doomed);
      assert.deepEqual(await store.it.read.invitation(made.id), made);
      assert.deepEqual(await store.it.read.invitation(used.id), used, 'and makes no second account');
    });

    it('frees the address for a new account, which inherits nothing', async () => {
      const stage = await records().stage();
      const doomed = await populate(store.it, stage, 'doomed');
      await erase(doomed);
      const successor = await records().user({ email: doomed.user.email });
      const { email } = successor;
      assert.ok(email !== null);
      assert.deepEqual(await store.it.read.userByEmail(email), successor);
      assert.equal(await store.it.read.passwordByEmail(email), undefined);
      assert.deepEqual(await store.it.read.appsOf(successor.id, undefined, {}), []);
      assert.deepEqual(await store.it.read.tokens(successor.id, undefined, {}), []);
    });

    it('does not make the store count as new', async () => {
      const { location, remove } = await backend.makeLocation();
      const other = await backend.openStore(location);
      try {
        const user = await createRecords(other).user();
        await other.write((tx) => tx.eraseUser(user.id, deletion));
        assert.equal(await other.read.anyUser(), true);
      } finally {
        await other.close();
        await remove();
      }
    });
  });
}

type Stage = Awaited<ReturnType<ReturnType<typeof createRecords>['stage']>>;
type Populated = Awaited<ReturnType<typeof populate>>;

/** A user with one of each, in an application that has others too. */
async function populate(store: Store, stage: Stage, name: string) {
  const records = createRecords(store);
  const user = await records.user({ name, email: `${newId('user')}@example.org` });
  const session = await records.session(user);
  await records.member(stage.app, user, 'admin');
  await records.hold(stage.guest, user);
  const version = await records.version(stage.key(name, user));
  const binding = await records.binding(version, stage.guest.id);
  const token = await records.token(user);
  const usedCode = await records.authorizationCode(user, { tokenId: token.id, usedAtMs: someTimeMs });
  const code = await records.authorizationCode(user);
  const approved = { status: 'approved', userId: user.id } as const;
  return {
    app: stage.app,
    guest: stage.guest,
    user,
    session,
    version,
    binding,
    token,
    usedCode,
    code,
    password: await records.password(user),
    knownBrowser: await records.knownBrowser(user),
    link: await records.oneTimeLink({ purpose: 'reset_password', userId: user.id }),
    deviceGrant: await records.deviceGrant(approved),
    boundToken: await records.token(user, { appId: stage.app.id }),
    sessionToken: await records.token(user, { sessionId: session.id }),
    apiKey: await records.apiKey(user),
  };
}

const everything = [
  'password',
  'session',
  'knownBrowser',
  'link',
  'usedCode',
  'code',
  'deviceGrant',
  'token',
  'boundToken',
  'sessionToken',
  'apiKey',
  'member',
  'guestUser',
  'plugin',
  'binding',
  'readable',
];

/** The names of those of `everything` that are still there. */
async function whatIsLeft({ read }: Store, of: Populated): Promise<string[]> {
  const holders = await read.usersOfGuests([of.guest.id]);
  const responses: Record<string, unknown> = {
    password: await read.password(of.user.id),
    session: await read.session(of.session.id),
    knownBrowser: await read.knownBrowserByHash(of.knownBrowser.secretHash),
    link: await read.oneTimeLinkByHash(of.link.codeHash),
    usedCode: await read.authorizationCodeByHash(of.usedCode.codeHash),
    code: await read.authorizationCodeByHash(of.code.codeHash),
    deviceGrant: await read.deviceGrantByDeviceCode(of.deviceGrant.deviceCodeHash),
    token: await read.token(of.token.id),
    boundToken: await read.token(of.boundToken.id),
    sessionToken: await read.token(of.sessionToken.id),
    apiKey: await read.apiKey(of.apiKey.id),
    member: await read.member(of.app.id, of.user.id),
    guestUser: holders.find(({ userId }) => userId === of.user.id),
    plugin: await read.plugin(of.version),
    binding: (await read.bindingsOfPlugins([of.version]))[0],
    readable: (await read.mayReadContent(of.user.id, of.version.contentAddress, undefined)) || undefined,
  };
  return everything.filter((name) => responses[name] !== undefined);
}
