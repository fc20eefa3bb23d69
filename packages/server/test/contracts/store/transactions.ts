import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newId } from '@tenon/protocol';
import { ConflictError, type Transaction } from '../../../src/db/store.ts';
import { createRecords, someHash, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** All or nothing, one after the other. */
export function transactionsContract(backend: Backend): void {
  describe('write()', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);
    const someUser = () => ({
      id: newId('user'),
      name: 'Tx',
      email: null,
      createdAtMs: someTimeMs,
      lastSeenAtMs: 0,
      suspendedAtMs: null,
      deletedAtMs: null,
    });

    it('returns the result of the work', async () => {
      assert.equal(await store.it.write(async () => 42), 42);
    });

    it('rolls back when the work throws, rethrows the error, and continues to work', async () => {
      const [user, app] = [
        someUser(),
        { id: newId('app'), name: 'A', requiresPasskey: false, createdAtMs: 1, updatedAtMs: 1 },
      ];
      const reason = new Error('second thoughts');
      const failing = store.it.write(async (tx) => {
        await tx.insertUser(user);
        await tx.insertApp(app);
        await tx.putMember({ appId: app.id, userId: user.id, role: 'owner', createdAtMs: 1 });
        throw reason;
      });
      await assert.rejects(failing, (error) => error === reason);
      assert.equal(await store.it.read.user(user.id), undefined);
      assert.equal(await store.it.read.app(app.id), undefined);
      await store.it.write((tx) => tx.insertUser(user));
      assert.deepEqual(await store.it.read.user(user.id), user);
    });

    it('rolls back when a change fails', async () => {
      const present = await records().user();
      const user = someUser();
      const failing = store.it.write(async (tx) => {
        await tx.insertUser(user);
        await tx.insertUser(present);
      });
      await assert.rejects(failing, ConflictError);
      assert.equal(await store.it.read.user(user.id), undefined);
    });

    it('shows its changes only to itself before the commit', async () => {
      const user = someUser();
      await store.it.write(async (tx) => {
        await tx.insertUser(user);
        assert.deepEqual(await tx.user(user.id), user);
        assert.equal(await store.it.read.user(user.id), undefined);
      });
      assert.deepEqual(await store.it.read.user(user.id), user);
    });

    it('runs queries during a transaction', async () => {
      const user = await records().user();
      const [begun, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const held = store.it.write(async (tx) => {
        await tx.insertUser(someUser());
        begun.resolve();
        await finished.promise;
      });
      await begun.promise;
      assert.deepEqual(await store.it.read.user(user.id), user);
      finished.resolve();
      await held;
    });

    it('refuses a transaction inside a transaction, instead of waiting for ever', async () => {
      const nested = store.it.write(() => store.it.write(async () => 'inner'));
      await assert.rejects(nested, /inside another/);
      assert.equal(await store.it.write(async () => 'after'), 'after');
    });

    it('allows a transaction that a finished one set off', async () => {
      const over = Promise.withResolvers<void>();
      let later = Promise.resolve('');
      await store.it.write(async () => {
        later = over.promise.then(() => store.it.write(async () => 'later'));
      });
      over.resolve();
      assert.equal(await later, 'later');
    });

    it('ends the use of a transaction with the work', async () => {
      const user = someUser();
      let leaked: Transaction | undefined;
      await store.it.write(async (tx) => {
        leaked = tx;
      });
      await assert.rejects(async () => leaked?.insertUser(user));
      assert.equal(await store.it.read.user(user.id), undefined);
    });

    it('rejects duplicates with ConflictError', async () => {
      const { app, guest, owner } = await records().stage();
      const invitation = await records().invitation(guest, owner);
      const token = await records().token(owner);
      const apiKey = await records().apiKey(owner);
      const rival = await records().user();
      await assert.rejects(records().guest(app, guest.guestKey), ConflictError);
      await assert.rejects(records().invitation(guest, owner, { codeHash: invitation.codeHash }), ConflictError);
      await assert.rejects(records().token(rival, { secretHash: token.secretHash }), ConflictError);
      const copy = { ...apiKey, id: newId('apiKey'), userId: rival.id };
      await assert.rejects(
        store.it.write((tx) => tx.insertApiKey(copy)),
        ConflictError,
      );
      await store.it.write((tx) => tx.insertApiKey({ ...copy, secretHash: someHash() }));
    });
  });

  describe('readSnapshot()', () => {
    const store = opened(backend, backend.openStore);

    it('shows one state to all queries, while others see new commits', async () => {
      const { id } = await createRecords(store.it).app({ name: 'Before' });
      const name = async (read: typeof store.it.read) => (await read.app(id))?.name;
      const seen = await store.it.readSnapshot(async (read) => {
        const first = await name(read);
        await store.it.write((tx) => tx.updateApp(id, { name: 'After', updatedAtMs: someTimeMs + 1 }));
        const other = await store.it.readSnapshot(name);
        return [first, await name(read), await name(store.it.read), other];
      });
      assert.deepEqual(seen, ['Before', 'Before', 'After', 'After']);
    });

    it('rethrows the errors of the work, and runs more than fit at once', async () => {
      const reason = new Error('enough');
      for (let count = 0; count < 5; count++) {
        await assert.rejects(
          store.it.readSnapshot(() => Promise.reject(reason)),
          (error) => error === reason,
        );
      }
      const many = Array.from({ length: 9 }, (_, index) => store.it.readSnapshot(async () => index));
      assert.deepEqual(await Promise.all(many), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });
  });

  describe('ping() and close()', () => {
    it('works until it is closed, finishes running transactions, and can be closed twice', async () => {
      const { location, remove } = await backend.makeLocation();
      const store = await backend.openStore(location);
      await store.ping();
      await Promise.all([store.pingWrite(), store.pingWrite()]);
      const user = {
        id: newId('user'),
        name: 'Last',
        email: null,
        createdAtMs: 1,
        lastSeenAtMs: 0,
        suspendedAtMs: null,
        deletedAtMs: null,
      };
      const last = store.write(async (tx) => {
        await nextTurn();
        await tx.insertUser(user);
      });
      await Promise.all([store.close(), store.close(), last]);
      await assert.rejects(async () => store.ping());
      await assert.rejects(async () => store.read.user(user.id));
      await assert.rejects(store.write(async () => {}));
      const again = await backend.openStore(location);
      assert.deepEqual(await again.read.user(user.id), user);
      await again.close();
      await remove();
    });
  });
}
