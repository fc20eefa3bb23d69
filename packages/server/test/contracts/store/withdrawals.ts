import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cursorOfValues } from '../../../src/db/page-queries.ts';
import type { VersionRecord } from '../../../src/db/records.ts';
import { addressOf, createRecords, putBinding, someTimeMs, unused } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { assertPages } from './pages.ts';

/** What a team withdrew, and what a deleted plugin leaves behind. */
export function withdrawalsContract(backend: Backend): void {
  describe('withdrawals', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    const byHost = { stateReason: 'It leaks.', stateAtMs: someTimeMs + 1, stateRole: 'host' } as const;
    const yanked = { state: 'yanked', ...byHost } as const;
    const rejected = { state: 'rejected', ...byHost } as const;
    const times = { atMs: someTimeMs + 5, untilMs: someTimeMs + 9 };

    async function retire(key: Pick<VersionRecord, 'extensionPointId' | 'userId' | 'name'>): Promise<void> {
      await store.it.write(async (tx) => {
        const plugin = await tx.plugin(key);
        assert.ok(plugin);
        await tx.retirePlugin(plugin, times);
        await tx.deletePlugin(plugin);
      });
    }

    it('are the bytes that the host yanked or rejected, while no version with them is published', async () => {
      const { key, owner, publisher } = await records().stage();
      const [bad, good, own] = ['bad', 'good', 'own'].map(addressOf);
      assert.ok(bad && good && own);
      await records().version(key('a'), { contentAddress: bad, ...yanked });
      await records().version(key('a'), { number: 2, contentAddress: good, ...rejected });
      await records().version(key('b'), { contentAddress: good });
      await records().version(key('c'), { contentAddress: own, ...yanked, stateRole: 'publisher' });
      await records().version(key('a', owner), { contentAddress: good, ...yanked });
      const { extensionPointId } = key('a');
      const of = (address: typeof bad) => store.it.read.withdrawalsOf(extensionPointId, publisher.id, address);
      const about = { extensionPointId, userId: publisher.id, reason: 'It leaks.' };
      assert.deepEqual(await of(bad), [
        { ...about, contentAddress: bad, name: 'a', state: 'yanked', atMs: someTimeMs + 1 },
      ]);
      assert.deepEqual([await of(good), await of(own)], [[], []]);
      await store.it.write((tx) => tx.blockPlugin(key('b'), { atMs: 3, reason: 'Blocked.' }));
      assert.deepEqual(await of(good), [
        { ...about, contentAddress: good, name: 'b', state: 'blocked', reason: 'Blocked.', atMs: 3 },
      ]);
    });

    it('stay when the plugin is deleted, the strongest for the same bytes, until they are deleted', async () => {
      const { key, publisher } = await records().stage();
      const [bad, again, fine] = ['bad', 'again', 'fine'].map(addressOf);
      assert.ok(bad && again && fine);
      await records().version(key('a'), { contentAddress: bad, ...rejected });
      await records().version(key('a'), { number: 2, contentAddress: bad, ...yanked });
      await records().version(key('a'), { number: 3, contentAddress: again, ...rejected });
      await records().version(key('a'), { number: 4, contentAddress: again });
      await records().version(key('a'), { number: 5, contentAddress: fine });
      await records().version(key('b'), { contentAddress: bad, ...rejected });
      await retire(key('a'));
      await retire(key('b'));
      const { extensionPointId } = key('a');
      const about = { extensionPointId, userId: publisher.id, reason: 'It leaks.', atMs: times.atMs };
      const left = { ...about, contentAddress: bad, name: 'a', state: 'yanked' } as const;
      assert.deepEqual(await store.it.read.withdrawals(extensionPointId, {}), [{ ...left, userName: 'Publisher' }]);
      assert.deepEqual(await store.it.read.withdrawalsOf(extensionPointId, publisher.id, bad), [left]);
      const ofBad = { userId: publisher.id, contentAddress: bad };
      assert.deepEqual(await store.it.read.withdrawal(extensionPointId, ofBad), left);
      await records().version(key('c'), { contentAddress: bad });
      await store.it.write((tx) => tx.blockPlugin(key('c'), { atMs: 3, reason: 'Blocked.' }));
      await retire(key('c'));
      await records().version(key('d'), { contentAddress: bad, ...yanked });
      await retire(key('d'));
      const blocked = { ...left, name: 'c', state: 'blocked', reason: 'Blocked.' } as const;
      assert.deepEqual(await store.it.read.withdrawal(extensionPointId, ofBad), blocked);
      await store.it.write((tx) => tx.deleteWithdrawal(left));
      assert.deepEqual(await store.it.read.withdrawalsOf(extensionPointId, publisher.id, bad), []);
    });

    it('are listed in pages', async () => {
      const { key, owner } = await records().stage();
      for (const user of [undefined, owner]) {
        for (let number = 1; number <= 4; number++) {
          await records().version(key('a', user), { number, contentAddress: addressOf(String(number)), ...yanked });
        }
        await retire(key('a', user));
      }
      const { extensionPointId } = key('a');
      const all = await store.it.read.withdrawals(extensionPointId, {});
      assert.equal(all.length, 8);
      await assertPages(
        (page) => store.it.read.withdrawals(extensionPointId, page),
        ({ userId, contentAddress }) => cursorOfValues(userId, contentAddress),
      );
    });

    it('reserve the name and the semantic versions of a deleted plugin for its publisher', async () => {
      const { key, guest, publisher, owner } = await records().stage();
      const first = await records().version(key('a'), { semver: '1.0.0' });
      await store.it.write((tx) =>
        putBinding(tx, { ...key('a'), guestId: guest.id, versionId: first.id, updatedAtMs: 1 }),
      );
      assert.deepEqual(await store.it.read.semverUse(key('a'), '1.0.0'), { number: 1, untilMs: null });
      await store.it.write((tx) => tx.reserveName(key('a'), [guest.id], times.untilMs));
      await retire(key('a'));
      const reserved = (user = owner, nowMs = times.untilMs - 1) =>
        store.it.read.nameReservations(key('a', user), [guest.id], nowMs);
      assert.deepEqual(await reserved(), [{ guestId: guest.id, untilMs: times.untilMs }]);
      assert.deepEqual(await reserved(publisher), [], 'not for its publisher');
      assert.deepEqual(await reserved(owner, times.untilMs), [], 'not any more');
      assert.deepEqual(await store.it.read.semverUse(key('a'), '1.0.0'), { number: null, untilMs: times.untilMs });
      assert.equal(await store.it.read.semverUse(key('a', owner), '1.0.0'), undefined);
      assert.equal(await store.it.read.semverUse(key('a'), '1.0.1'), undefined);
      await store.it.write((tx) => tx.deleteGuestUser([guest.id], publisher.id));
      assert.deepEqual(await reserved(), []);
      await store.it.write((tx) => tx.deleteExpired(times.untilMs + 1));
      assert.equal(await store.it.read.semverUse(key('a'), '1.0.0'), undefined);
    });

    it('find the published copies of some bytes, or of those of a plugin under other names', async () => {
      const { key, owner } = await records().stage();
      const contentAddress = addressOf('copied');
      const own = await records().version(key('a'), { contentAddress });
      const copy = await records().version(key('b'), { contentAddress });
      await records().version(key('c'), { contentAddress, ...yanked });
      await records().version(key('d'));
      await records().version(key('a', owner), { contentAddress });
      const ids = (found: readonly VersionRecord[]) => found.map(({ id }) => id).sort();
      assert.deepEqual(ids(await store.it.read.publishedCopies(key('a'), contentAddress)), [own.id, copy.id].sort());
      assert.deepEqual(await store.it.read.publishedCopies(key('a')), [copy]);
    });
  });

  describe('an API key', () => {
    const store = opened(backend, backend.openStore);
    it('is deleted with the token that created it', async () => {
      const records = createRecords(store.it);
      const user = await records.user();
      const token = await records.token(user);
      const [bound, free] = [await records.apiKey(user, { tokenId: token.id }), await records.apiKey(user)];
      assert.deepEqual(await store.it.read.apiKey(bound.id), bound);
      await store.it.write((tx) => tx.deleteToken(token.id));
      assert.deepEqual(await store.it.read.apiKeys(user.id, {}), [unused(free)]);
    });
  });
}
