import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId, type SessionId } from '@tenon/protocol';
import { userCursor } from '../../../src/auth/user-queries.ts';
import type { UserRecord } from '../../../src/db/records.ts';
import { ConflictError } from '../../../src/db/store.ts';
import { createRecords, someHash, someTimeMs, unused } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { assertPages } from './pages.ts';

/** Addresses that are different ones, whatever a database's collation makes of them. */
const alikeEmails = ['straße@example.org', 'strasse@example.org', 'é@example.org', 'e\u0301@example.org', "o'b@x"];

/** Accounts: users' passwords, sessions and known browsers, and the links that an operator hands out. */
export function accountsContract(backend: Backend): void {
  describe('accounts', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('renames only the given user', async () => {
      const user = await records().user({ email: 'ada@example.org' });
      const other = await records().user();
      await store.it.write((tx) => tx.renameUser(user.id, "'; drop table users --"));
      assert.deepEqual(await store.it.read.user(user.id), { ...user, name: "'; drop table users --" });
      assert.deepEqual(await store.it.read.user(other.id), other);
    });

    it('lists users with search, in each order, with their operators and the number of their applications', async () => {
      const { app, owner } = await records().stage();
      const made = [owner];
      for (const name of ['Zoë', 'quux', 'Quux', 'q%']) {
        made.push(await records().user({ name, email: `${name}-${newId('user')}@Listed.example`.toLowerCase() }));
      }
      const [, zoe, ada] = made;
      assert.ok(zoe && ada);
      const gone = await records().user({ name: 'quux gone' });
      await store.it.write(async (tx) => {
        await tx.putOperator({ userId: ada.id, createdAtMs: someTimeMs });
        await tx.setSuspended(zoe.id, 5);
        await tx.updateLastSeen(
          new Map([
            [zoe.id, 100],
            [ada.id, 20],
          ]),
        );
        await tx.eraseUser(gone.id, { name: 'quux gone', deletedAtMs: 1 });
      });
      const search = async (text: string) =>
        (await store.it.read.users({}, { text })).map(({ name, isOperator }) => [name, isOperator]);
      assert.deepEqual(await search('QUUX'), [
        ['quux', true],
        ['Quux', false],
      ]);
      assert.deepEqual(await search('q%'), [['q%', false]]);
      assert.deepEqual((await search('@listed.example')).length, 4);
      assert.deepEqual(await search(zoe.id), [['Zoë', false]]);
      assert.equal(await store.it.read.countUsersFound({ text: '@listed.example' }), 4);
      const listed = (state: 'active' | 'suspended' | 'operator') =>
        store.it.read.users({}, { state }).then((users) => users.map(({ id }) => id));
      assert.ok((await listed('operator')).includes(ada.id) && !(await listed('operator')).includes(zoe.id));
      assert.ok((await listed('suspended')).includes(zoe.id) && !(await listed('active')).includes(zoe.id));
      for (const sort of ['createdAt', 'name', 'lastSeenAt'] as const) {
        const up = await store.it.read.users({ sort });
        assert.deepEqual((await store.it.read.users({ sort: `-${sort}` })).toReversed(), up);
        const cursor = userCursor(up[1] as UserRecord, sort);
        assert.deepEqual(await store.it.read.users({ sort, after: cursor }), up.slice(2));
        assert.deepEqual(await store.it.read.users({ sort, before: cursor }), up.slice(0, 1));
      }
      assert.equal((await store.it.read.users({ sort: '-lastSeenAt', limit: 1 }))[0]?.id, zoe.id);
      const counts = await store.it.read.countAppsOf(made.map(({ id }) => id));
      assert.equal(counts.get(owner.id), 1);
      assert.equal(counts.get(zoe.id), undefined);
      await store.it.write((tx) => tx.markAppDeleted(app.id, 1));
      assert.deepEqual(await store.it.read.countAppsOf([owner.id]), new Map());
    });

    it('finds a user and the password by exactly the e-mail address', async () => {
      for (const email of alikeEmails) {
        const user = await records().user({ email });
        assert.deepEqual(await store.it.read.userByEmail(email), user, email);
        assert.equal(await store.it.read.passwordByEmail(email), undefined);
        const password = await records().password(user);
        assert.deepEqual(await store.it.read.passwordByEmail(email), password, email);
        assert.deepEqual(await store.it.read.password(user.id), password);
      }
      for (const email of ['É@example.org', '']) {
        assert.equal(await store.it.read.userByEmail(email), undefined);
        assert.equal(await store.it.read.passwordByEmail(email), undefined);
      }
      await records().password(await records().user());
      assert.equal(await store.it.read.passwordByEmail(null as unknown as string), undefined);
    });

    it('replaces the password of a user, and of no other', async () => {
      const [user, other] = [await records().user(), await records().user()];
      await records().password(user);
      const ofOther = await records().password(other);
      const changed = { userId: user.id, hash: '$argon2id$new', updatedAtMs: someTimeMs + 3 };
      await store.it.write((tx) => tx.putPassword(changed));
      assert.deepEqual(await store.it.read.password(user.id), changed);
      assert.deepEqual(await store.it.read.password(other.id), ofOther);
    });

    it('assigns an e-mail address to only one user, and allows any number without one', async () => {
      const email = `${newId('user')}@example.org`;
      const user = await records().user({ email });
      await assert.rejects(records().user({ email }), ConflictError);
      const [other, another] = [await records().user(), await records().user()];
      await assert.rejects(
        store.it.write((tx) => tx.setEmail(other.id, email)),
        ConflictError,
      );
      assert.deepEqual(await store.it.read.userByEmail(email), user);
      await store.it.write((tx) => tx.setEmail(other.id, `other-${email}`));
      assert.deepEqual(await store.it.read.user(other.id), { ...other, email: `other-${email}` });
      assert.deepEqual(await store.it.read.user(another.id), another);
    });

    it('finds sessions by hash and by id, lists those of a user, and omits deleted ones', async () => {
      const user = await records().user();
      const other = await records().session(await records().user());
      const first = await records().session(user, { userAgent: null, address: '2001:db8::1' });
      const second = await records().session(user, { lastUsedAtMs: 1, expiresAtMs: 2, confirmedAtMs: 3 });
      assert.deepEqual(await store.it.read.session(first.id), first);
      assert.deepEqual(await store.it.read.sessionByHash(second.secretHash), second);
      assert.equal(await store.it.read.session(newId('session')), undefined);
      assert.equal(await store.it.read.sessionByHash(someHash()), undefined);
      const listed = await assertPages(
        (page) => store.it.read.sessions(user.id, page),
        ({ id }) => id,
      );
      assert.deepEqual(listed, [first, second].map(unused));
      await store.it.write((tx) => tx.deleteSession(first.id));
      assert.equal(await store.it.read.sessionByHash(first.secretHash), undefined);
      assert.deepEqual(await store.it.read.sessions(user.id, {}), [unused(second)]);
      assert.deepEqual(await store.it.read.session(other.id), other);
    });

    it('updates only the time of the password confirmation of a session', async () => {
      const user = await records().user();
      const [session, other] = [await records().session(user), await records().session(user)];
      await store.it.write((tx) => tx.confirmSession(session.id, someTimeMs + 9));
      assert.deepEqual(await store.it.read.session(session.id), { ...session, confirmedAtMs: someTimeMs + 9 });
      assert.deepEqual(await store.it.read.session(other.id), other);
    });

    it('deletes the sessions of a user, all or all but one, with their tokens', async () => {
      const [user, other] = [await records().user(), await records().user()];
      const sessions = [await records().session(user), await records().session(user), await records().session(user)];
      const [first, second, third] = sessions.map(({ id }) => id) as [SessionId, SessionId, SessionId];
      const tokens = await Promise.all(sessions.map(({ id }) => records().token(user, { sessionId: id })));
      const theirs = await records().session(other);
      const ids = async () => (await store.it.read.sessions(user.id, {})).map(({ id }) => id);
      const tokensLeft = async () => {
        const found = await Promise.all(tokens.map(({ id }) => store.it.read.token(id)));
        return found.filter((token) => token !== undefined).map(({ sessionId }) => sessionId);
      };

      await store.it.write((tx) => tx.deleteSession(third));
      assert.deepEqual(await tokensLeft(), [first, second]);
      await store.it.write((tx) => tx.deleteSessionsOf(user.id, second));
      assert.deepEqual(await ids(), [second]);
      assert.deepEqual(await tokensLeft(), [second]);
      await store.it.write((tx) => tx.deleteSessionsOf(user.id, theirs.id));
      assert.deepEqual([await ids(), await tokensLeft()], [[], []], 'one of another user is no exception');
      assert.deepEqual(await store.it.read.sessions(other.id, {}), [unused(theirs)]);
      await store.it.write((tx) => tx.deleteSessionsOf(other.id));
      assert.deepEqual(await store.it.read.sessions(other.id, {}), []);
    });

    it('keeps the tokens of programs when sessions end', async () => {
      const user = await records().user();
      const session = await records().session(user);
      const ofPages = await records().token(user, { sessionId: session.id });
      const ofProgram = await records().token(user);
      await store.it.write((tx) => tx.deleteSession(session.id));
      assert.equal(await store.it.read.tokenByHash(ofPages.secretHash), undefined);
      assert.deepEqual(await store.it.read.tokenByHash(ofProgram.secretHash), {
        ...ofProgram,
        suspendedAtMs: null,
        passkeyId: null,
      });
      await assert.rejects(records().token(user, { sessionId: session.id }), 'none begins after the end');
    });

    it('finds known browsers by hash, and deletes those of one user', async () => {
      const [user, other] = [await records().user(), await records().user()];
      const browsers = [await records().knownBrowser(user), await records().knownBrowser(user)];
      const theirs = await records().knownBrowser(other);
      for (const browser of browsers) {
        assert.deepEqual(await store.it.read.knownBrowserByHash(browser.secretHash), browser);
      }
      await store.it.write((tx) => tx.deleteKnownBrowsersOf(user.id));
      for (const { secretHash } of browsers) {
        assert.equal(await store.it.read.knownBrowserByHash(secretHash), undefined);
      }
      assert.deepEqual(await store.it.read.knownBrowserByHash(theirs.secretHash), theirs);
    });

    it('keeps the given number of the newest known browsers of a user', async () => {
      const [user, other] = [await records().user(), await records().user()];
      const theirs = await records().knownBrowser(other);
      const made = await records().knownBrowser(user);
      const later = [2, 3, 1].map((at) => ({
        ...made,
        secretHash: `${made.secretHash}${at}`,
        createdAtMs: made.createdAtMs + at,
      }));
      await store.it.write(async (tx) => {
        for (const browser of later) await tx.insertKnownBrowser(browser);
        await tx.trimKnownBrowsers(user.id, 2);
      });
      const left = [made, ...later].map(({ secretHash }) => store.it.read.knownBrowserByHash(secretHash));
      assert.deepEqual(await Promise.all(left), [undefined, later[0], later[1], undefined]);
      assert.deepEqual(await store.it.read.knownBrowserByHash(theirs.secretHash), theirs);
      await store.it.write((tx) => tx.trimKnownBrowsers(user.id, 2));
      assert.ok(await store.it.read.knownBrowserByHash(later[0]?.secretHash ?? ''), 'and again changes nothing');
    });

    it('returns one-time links as they were inserted, and marks a use once', async () => {
      const user = await records().user();
      const links = [
        await records().oneTimeLink({ isForFirstUser: true }),
        await records().oneTimeLink(),
        await records().oneTimeLink({ purpose: 'reset_password', userId: user.id }),
      ];
      for (const link of links) assert.deepEqual(await store.it.read.oneTimeLinkByHash(link.codeHash), link);
      assert.equal(await store.it.read.oneTimeLinkByHash(someHash()), undefined);
      const [used, ...others] = links as [(typeof links)[0], ...typeof links];
      await store.it.write((tx) => tx.useOneTimeLink(used.id, someTimeMs + 1));
      await store.it.write((tx) => tx.useOneTimeLink(used.id, someTimeMs + 2));
      assert.deepEqual(await store.it.read.oneTimeLinkByHash(used.codeHash), { ...used, usedAtMs: someTimeMs + 1 });
      for (const link of others) assert.deepEqual(await store.it.read.oneTimeLinkByHash(link.codeHash), link);
    });

    it('rejects duplicate secrets', async () => {
      const [user, rival] = [await records().user(), await records().user()];
      const { secretHash } = await records().session(user);
      const { codeHash } = await records().oneTimeLink();
      const browser = await records().knownBrowser(user);
      await assert.rejects(records().session(rival, { secretHash }), ConflictError);
      await assert.rejects(records().oneTimeLink({ codeHash }), ConflictError);
      await assert.rejects(
        store.it.write((tx) => tx.insertKnownBrowser({ ...browser, userId: rival.id })),
        ConflictError,
      );
    });

    it('rejects records of a missing user', async () => {
      const nobody = {
        id: newId('user'),
        name: 'Nobody',
        email: null,
        createdAtMs: 1,
        lastSeenAtMs: 0,
        suspendedAtMs: null,
        deletedAtMs: null,
      };
      await assert.rejects(records().password(nobody));
      await assert.rejects(records().session(nobody));
      await assert.rejects(records().knownBrowser(nobody));
      await assert.rejects(records().oneTimeLink({ purpose: 'reset_password', userId: nobody.id }));
      await assert.rejects(records().authorizationCode(nobody));
    });
  });
}
