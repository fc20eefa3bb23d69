import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId, type SessionId } from '@tenon/protocol';
import { ConflictError } from '../../../src/domain/ports.ts';
import { createRecords, someHash, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { demandPages } from './pages.ts';

/** Addresses that are different ones, whatever a database's collation makes of them. */
const alikeSubjects = ['straße@example.org', 'strasse@example.org', 'é@example.org', 'e\u0301@example.org', "o'b@x"];

/** Accounts: users' identities, sessions and known browsers, and the links that an operator hands out. */
export function accountsContract(backend: Backend): void {
  describe('accounts', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('renames a user, and nobody else', async () => {
      const user = await records().user({ email: 'ada@example.org' });
      const other = await records().user();
      await store.it.write((tx) => tx.renameUser(user.id, "'; drop table users --"));
      assert.deepEqual(await store.it.read.user(user.id), { ...user, name: "'; drop table users --" });
      assert.deepEqual(await store.it.read.user(other.id), other);
    });

    it('finds an identity by exactly its kind and subject', async () => {
      const user = await records().user();
      for (const subject of alikeSubjects) {
        const identity = await records().identity(user, { subject });
        assert.deepEqual(await store.it.read.identity('password', subject), identity, subject);
      }
      assert.equal(await store.it.read.identity('password', 'É@example.org'), undefined);
      assert.equal(await store.it.read.identity('password', ''), undefined);
      assert.equal(await store.it.read.identity('other' as 'password', 'é@example.org'), undefined);
    });

    it('lists the identities of a user by id', async () => {
      const user = await records().user();
      const [first, second] = [await records().identity(user), await records().identity(user)];
      await records().identity(await records().user());
      assert.deepEqual(await store.it.read.identitiesOf(user.id), [first, second]);
      assert.deepEqual(await store.it.read.identitiesOf((await records().user()).id), []);
    });

    it('changes the secret of an identity, and nothing else of it or of others', async () => {
      const user = await records().user();
      const [identity, other] = [await records().identity(user), await records().identity(user)];
      const change = { secret: '$argon2id$new', updatedAtMs: someTimeMs + 3 };
      await store.it.write((tx) => tx.updateIdentity(identity.id, change));
      assert.deepEqual(await store.it.read.identitiesOf(user.id), [{ ...identity, ...change }, other]);
    });

    it('gives a kind and subject to one user alone', async () => {
      const { kind, subject } = await records().identity(await records().user());
      const rival = await records().user();
      await assert.rejects(records().identity(rival, { subject }), ConflictError);
      const ofOtherKind = await records().identity(rival, { kind: 'other' as 'password', subject });
      assert.deepEqual(await store.it.read.identity('other' as 'password', subject), ofOtherKind);
      assert.notEqual((await store.it.read.identity(kind, subject))?.userId, rival.id);
    });

    it('finds sessions by hash and by id, lists a user’s, and forgets deleted ones', async () => {
      const user = await records().user();
      const other = await records().session(await records().user());
      const first = await records().session(user, { userAgent: null, address: '2001:db8::1' });
      const second = await records().session(user, { lastUsedAtMs: 1, expiresAtMs: 2, confirmedAtMs: 3 });
      assert.deepEqual(await store.it.read.session(first.id), first);
      assert.deepEqual(await store.it.read.sessionByHash(second.secretHash), second);
      assert.equal(await store.it.read.session(newId('session')), undefined);
      assert.equal(await store.it.read.sessionByHash(someHash()), undefined);
      const listed = await demandPages(
        (page) => store.it.read.sessions(user.id, page),
        ({ id }) => id,
      );
      assert.deepEqual(listed, [first, second]);
      await store.it.write((tx) => tx.deleteSession(first.id));
      assert.equal(await store.it.read.sessionByHash(first.secretHash), undefined);
      assert.deepEqual(await store.it.read.sessions(user.id, {}), [second]);
      assert.deepEqual(await store.it.read.session(other.id), other);
    });

    it('notes when the password was entered in a session, and nothing else of it or of others', async () => {
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
      assert.deepEqual(await store.it.read.sessions(other.id, {}), [theirs]);
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
      assert.deepEqual(await store.it.read.tokenByHash(ofProgram.secretHash), ofProgram);
      await assert.rejects(records().token(user, { sessionId: session.id }), 'none begins after the end');
    });

    it('finds known browsers by hash, and forgets those of one user', async () => {
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

    it('keeps so many of the known browsers of one user, those that are the newest', async () => {
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
        await tx.keepKnownBrowsers(user.id, 2);
      });
      const left = [made, ...later].map(({ secretHash }) => store.it.read.knownBrowserByHash(secretHash));
      assert.deepEqual(await Promise.all(left), [undefined, later[0], later[1], undefined]);
      assert.deepEqual(await store.it.read.knownBrowserByHash(theirs.secretHash), theirs);
      await store.it.write((tx) => tx.keepKnownBrowsers(user.id, 2));
      assert.ok(await store.it.read.knownBrowserByHash(later[0]?.secretHash ?? ''), 'and again changes nothing');
    });

    it('gives back one-time links as they were put in, and marks a use once', async () => {
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

    it('refuses secrets that somebody else has', async () => {
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

    it('refuses what belongs to a user who is not there', async () => {
      const nobody = { id: newId('user'), name: 'Nobody', email: null, createdAtMs: 1, deletedAtMs: null };
      await assert.rejects(records().identity(nobody));
      await assert.rejects(records().session(nobody));
      await assert.rejects(records().knownBrowser(nobody));
      await assert.rejects(records().oneTimeLink({ purpose: 'reset_password', userId: nobody.id }));
      await assert.rejects(records().authorizationCode(nobody));
    });
  });
}
