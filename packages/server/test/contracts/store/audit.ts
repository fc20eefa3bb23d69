import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { type AppId, newId, type UserId } from '@tenon/protocol';
import { sealAuditEvents } from '../../../src/audit/seal.ts';
import { type AuditEventRecord, type AuditFilter, auditCursor } from '../../../src/db/audit-records.ts';
import type { Store } from '../../../src/db/store.ts';
import { auditEvent, createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

const withoutKeys = ({ guestKeys: _, ...rest }: AuditEventRecord) => rest;
const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
const whole = { limit: 1000 };

/** Audit events: stored unchanged, found by those with access, and anonymized when accounts are deleted. */
export function auditContract(backend: Backend): void {
  describe('audit events', () => {
    const store = opened(backend, backend.openStore);

    async function put(...events: AuditEventRecord[]): Promise<void> {
      await store.it.write(async (tx) => {
        for (const event of events) await tx.insertAuditEvent(event);
      });
    }

    it('are returned as they were inserted', async () => {
      const [appId, accountId, guest] = [newId('app'), newId('user'), newId('guest')];
      const rich = auditEvent({
        appId,
        accountId,
        action: 'guest.invite',
        by: 'user',
        userId: accountId,
        userName: 'Ada 👩‍🚀 O’Neil',
        viaId: newId('session'),
        viaName: 'Browser/1.0',
        address: '2001:db8::1',
        targetName: 'a "name"',
        details: { name: { before: 'a', after: null }, list: [1, 'two'], constructor: true },
        guestKeys: { [guest]: 'customers/globex', [newId('guest')]: '__proto__' },
      });
      const bare = auditEvent({ appId, accountId, by: 'operator' });
      await put(rich, bare);
      const ofApp = await store.it.read.auditOfApp(appId, {}, whole);
      assert.deepEqual(new Map(ofApp.map((event) => [event.id, event])), new Map([rich, bare].map((e) => [e.id, e])));
      assert.deepEqual(
        (await store.it.read.auditOfAccount(accountId, {}, whole)).map((event) => event.id).sort(),
        [rich.id, bare.id].sort(),
      );
    });

    it('have no guest keys in the trail of an account', async () => {
      const [appId, accountId] = [newId('app'), newId('user')];
      const event = auditEvent({ appId, accountId, guestKeys: { [newId('guest')]: 'customers/globex' } });
      await put(event);
      assert.deepEqual(await store.it.read.auditOfAccount(accountId, {}, whole), [withoutKeys(event)]);
    });

    it('are only in the trails into which they were inserted', async () => {
      const [appId, accountId] = [newId('app'), newId('user')];
      const both = auditEvent({ appId, accountId, atMs: 4 });
      const ofApp = auditEvent({ appId, atMs: 3 });
      const ofAccount = auditEvent({ accountId, atMs: 2 });
      const ofNone = auditEvent({ atMs: 1 });
      const foreign = auditEvent({ appId: newId('app'), accountId: newId('user'), atMs: 5 });
      await put(both, ofApp, ofAccount, ofNone, foreign);
      assert.deepEqual(idsOf(await store.it.read.auditOfApp(appId, {}, whole)), idsOf([both, ofApp]));
      assert.deepEqual(idsOf(await store.it.read.auditOfAccount(accountId, {}, whole)), idsOf([both, ofAccount]));
      const all = idsOf(await store.it.read.auditOfAll({ toMs: 6 }, whole));
      assert.deepEqual(all, idsOf([foreign, both, ofApp, ofAccount, ofNone]));
    });

    it('are listed newest first, in pages of any length, those of one time in the order of insertion', async () => {
      const [appId, accountId] = [newId('app'), newId('user')];
      const times = [5, 1, 3, 3, 3, 9, 2];
      const events = times.map((atMs) => auditEvent({ appId, accountId, atMs: someTimeMs + atMs }));
      await put(...events);
      const expected = idsOf(events.toSorted((a, b) => b.atMs - a.atMs || (a.id < b.id ? 1 : -1)));
      for (const limit of [1, 2, 3, events.length, events.length + 1]) {
        assert.deepEqual(idsOf(await turnPages(store.it, appId, {}, limit)), expected, `pages of ${limit}`);
      }
      const [first] = events.toSorted((a, b) => b.atMs - a.atMs);
      assert.ok(first);
      const after = auditCursor(first);
      const rest = await store.it.read.auditOfAccount(accountId, {}, { after, limit: 1000 });
      assert.deepEqual(idsOf(rest), expected.slice(1));
    });

    it('are found by action, user, target and time, and by all of them at once', async () => {
      const appId = newId('app');
      const users = [newId('user'), newId('user')] as const;
      const targets = [newId('guest'), newId('guest')] as const;
      const events: AuditEventRecord[] = [];
      for (const action of ['guest.invite', 'guest.remove'] as const) {
        for (const userId of users) {
          for (const targetId of targets) {
            for (const atMs of [1, 2, 3]) {
              events.push(auditEvent({ appId, action, by: 'user', userId, accountId: userId, targetId, atMs }));
            }
          }
        }
      }
      await put(...events);
      const filters: readonly AuditFilter[] = [
        { action: 'guest.remove' },
        { action: 'guest.invite', toMs: 3 },
        { userId: users[1] },
        { userId: users[0], targetId: targets[1] },
        { targetId: targets[0], fromMs: 2 },
        { fromMs: 2, toMs: 3 },
        { fromMs: 3, toMs: 3 },
        { action: 'guest.remove', userId: users[0], targetId: targets[1], fromMs: 2, toMs: 4 },
        { action: 'app.delete' },
        { userId: newId('user') },
      ];
      for (const filter of filters) {
        const found = await turnPages(store.it, appId, filter, 2);
        const expected = events.filter((event) => matches(event, filter));
        assert.deepEqual(idsOf(found).sort(), idsOf(expected).sort(), JSON.stringify(filter));
      }
    });

    it('are rolled back with the change that they describe', async () => {
      const appId = newId('app');
      await assert.rejects(
        store.it.write(async (tx) => {
          await tx.insertAuditEvent(auditEvent({ appId }));
          throw new Error('taken back');
        }),
        /taken back/,
      );
      assert.deepEqual(await store.it.read.auditOfApp(appId, {}, whole), []);
    });

    it('outlive an application, without its guest keys', async () => {
      const records = createRecords(store.it);
      const [app, other] = [await records.app(), await records.app()];
      const guestKeys = { [newId('guest')]: 'customers/globex' };
      const [event, foreign] = [auditEvent({ appId: app.id, guestKeys }), auditEvent({ appId: other.id, guestKeys })];
      await put(event, foreign);
      await store.it.write((tx) => tx.deleteApp(app.id));
      assert.deepEqual(await store.it.read.auditOfApp(app.id, {}, whole), [{ ...event, guestKeys: null }]);
      assert.deepEqual(await store.it.read.auditOfApp(other.id, {}, whole), [foreign]);
    });

    it('mention a deleted user only in applications, by the given name', async () => {
      const records = createRecords(store.it);
      const [user, other] = [await records.user(), await records.user()];
      const appId = newId('app');
      const by = (id: UserId, fields: Partial<AuditEventRecord> = {}) =>
        auditEvent({
          by: 'user',
          accountId: id,
          userId: id,
          userName: 'Ada',
          viaId: newId('token'),
          viaName: 'Ada’s laptop',
          address: '192.0.2.7',
          ...fields,
        });
      const own = by(user.id);
      const inApp = by(user.id, { appId, atMs: 3 });
      const about = by(other.id, { appId, targetId: user.id, targetName: 'Ada', atMs: 2 });
      const foreign = by(other.id, { appId, atMs: 1 });
      await put(own, inApp, about, foreign);
      await store.it.write((tx) => tx.eraseUser(user.id, { name: 'Gone', deletedAtMs: 1 }));
      assert.deepEqual(await store.it.read.auditOfApp(appId, {}, whole), [
        { ...inApp, userName: 'Gone', viaName: null, address: null },
        { ...about, targetName: 'Gone' },
        foreign,
      ]);
      assert.deepEqual(idsOf(await store.it.read.auditOfAccount(user.id, {}, whole)), [inApp.id]);
    });

    it('are deleted from the oldest on, up to a time and so many at once', async () => {
      const { location, remove } = await backend.makeLocation();
      const own = await backend.openStore(location);
      try {
        const appId = newId('app');
        const events = [1, 2, 3, 4, 5].map((atMs) => auditEvent({ appId, atMs }));
        await own.write(async (tx) => {
          for (const event of events) await tx.insertAuditEvent(event);
        });
        const timesLeft = async () => (await own.read.auditOfApp(appId, {}, whole)).map(({ atMs }) => atMs);
        const deleteBefore = (timeMs: number) => own.write((tx) => tx.deleteAuditBefore(timeMs, 2));
        assert.deepEqual(await deleteBefore(4), { deleted: 0, isDone: true }, 'none is sealed yet');
        await sealAuditEvents({ store: own, clock: () => 9, random: randomBytes });
        assert.deepEqual(await deleteBefore(4), { deleted: 2, isDone: false });
        assert.deepEqual(await timesLeft(), [5, 4, 3]);
        assert.deepEqual(await deleteBefore(4), { deleted: 1, isDone: true });
        assert.deepEqual(await deleteBefore(4), { deleted: 0, isDone: true });
        assert.deepEqual(await timesLeft(), [5, 4]);
      } finally {
        await own.close();
        await remove();
      }
    });
  });
}

function matches(event: AuditEventRecord, { action, userId, targetId, fromMs, toMs }: AuditFilter): boolean {
  return (
    (action === undefined || event.action === action) &&
    (userId === undefined || event.userId === userId) &&
    (targetId === undefined || event.targetId === targetId) &&
    (fromMs === undefined || event.atMs >= fromMs) &&
    (toMs === undefined || event.atMs < toMs)
  );
}

async function turnPages({ read }: Store, appId: AppId, filter: AuditFilter, limit: number) {
  const events: AuditEventRecord[] = [];
  for (let after: string | undefined; ; ) {
    const page = await read.auditOfApp(appId, filter, { after, limit });
    assert.ok(page.length <= limit, `a page of at most ${limit}`);
    events.push(...page);
    const last = page.at(-1);
    if (last === undefined) return events;
    after = auditCursor(last);
  }
}
