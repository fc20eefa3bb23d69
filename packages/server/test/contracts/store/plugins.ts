import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { naturalKey } from '../../../src/db/natural-key.ts';
import type { BindingRecord, PluginRecord } from '../../../src/db/records.ts';
import { ConflictError } from '../../../src/db/store.ts';
import { pluginCursor } from '../../../src/plugins/plugin-list-queries.ts';
import { addressOf, createRecords, someTimeMs, versionRecord } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { assertPages } from './pages.ts';

/** Names whose order differs between code units and other collations, and names that objects have of their own. */
const awkwardNames = ['10', '9', 'B', 'a', 'A', 'a-b', 'a.b', 'a_b', 'ab', 'b', 'constructor', 'toString', 'valueOf'];

const byName = (a: BindingRecord, b: BindingRecord) => (a.name < b.name ? -1 : 1);

/** Plugins with their versions, and bindings. */
export function pluginsContract(backend: Backend): void {
  describe('plugins', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('creates a plugin with its first version, and returns it with its newest', async () => {
      const { key } = await records().stage();
      const plugin = key('constructor');
      assert.equal(await store.it.read.plugin(plugin), undefined);
      const first = await records().version(plugin, { createdAtMs: someTimeMs, size: 67_108_864 });
      const shown = {
        ...plugin,
        newest: first,
        createdAtMs: someTimeMs,
        block: null,
        publisherBlock: null,
        description: null,
        homepage: null,
      };
      assert.deepEqual(await store.it.read.plugin(plugin), shown);
      const second = await records().version(plugin, { number: 2, createdAtMs: someTimeMs + 9, size: 9 });
      assert.deepEqual(await store.it.read.plugin(plugin), { ...shown, newest: second });
      const about = { description: "'; drop", homepage: 'https://a.example/', readme: '\u{1F600}\n'.repeat(9000) };
      await store.it.write((tx) => tx.setPluginAbout(plugin, about));
      assert.deepEqual(await store.it.read.pluginAbout(plugin), about);
      const { readme, ...listed } = about;
      assert.deepEqual(await store.it.read.plugin(plugin), { ...shown, newest: second, ...listed });
      assert.equal(await store.it.read.pluginAbout({ ...plugin, name: 'other' }), undefined);
    });

    it('rejects a version whose number is not the next', async () => {
      const { key } = await records().stage();
      const plugin = key('numbers');
      await assert.rejects(records().version(plugin, { number: 2 }), ConflictError);
      await records().version(plugin);
      await assert.rejects(records().version(plugin), ConflictError);
      await assert.rejects(records().version(plugin, { number: 3 }), ConflictError);
      assert.equal((await store.it.read.plugin(plugin))?.newest.number, 1);
    });

    it('lists plugins by name as people sort, in pages of any length', async () => {
      const { key, publisher, owner, extensionPoint } = await records().stage();
      const elsewhere = await records().stage();
      await records().version(elsewhere.key('elsewhere'));
      for (const name of awkwardNames) await records().version(key(name));
      for (const name of ['zz', 'Z', '0']) await records().version(key(name, owner));
      const { id } = extensionPoint;
      const cursorOf = (plugin: PluginRecord) => pluginCursor(plugin);
      const all = await assertPages((page) => store.it.read.plugins(id, page), cursorOf);
      assert.equal(all.length, awkwardNames.length + 3);
      const search = { userId: publisher.id };
      const own = await assertPages((page) => store.it.read.plugins(id, page, search), cursorOf);
      const ofApp = await assertPages((page) => store.it.read.pluginsOfApp(extensionPoint.appId, page), cursorOf);
      assert.deepEqual(
        ofApp.map(({ extensionPointName, ...plugin }) => plugin),
        all,
      );
      const { appId } = extensionPoint;
      assert.equal((await store.it.read.pluginsOfApp(appId, {}, { isBound: false })).length, all.length);
      assert.equal(await store.it.read.countPluginsFound({ appId }, { text: 'a', searchesGuestKeys: true }), 7);
      assert.deepEqual(await store.it.read.pluginsOfApp(appId, {}, { isBound: true }), []);
      const keyOf = (name: string) => `${naturalKey(name)} ${name}`;
      assert.deepEqual(
        own.map(({ name }) => name),
        awkwardNames.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
      );
    });

    it('counts for the overview, whose example is an active plugin', async () => {
      const { app, owner, key, guest, extensionPoint } = await records().stage();
      const { read } = store.it;
      const none = { guestKey: guest.guestKey, extensionPoint: { id: extensionPoint.id, name: extensionPoint.name } };
      assert.deepEqual(await read.overviewExample(app.id), { ...none, pluginName: null });
      const version = await records().version(key('active'));
      assert.equal((await read.overviewExample(app.id)).pluginName, null);
      await records().binding(version, guest.id);
      assert.deepEqual(await read.overviewExample(app.id), { ...none, pluginName: 'active' });
      assert.equal(await read.countBlockedPlugins(app.id), 0);
      await store.it.write((tx) => tx.blockPlugin(key('active'), { atMs: someTimeMs, reason: 'why' }));
      assert.equal(await read.countBlockedPlugins(app.id), 1);
      const invitation = await records().invitation(guest, owner);
      assert.equal(await read.countPendingInvitations(app.id, invitation.expiresAtMs - 1), 1);
      assert.equal(await read.countPendingInvitations(app.id, invitation.expiresAtMs), 0);
    });

    it('binds a version under a guest, and moves the binding', async () => {
      const { key, guest, extensionPoint } = await records().stage();
      const first = await records().version(key('moves'));
      const second = await records().version(key('moves'), { number: 2 });
      const binding = () => store.it.read.binding(extensionPoint.id, guest.id, 'moves');
      assert.equal(await binding(), undefined);
      const bound = await records().binding(first, guest.id);
      assert.deepEqual(await binding(), bound);
      const moved = await records().binding(second, guest.id, someTimeMs + 1);
      assert.deepEqual(await binding(), moved);
      const movedBack = await records().binding(first, guest.id, someTimeMs + 2);
      assert.deepEqual(await store.it.read.bindings(extensionPoint.id, guest.guestKey), [movedBack]);
      assert.equal(await store.it.read.countBindings(extensionPoint.id, guest.id), 1);
    });

    it('returns what an extension point binds to attest, by guest key and name in bytes, in pages of any length', async () => {
      const { app, key, guest, extensionPoint, publisher } = await records().stage();
      const guests = [guest];
      for (const guestKey of ['\u{1F600}', '\uffff', 'Z', 'a', 'ä/1'])
        guests.push(await records().guest(app, guestKey));
      const expected: object[] = [];
      for (const name of ['b', 'B', '10']) {
        const version = await records().version(key(name), { semver: '1.0.0', note: name, size: 9 });
        const { number, semver, note, contentAddress, size } = version;
        for (const one of guests) {
          await records().binding(version, one.id, someTimeMs + 5);
          const bound = { number, semver, note, contentAddress, size };
          const common = { guestKey: one.guestKey, userId: publisher.id, userName: publisher.name, name };
          expected.push({ ...common, updatedAtMs: someTimeMs + 5, ...bound });
        }
      }
      await store.it.write((tx) =>
        tx.moveBindings(key('b'), [guest], { versionId: null, nowMs: someTimeMs + 9, notifiesEachList: true }),
      );
      const nothing = { number: null, semver: null, note: null, contentAddress: null, size: null };
      Object.assign(expected[0] ?? {}, { updatedAtMs: someTimeMs + 9, ...nothing });
      const otherPoint = await records().extensionPoint(app);
      const elsewhere = { extensionPointId: otherPoint.id, userId: publisher.id, name: 'elsewhere' };
      await records().binding(await records().version(elsewhere), guest.id);
      const textOf = ({ guestKey, name }: { guestKey: string; name: string }) => Buffer.from(`${guestKey}\0${name}`);
      const sorted = (expected as { guestKey: string; name: string }[]).sort((a, b) =>
        Buffer.compare(textOf(a), textOf(b)),
      );
      const sortedKeys = [...new Set(sorted.map(({ guestKey }) => guestKey))];
      const listed = await store.it.read.guestsToAttest(app.id, undefined, 100);
      assert.deepEqual(
        listed.map(({ guestKey }) => guestKey),
        sortedKeys,
      );
      const rest = await store.it.read.guestsToAttest(app.id, sortedKeys[1], 2);
      assert.deepEqual(rest, listed.slice(2, 4));
      const guestIds = listed.map(({ id }) => id);
      for (const limit of [1, 2, 5, 100]) {
        const found: { guestKey: string; name: string }[] = [];
        for (let page = sorted; page.length > 0; ) {
          page = await store.it.read.bindingsToAttest(extensionPoint.id, guestIds, found.at(-1), limit);
          assert.ok(page.length <= limit);
          found.push(...page);
        }
        assert.deepEqual(found, sorted, `pages of ${limit}`);
      }
    });

    it('returns only what is bound under a key at an extension point', async () => {
      const { app, key, guest, extensionPoint, publisher } = await records().stage();
      const otherGuest = await records().guest(app);
      const otherPoint = await records().extensionPoint(app);
      const otherApp = await records().stage();
      const sameKey = await records().guest(otherApp.app, guest.guestKey);
      const bound: BindingRecord[] = [];
      for (const name of awkwardNames)
        bound.push(await records().binding(await records().version(key(name)), guest.id));
      await records().binding(await records().version(key('other-guest')), otherGuest.id);
      await records().version(key('unbound'));
      const elsewhere = { extensionPointId: otherPoint.id, userId: publisher.id, name: '10' };
      const atOtherPoint = await records().binding(await records().version(elsewhere), guest.id);
      await records().binding(await records().version(otherApp.key('10')), sameKey.id);

      const { read } = store.it;
      assert.deepEqual((await read.bindings(extensionPoint.id, guest.guestKey)).sort(byName), bound.sort(byName));
      assert.deepEqual(await read.bindings(otherPoint.id, guest.guestKey), [atOtherPoint]);
      assert.deepEqual(await read.bindings(otherPoint.id, otherGuest.guestKey), []);
      assert.deepEqual(await read.bindings(extensionPoint.id, 'no such key'), []);
      assert.deepEqual(await read.bindings(newId('extensionPoint'), guest.guestKey), []);
      assert.equal(await store.it.read.countBindings(extensionPoint.id, guest.id), awkwardNames.length);
    });

    it('lists the bound versions once each, with their stored interfaces', async () => {
      const { key, app, guest, publisher, extensionPoint } = await records().stage();
      const other = await records().guest(app);
      const kept = versionRecord(key('kept'));
      await store.it.write((tx) => tx.insertVersion(kept, '{"exports":["ü"]}'));
      const bare = await records().version(key('bare'));
      const replaced = await records().version(key('newer'));
      const newer = await records().version(key('newer'), { number: 2 });
      await records().version(key('unbound'));
      for (const version of [kept, bare, replaced, newer]) await records().binding(version, guest.id);
      await records().binding(kept, other.id);
      const elsewhere = await records().stage();
      await records().binding(await records().version(elsewhere.key('elsewhere')), elsewhere.guest.id);

      const { name: userName } = publisher;
      const list = () =>
        assertPages(
          (page) => store.it.read.boundVersions(extensionPoint.id, page),
          ({ id }) => id,
        );
      const expected = [
        { ...kept, userName, interfaceJson: '{"exports":["ü"]}' },
        { ...bare, userName, interfaceJson: null },
        { ...newer, userName, interfaceJson: null },
      ].sort((a, b) => (a.id < b.id ? -1 : 1));
      assert.deepEqual(await list(), expected);

      for (const { id } of [bare, newer]) await store.it.write((tx) => tx.putInterface(id, '{}'));
      const json = (name: string) => (name === 'kept' ? '{"exports":["ü"]}' : '{}');
      assert.deepEqual(
        await list(),
        expected.map((version) => ({ ...version, interfaceJson: json(version.name) })),
      );
    });

    it('reserves a name under a guest for its user', async () => {
      const { key, guest, owner, extensionPoint } = await records().stage();
      const holder = await records().binding(await records().version(key('taken')), guest.id);
      const rival = await records().version(key('taken', owner));
      await assert.rejects(records().binding(rival, guest.id), ConflictError);
      assert.deepEqual(await store.it.read.binding(extensionPoint.id, guest.id, 'taken'), holder);
    });

    it('binds a name only to a version of that plugin', async () => {
      const { key, guest, owner, extensionPoint } = await records().stage();
      const version = await records().version(key('mine'));
      for (const foreign of [key('mine', owner), key('other')]) {
        await assert.rejects(records().binding({ ...version, ...foreign }, guest.id));
      }
      assert.equal(await store.it.read.countBindings(extensionPoint.id, guest.id), 0);
    });

    it('finds the bindings of plugins wherever they are bound, for thousands at once', async () => {
      const { app, key, guest } = await records().stage();
      const second = await records().guest(app);
      const version = await records().version(key('both'));
      const bound = [
        { ...(await records().binding(version, guest.id)), guestKey: guest.guestKey },
        { ...(await records().binding(version, second.id)), guestKey: second.guestKey },
      ];
      await records().binding(await records().version(key('not-asked-for')), guest.id);
      const strangers = Array.from({ length: 3000 }, (_, at) => key(`no-such-${at}`));
      const found = await store.it.read.bindingsOfPlugins([...strangers, key('both')]);
      const byGuest = (a: BindingRecord, b: BindingRecord) => (a.guestId < b.guestId ? -1 : 1);
      assert.deepEqual(found.sort(byGuest), bound.sort(byGuest));
      assert.deepEqual(await store.it.read.bindingsOfPlugins([]), []);
    });

    it('lets versions share their bytes', async () => {
      const { key } = await records().stage();
      const contentAddress = addressOf('the same');
      await records().version(key('one'), { contentAddress });
      await records().version(key('two'), { contentAddress });
      assert.equal((await store.it.read.plugin(key('two')))?.newest.contentAddress, contentAddress);
    });
  });
}
