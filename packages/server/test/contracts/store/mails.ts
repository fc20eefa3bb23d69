import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { MailRecord } from '../../../src/db/mail-records.ts';
import { createRecords, someHash, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** The queue of mails, mailed codes, and what users want to be mailed. */
export function mailsContract(backend: Backend): void {
  describe('mails', () => {
    const store = opened(backend, backend.openStore);

    const mail = (fields: Partial<MailRecord> = {}): MailRecord => ({
      id: newId('mail'),
      kind: 'password_reset',
      recipient: 'grace@example.org',
      userId: null,
      invitationId: null,
      appId: null,
      facts: { plugin: 'a “quoted” name' },
      state: 'queued',
      attempts: 0,
      createdAtMs: someTimeMs,
      dueAtMs: someTimeMs,
      error: null,
      ...fields,
    });
    const insert = async (fields: Partial<MailRecord> = {}): Promise<MailRecord> => {
      const record = mail(fields);
      await store.it.write((tx) => tx.insertMail(record));
      return record;
    };
    const claim = (nowMs: number) => store.it.write((tx) => tx.claimMail({ nowMs, untilMs: nowMs + 60_000 }));

    it('claims each due mail once, the one that is due first before others', async () => {
      const later = await insert({ dueAtMs: someTimeMs + 1 });
      const first = await insert();
      const notYet = await insert({ dueAtMs: someTimeMs + 10 });
      assert.equal(await store.it.read.isAnyMailDue(someTimeMs - 1), false);
      assert.equal(await store.it.read.isAnyMailDue(someTimeMs), true);
      const claimed = await claim(someTimeMs + 5);
      assert.deepEqual(claimed, { ...first, attempts: 1, dueAtMs: someTimeMs + 5 + 60_000 });
      assert.equal((await claim(someTimeMs + 5))?.id, later.id);
      assert.equal(await claim(someTimeMs + 5), undefined);
      assert.equal((await claim(someTimeMs + 60_005))?.id, notYet.id);
      assert.equal((await claim(someTimeMs + 60_005))?.attempts, 2, 'a claim that has ended');
      for (const { id } of [first, later, notYet]) await store.it.write((tx) => tx.deleteMail(id));
    });

    it('claims mails that a person waits for before others', async () => {
      const invitation = await insert({ kind: 'invitation' });
      const link = await insert({ dueAtMs: someTimeMs + 3 });
      const check = await insert({ kind: 'verify_email', dueAtMs: someTimeMs + 4 });
      const order = [await claim(someTimeMs + 5), await claim(someTimeMs + 5), await claim(someTimeMs + 5)];
      assert.deepEqual(
        order.map((mail) => mail?.id),
        [link.id, check.id, invitation.id],
      );
      for (const { id } of [invitation, link, check]) await store.it.write((tx) => tx.deleteMail(id));
    });

    it('claims no mail twice when many claim at once', async () => {
      const queued = await Promise.all(Array.from({ length: 12 }, () => insert()));
      const claimed = await Promise.all(Array.from({ length: 20 }, () => claim(someTimeMs)));
      const ids = claimed.flatMap((one) => one?.id ?? []);
      assert.deepEqual(ids.toSorted(), queued.map(({ id }) => id).toSorted());
      for (const id of ids) await store.it.write((tx) => tx.deleteMail(id));
    });

    it('postpones and settles queued mails only, and forgets the facts of settled ones', async () => {
      const user = await createRecords(store.it).user();
      const { id } = await insert({ userId: user.id });
      const newest = () => store.it.read.newestMail(user.id, 'password_reset');
      await store.it.write((tx) => tx.postponeMail(id, someTimeMs + 7, '451 Later'));
      assert.deepEqual([(await newest())?.dueAtMs, (await newest())?.error], [someTimeMs + 7, '451 Later']);
      assert.equal((await store.it.read.mailQueue()).oldestQueuedAtMs, someTimeMs);
      const failed = { state: 'failed', dueAtMs: someTimeMs + 8, error: '550 No' } as const;
      await store.it.write((tx) => tx.settleMail(id, failed));
      const settled = { ...mail({ id, userId: user.id }), ...failed, facts: {} };
      assert.deepEqual(await newest(), settled);
      await store.it.write((tx) => tx.settleMail(id, { state: 'sent', dueAtMs: 0, error: null }));
      await store.it.write((tx) => tx.postponeMail(id, 0, 'x'));
      assert.deepEqual(await newest(), settled);
      assert.deepEqual(await store.it.read.mailQueue(), { queued: 0, oldestQueuedAtMs: null, failed: 1 });
      await store.it.write((tx) => tx.deleteExpired(someTimeMs + 8));
      assert.deepEqual(await newest(), settled);
      await store.it.write((tx) => tx.deleteExpired(someTimeMs + 9));
      assert.equal(await newest(), undefined);
    });

    it('finds the newest mail of a kind, to a user and about an application', async () => {
      const records = createRecords(store.it);
      const user = await records.user();
      const apps = [await records.app(), await records.app()];
      const [one, other] = apps;
      assert.ok(one && other);
      const about = (appId: typeof one.id, createdAtMs: number) =>
        insert({ kind: 'approvals', userId: user.id, appId, createdAtMs });
      const newer = await about(one.id, someTimeMs + 2);
      await about(one.id, someTimeMs + 1);
      const newest = await about(other.id, someTimeMs + 3);
      const { read } = store.it;
      assert.equal((await read.newestMail(user.id, 'approvals'))?.id, newest.id);
      assert.equal((await read.newestMail(user.id, 'approvals', one.id))?.id, newer.id);
      assert.equal(await read.newestMail(user.id, 'signIns'), undefined);
      assert.equal(await read.newestMail((await records.user()).id, 'approvals'), undefined);
    });

    it('shows the newest mail of each invitation, and deletes mails and codes with it', async () => {
      const records = createRecords(store.it);
      const app = await records.app();
      const [guest, user] = [await records.guest(app), await records.user()];
      const [mailed, unmailed] = [await records.invitation(guest, user), await records.invitation(guest, user)];
      const older = await insert({ kind: 'invitation', invitationId: mailed.id, appId: app.id });
      await store.it.write((tx) => tx.settleMail(older.id, { state: 'failed', dueAtMs: someTimeMs, error: '550 No' }));
      const find = () => store.it.read.mailsOfInvitations([mailed.id, unmailed.id]);
      assert.deepEqual([...(await find())], [[mailed.id, { state: 'failed', error: '550 No' }]]);
      await insert({ kind: 'invitation', invitationId: mailed.id, appId: app.id });
      assert.deepEqual([...(await find())], [[mailed.id, { state: 'queued', error: null }]]);
      assert.deepEqual([...(await store.it.read.mailsOfInvitations([]))], []);

      const codeHash = someHash();
      const code = {
        codeHash,
        purpose: 'invitation',
        recipient: 'grace@example.org',
        userId: null,
        invitationId: mailed.id,
        notice: null,
        expiresAtMs: someTimeMs,
      } as const;
      await store.it.write((tx) => tx.insertMailedCode(code));
      assert.deepEqual(await store.it.read.mailedCode(codeHash), code);
      assert.equal((await store.it.read.invitationByCodeHash(codeHash))?.id, mailed.id);
      await store.it.write((tx) => tx.deleteGuest(guest.id));
      assert.deepEqual([...(await find())], []);
      assert.equal(await store.it.read.mailedCode(codeHash), undefined);
    });

    it('stores the preferences of a user', async () => {
      const user = await createRecords(store.it).user();
      const { read } = store.it;
      assert.equal(await read.mailPreferences(user.id), undefined);
      for (const muted of [[], ['signIns', 'approvals'] as const]) {
        const preferences = { userId: user.id, verifiedEmail: 'grace@example.org', muted };
        await store.it.write((tx) => tx.putMailPreferences(preferences));
        assert.deepEqual(await read.mailPreferences(user.id), preferences);
      }
    });

    it('charges an account for mails', async () => {
      const [user, other] = [await createRecords(store.it).user(), await createRecords(store.it).user()];
      assert.equal(await store.it.read.accountMailsChargedUntilMs(user.id), 0);
      await store.it.write((tx) => tx.putAccountMailsCharge(user.id, someTimeMs));
      assert.equal(await store.it.read.accountMailsChargedUntilMs(user.id), someTimeMs);
      assert.equal(await store.it.read.accountMailsChargedUntilMs(other.id), 0);
      assert.equal(await store.it.read.accountChargedUntilMs(user.id), 0);
    });
  });
}
