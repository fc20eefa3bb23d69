import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressOf, createRecords } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** Who may read which bytes. */
export function accessContract(backend: Backend): void {
  describe('mayReadContent()', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('lets members read all bytes of their application, guests their own, and strangers none', async () => {
      const { app, key, owner, publisher, guest } = await records().stage();
      const viewer = await records().user();
      await records().member(app, viewer, 'viewer');
      const otherGuest = await records().user();
      await records().hold(guest, otherGuest);
      const stranger = await records().user();
      const elsewhere = await records().stage();
      const { contentAddress } = await records().version(key('read'));
      const may = (user: { id: `usr_${string}` }) => store.it.read.mayReadContent(user.id, contentAddress, undefined);

      assert.equal(await may(owner), true);
      assert.equal(await may(viewer), true);
      assert.equal(await may(publisher), true);
      assert.equal(await may(otherGuest), false, 'another holder of the same guest key');
      assert.equal(await may(stranger), false);
      assert.equal(await may(elsewhere.owner), false);
      assert.equal(await may(elsewhere.publisher), false);
      assert.equal(await store.it.read.mayReadContent(owner.id, addressOf('nothing has this'), undefined), false);
    });

    it('remains for an older version, and ends with the last guest in that application', async () => {
      const { app, key, publisher, guest } = await records().stage();
      const second = await records().guest(app);
      await records().hold(second, publisher);
      await records().hold((await records().stage()).guest, publisher);
      const { contentAddress } = await records().version(key('older'));
      await records().version(key('older'), { number: 2 });
      const may = () => store.it.read.mayReadContent(publisher.id, contentAddress, undefined);

      assert.equal(await may(), true);
      await store.it.write((tx) => tx.deleteGuestUser([guest.id], publisher.id));
      assert.equal(await may(), true, 'still holds the second');
      await store.it.write((tx) => tx.deleteGuest(second.id));
      assert.equal(await may(), false, 'the guest in another application does not count');
    });

    it('is limited to one application if it is given', async () => {
      const first = await records().stage();
      const second = await records().stage();
      const { publisher, owner } = first;
      await records().hold(second.guest, publisher);
      await records().member(second.app, owner);
      const { contentAddress } = await records().version(first.key('within'));
      for (const user of [publisher, owner]) {
        assert.equal(await store.it.read.mayReadContent(user.id, contentAddress, first.app.id), true);
        assert.equal(await store.it.read.mayReadContent(user.id, contentAddress, second.app.id), false);
      }
      await records().version(second.key('within', publisher), { contentAddress });
      for (const user of [publisher, owner]) {
        assert.equal(await store.it.read.mayReadContent(user.id, contentAddress, second.app.id), true);
      }
    });
  });
}
