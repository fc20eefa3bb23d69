import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId, type VersionState } from '@tenon/protocol';
import { naturalKey } from '../../../src/db/natural-key.ts';
import { cursorOfValues } from '../../../src/db/page-queries.ts';
import type { VersionDecision, VersionRecord } from '../../../src/db/records.ts';
import { addressOf, createRecords, putBinding, someTimeMs, unheld } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { assertPages } from './pages.ts';

/** A plugin's versions: their states, the guests that they were published under, and what decides what is bound. */
export function versionsContract(backend: Backend): void {
  describe('versions', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    const decide = (version: VersionRecord, decision: Partial<VersionDecision>) =>
      store.it.write((tx) => tx.decideVersions([version.id], { ...version, ...decision }));

    it('returns a version as it was inserted', async () => {
      const { key } = await records().stage();
      const plain = await records().version(key('versions'));
      const rich = await records().version(key('versions'), {
        number: 2,
        semver: '1.0.0-rc.1+build.5',
        note: 'Mended\nfor “good” 🔧',
        state: 'awaiting_approval',
        stateAtMs: someTimeMs + 1,
      });
      assert.deepEqual(await store.it.read.version(key('versions'), 1), plain);
      assert.deepEqual(await store.it.read.version(key('versions'), 2), rich);
      assert.deepEqual((await store.it.read.plugin(key('versions')))?.newest, rich);
      assert.equal(await store.it.read.version(key('versions'), 3), undefined);
      assert.equal(await store.it.read.version(key('other'), 1), undefined);
    });

    it('lists the versions of one plugin, the newest first, in pages of any length', async () => {
      const { key, owner } = await records().stage();
      await records().version(key('listed', owner));
      await records().version(key('others'));
      const made: VersionRecord[] = [];
      for (let number = 1; number <= 11; number++) made.unshift(await records().version(key('listed'), { number }));
      assert.deepEqual(await store.it.read.versions(key('listed'), {}), made);
      for (const limit of [1, 4, 11, 12]) {
        const turned: VersionRecord[] = [];
        for (let after: string | undefined; ; ) {
          const page = await store.it.read.versions(key('listed'), { after, limit });
          assert.ok(page.length <= limit);
          turned.push(...page);
          after = String(page.at(-1)?.number);
          if (page.length === 0) break;
        }
        assert.deepEqual(turned, made, `pages of ${limit}`);
      }
      for (const after of ['x', '-1', '1.5', `${'9'.repeat(30)}`]) {
        assert.deepEqual(await store.it.read.versions(key('listed'), { after }), [], after);
      }
    });

    it('finds the newest version of one plugin that has some bytes', async () => {
      const { key, owner } = await records().stage();
      const contentAddress = addressOf('the same bytes');
      await records().version(key('found'), { contentAddress });
      const newest = await records().version(key('found'), { number: 2, contentAddress, state: 'yanked' });
      await records().version(key('found'), { number: 3 });
      const others = await records().version(key('found', owner), { number: 1, contentAddress });
      assert.deepEqual(await store.it.read.versionOfContent(key('found'), contentAddress), newest);
      assert.deepEqual(await store.it.read.versionOfContent(key('found', owner), contentAddress), others);
      assert.equal(await store.it.read.versionOfContent(key('found'), addressOf('other bytes')), undefined);
      assert.equal(await store.it.read.versionOfContent(key('unknown'), contentAddress), undefined);
    });

    it('changes only the state of the given version', async () => {
      const { key } = await records().stage();
      const first = await records().version(key('decided'));
      const second = await records().version(key('decided'), { number: 2 });
      const yank = {
        state: 'yanked',
        stateReason: 'It “leaks”.',
        stateAtMs: someTimeMs + 5,
        stateRole: 'host',
      } as const;
      await decide(first, yank);
      assert.deepEqual(await store.it.read.versions(key('decided'), {}), [second, { ...first, ...yank }]);
      const restored = {
        state: 'published',
        stateReason: null,
        stateAtMs: someTimeMs + 6,
        stateRole: 'publisher',
      } as const;
      await decide(first, restored);
      assert.deepEqual(await store.it.read.version(key('decided'), 1), { ...first, ...restored });
    });

    it('lists the guests under which versions were published, once each, for thousands at once', async () => {
      const { app, key, guest } = await records().stage();
      const second = await records().guest(app);
      const version = await records().version(key('under'));
      const other = await records().version(key('other'));
      await store.it.write(async (tx) => {
        for (const id of [second.id, guest.id, guest.id]) await tx.putVersionGuests(version.id, [id]);
        await tx.putVersionGuests(other.id, [second.id]);
      });
      const unknown = Array.from({ length: 1000 }, () => newId('version'));
      const found = await store.it.read.guestsOfVersions([...unknown, version.id, other.id]);
      assert.deepEqual(
        found.map(({ versionId, guestId }) => `${versionId} ${guestId}`).sort(),
        [`${version.id} ${guest.id}`, `${version.id} ${second.id}`, `${other.id} ${second.id}`].sort(),
      );
      assert.deepEqual(await store.it.read.guestsOfVersions([]), []);
      const cut = { limit: 1, isDescending: true };
      const [last] = [version.id, other.id].sort().reverse();
      assert.deepEqual(
        (await store.it.read.guestsOfVersions([version.id, other.id], cut)).map(({ versionId }) => versionId),
        [last],
      );
    });

    it('finds the guests under which versions are bound, and whether a plugin is pinned', async () => {
      const { key, guest, app } = await records().stage();
      const second = await records().guest(app);
      const version = await records().version(key('bound'));
      const other = await records().version(key('other'));
      for (const { id } of [guest, second]) await records().binding(version, id);
      await records().binding(other, second.id);
      const found = await store.it.read.guestsBoundTo([newId('version'), version.id, other.id]);
      assert.deepEqual(
        found.map(({ versionId, guestId }) => `${versionId} ${guestId}`).sort(),
        [`${version.id} ${guest.id}`, `${version.id} ${second.id}`, `${other.id} ${second.id}`].sort(),
      );
      assert.equal((await store.it.read.guestsBoundTo([version.id, other.id], { limit: 2 })).length, 2);
      assert.deepEqual(await store.it.read.guestsBoundTo([]), []);
      assert.equal(await store.it.read.isPinned(key('bound')), false);
      await store.it.write((tx) => tx.pinVersion({ ...key('bound'), guestId: guest.id }, version.id));
      assert.equal(await store.it.read.isPinned(key('bound')), true);
      assert.equal(await store.it.read.isPinned(key('other')), false);
    });

    it('finds the newest bound version of a plugin, apart from one', async () => {
      const { key, guest, app, owner } = await records().stage();
      const second = await records().guest(app);
      const first = await records().version(key('compared'));
      const newer = await records().version(key('compared'), { number: 2 });
      const waiting = await records().version(key('compared'), { number: 3, state: 'awaiting_approval' });
      await records().version(key('compared', owner));
      const newest = (except: VersionRecord) => store.it.read.newestBoundVersion(key('compared'), except.id);
      assert.equal(await newest(waiting), undefined);
      await records().binding(first, guest.id);
      await records().binding(newer, second.id);
      assert.deepEqual(await newest(waiting), newer);
      assert.deepEqual(await newest(newer), first);
    });

    it('lists the versions that await approval in an application, with names', async () => {
      const { app, key, publisher, extensionPoint } = await records().stage();
      const state = 'awaiting_approval';
      const elsewhere = await records().stage();
      await records().version(elsewhere.key('elsewhere'), { state });
      await records().version(key('published'));
      const awaiting: unknown[] = [];
      for (const name of ['b', 'a', 'c']) {
        const version = await records().version(key(name), { state });
        awaiting.push({ ...version, extensionPointName: extensionPoint.name, userName: publisher.name });
      }
      const list = await assertPages(
        (page) => store.it.read.versionsAwaitingApproval(app.id, page),
        ({ id }) => id,
      );
      assert.deepEqual(list, awaiting);
      await decide(list[0] as VersionRecord, { state: 'rejected' });
      assert.equal((await store.it.read.versionsAwaitingApproval(app.id, {})).length, 2);
    });

    it('blocks and unblocks a plugin', async () => {
      const { key } = await records().stage();
      await records().version(key('blocked'));
      await records().version(key('other'));
      const block = { atMs: someTimeMs, reason: 'Why “not”?' };
      await store.it.write((tx) => tx.blockPlugin(key('blocked'), block));
      assert.deepEqual((await store.it.read.plugin(key('blocked')))?.block, block);
      assert.equal((await store.it.read.plugin(key('other')))?.block, null);
      await store.it.write((tx) => tx.blockPlugin(key('blocked'), null));
      assert.equal((await store.it.read.plugin(key('blocked')))?.block, null);
    });

    it('deletes a plugin with its versions and bindings, and no other of the same name', async () => {
      const { app, key, guest, owner, extensionPoint } = await records().stage();
      const doomed = await records().version(key('same'));
      await records().binding(doomed, guest.id);
      const second = await records().guest(app);
      const kept = await records().binding(await records().version(key('same', owner)), second.id);
      await store.it.write(async (tx) => {
        await tx.pinVersion({ ...key('same'), guestId: guest.id }, doomed.id);
        await tx.selectVersion(key('same'), [guest.id], doomed.id);
        await tx.deletePlugin(key('same'));
      });
      assert.equal(await store.it.read.plugin(key('same')), undefined);
      assert.deepEqual(await store.it.read.versions(key('same'), {}), []);
      assert.deepEqual(await store.it.read.guestsOfVersions([doomed.id]), []);
      assert.deepEqual(await store.it.read.bindings(extensionPoint.id, guest.guestKey), []);
      assert.deepEqual(await store.it.read.bindings(extensionPoint.id, second.guestKey), [kept]);
      assert.equal(await store.it.read.mayReadContent(owner.id, doomed.contentAddress, undefined), false);
      assert.equal((await records().version(key('same'))).number, 1, 'numbers start again');
    });
  });

  describe('bindings', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('reserve a name without a bound version, and are then not in the binding list', async () => {
      const { key, guest, owner, extensionPoint } = await records().stage();
      const version = await records().version(key('claimed'));
      const claim = { ...key('claimed'), guestId: guest.id };
      await store.it.write((tx) => putBinding(tx, { ...claim, versionId: null, updatedAtMs: 0 }));
      const unbound = { versionId: null, versionNumber: null, contentAddress: null };
      const { read } = store.it;
      const present = () => read.binding(extensionPoint.id, guest.id, 'claimed');
      assert.deepEqual(await present(), { ...claim, ...unbound, ...unheld, updatedAtMs: 0 });
      const { guestKey } = guest;
      assert.deepEqual(await read.bindingsOfPlugins([key('claimed')]), [{ ...(await present()), guestKey }]);
      assert.deepEqual(await read.bindings(extensionPoint.id, guest.guestKey), []);
      assert.equal(await read.countBindings(extensionPoint.id, guest.id), 1);
      await assert.rejects(records().binding(await records().version(key('claimed', owner)), guest.id));

      const bound = await records().binding(version, guest.id, someTimeMs + 3);
      assert.deepEqual(await read.bindings(extensionPoint.id, guest.guestKey), [bound]);
      await store.it.write((tx) => putBinding(tx, { ...claim, versionId: null, updatedAtMs: someTimeMs + 4 }));
      assert.deepEqual(await present(), { ...claim, ...unbound, ...unheld, updatedAtMs: someTimeMs + 4 });
    });

    it('are pinned and rolled back to versions of the plugin, and stay so when they are moved', async () => {
      const { app, key, guest, owner, extensionPoint } = await records().stage();
      const first = await records().version(key('held'));
      const second = await records().version(key('held'), { number: 2 });
      const foreign = await records().version(key('held', owner));
      const other = await records().guest(app);
      const beside = await records().binding(second, other.id);
      const bound = await records().binding(second, guest.id);
      const claim = { ...key('held'), guestId: guest.id };
      await store.it.write(async (tx) => {
        await tx.pinVersion(claim, first.id);
        await tx.selectVersion(claim, [claim.guestId], second.id);
      });
      const held = { pinnedVersionId: first.id, pinnedNumber: 1, selectedVersionId: second.id, selectedNumber: 2 };
      const present = () => store.it.read.binding(extensionPoint.id, guest.id, 'held');
      assert.deepEqual(await present(), { ...bound, ...held });
      const moved = await records().binding(first, guest.id, someTimeMs + 1);
      assert.deepEqual(await present(), { ...moved, ...held });
      await assert.rejects(store.it.write((tx) => tx.pinVersion(claim, foreign.id)));
      await assert.rejects(store.it.write((tx) => tx.selectVersion(claim, [guest.id], foreign.id)));
      await store.it.write((tx) => tx.pinVersion(claim, null));
      await store.it.write((tx) => tx.selectVersion(claim, [guest.id], null));
      assert.deepEqual(await present(), moved);
      assert.deepEqual(await store.it.read.binding(extensionPoint.id, other.id, 'held'), beside);
    });

    it('are listed for a guest by extension point and name as people sort, with publisher and block', async () => {
      const { app, key, guest, owner, publisher, extensionPoint } = await records().stage();
      const names = ['10', '9', 'B', 'a', 'constructor'];
      const bound = new Map<string, object>();
      for (const [at, name] of names.entries()) {
        const user = at % 2 === 0 ? publisher : owner;
        const version = await records().version(key(name, user));
        const others = {
          extensionPointName: extensionPoint.name,
          userName: user.name,
          block: null,
          publisherBlock: null,
        };
        bound.set(name, { ...(await records().binding(version, guest.id)), ...others });
      }
      await records().binding(await records().version(key('under-another')), (await records().guest(app)).id);
      const block = { atMs: someTimeMs, reason: 'why' };
      await store.it.write((tx) => tx.blockPlugin(key('10'), block));
      bound.set('10', { ...bound.get('10'), block });
      const listed = await assertPages(
        (page) => store.it.read.bindingsOfGuest(guest.id, page),
        ({ name }) => cursorOfValues(extensionPoint.id, naturalKey(name), name),
      );
      assert.deepEqual(
        listed,
        ['9', '10', 'a', 'B', 'constructor'].map((name) => bound.get(name)),
      );
    });

    it('are returned with the facts that decide the bound version', async () => {
      const { app, key, guest } = await records().stage();
      const second = await records().guest(app);
      const states: VersionState[] = ['published', 'published', 'yanked', 'awaiting_approval', 'rejected', 'published'];
      const versions: VersionRecord[] = [];
      for (const [at, state] of states.entries()) {
        versions.push(await records().version(key('facts'), { number: at + 1, state }));
      }
      const [one, two, yanked, , , six] = versions.map(({ id }) => id);
      assert.ok(one && two && yanked && six);
      const facts = async () => {
        const found = await store.it.read.bindingFacts(key('facts'));
        return new Map(
          found.map(({ guestId, guestKey, selectedVersionId, selectedNumber, selectedAtNumber, ...rest }) => [
            guestId,
            rest,
          ]),
        );
      };
      assert.equal((await facts()).size, 0);
      const claims = [guest, second].map(({ id }) => ({ ...key('facts'), guestId: id }));
      const [first, other] = claims;
      assert.ok(first && other);
      await store.it.write(async (tx) => {
        for (const claim of claims) await putBinding(tx, { ...claim, versionId: two, updatedAtMs: 7 });
        for (const { id } of versions.slice(0, 5)) await tx.putVersionGuests(id, [guest.id]);
        await tx.putVersionGuests(six, [second.id]);
      });
      const free = { isBlocked: false, pinned: null, selected: null, versionId: two, updatedAtMs: 7, candidates: [] };
      assert.deepEqual((await facts()).get(guest.id), { ...free, newest: two }, 'the newest that is published there');
      assert.deepEqual((await facts()).get(second.id), { ...free, newest: six });

      await store.it.write(async (tx) => {
        await tx.pinVersion(first, yanked);
        await tx.selectVersion(first, [first.guestId], one);
        await tx.pinVersion(other, one);
        await tx.selectVersion(other, [other.guestId], yanked);
        await tx.blockPlugin(key('facts'), { atMs: 1, reason: '' });
      });
      const [rolledBack] = await store.it.read.bindingFacts(key('facts'), { guestIds: [guest.id] });
      assert.deepEqual([rolledBack?.selectedNumber, rolledBack?.selectedAtNumber], [1, 6]);
      assert.deepEqual((await facts()).get(guest.id), {
        ...free,
        isBlocked: true,
        pinned: { id: yanked, isPublished: false },
        selected: one,
        newest: two,
      });
      assert.deepEqual((await facts()).get(second.id), {
        ...free,
        isBlocked: true,
        pinned: { id: one, isPublished: true },
        newest: six,
      });
    });

    it('lose only the versions under a guest that is removed from the user', async () => {
      const { app, key, guest, publisher } = await records().stage();
      const second = await records().guest(app);
      const colleague = await records().user();
      await records().hold(guest, colleague);
      const version = await records().version(key('mine'));
      const theirs = await records().version(key('theirs', colleague));
      for (const { id } of [guest, second]) await records().binding(version, id);
      await records().binding(theirs, guest.id);
      await store.it.write((tx) => tx.deleteGuestUser([guest.id], publisher.id));
      const under = async () =>
        (await store.it.read.guestsOfVersions([version.id, theirs.id])).map(({ guestId }) => guestId).sort();
      assert.deepEqual(await under(), [guest.id, second.id].sort());
      assert.deepEqual(await store.it.read.guestsOfVersions([version.id]), [
        { versionId: version.id, guestId: second.id },
      ]);
      await store.it.write((tx) => tx.deleteGuest(guest.id));
      assert.deepEqual(await under(), [second.id]);
    });

    it('share a content that survives the deletion of one of them', async () => {
      const { key, owner } = await records().stage();
      const contentAddress = addressOf('shared by two plugins');
      await records().version(key('one'), { contentAddress });
      await records().version(key('two'), { contentAddress });
      const may = () => store.it.read.mayReadContent(owner.id, contentAddress, undefined);
      await store.it.write((tx) => tx.deletePlugin(key('one')));
      assert.equal(await may(), true);
      await store.it.write((tx) => tx.deletePlugin(key('two')));
      assert.equal(await may(), false);
    });
  });
}
