import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { ConflictError } from '../../../src/db/store.ts';
import { createRecords, someHash, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** What a person approves and a program fetches: authorization codes and requests of the device grant. */
export function authorizationsContract(backend: Backend): void {
  describe('authorizations', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('returns an authorization code as it was inserted', async () => {
      const user = await records().user();
      const plain = await records().authorizationCode(user);
      const rich = await records().authorizationCode(user, {
        redirectUri: 'http://[::1]:1/callback',
        scopes: ['manage'],
        deviceName: 'Ada’s laptop 👩‍🚀',
      });
      assert.deepEqual(await store.it.read.authorizationCodeByHash(plain.codeHash), plain);
      assert.deepEqual(await store.it.read.authorizationCodeByHash(rich.codeHash), rich);
      assert.equal(await store.it.read.authorizationCodeByHash(someHash()), undefined);
      await assert.rejects(records().authorizationCode(user, { codeHash: plain.codeHash }), ConflictError);
    });

    it('marks an authorization code as exchanged once', async () => {
      const user = await records().user();
      const [code, other] = [await records().authorizationCode(user), await records().authorizationCode(user)];
      const [first, second] = [await records().token(user), await records().token(user)];
      const use = { tokenId: first.id, usedAtMs: someTimeMs + 1 };
      await store.it.write((tx) => tx.useAuthorizationCode(code.codeHash, use));
      await store.it.write((tx) => tx.useAuthorizationCode(code.codeHash, { tokenId: second.id, usedAtMs: 1 }));
      assert.deepEqual(await store.it.read.authorizationCodeByHash(code.codeHash), { ...code, ...use });
      assert.deepEqual(await store.it.read.authorizationCodeByHash(other.codeHash), other);
    });

    it('keeps a code as used after its token is deleted', async () => {
      const user = await records().user();
      const code = await records().authorizationCode(user);
      const token = await records().token(user);
      const use = { tokenId: token.id, usedAtMs: someTimeMs + 1 };
      await store.it.write((tx) => tx.useAuthorizationCode(code.codeHash, use));
      await store.it.write((tx) => tx.deleteToken(token.id));
      const left = { ...code, ...use, tokenId: null };
      assert.deepEqual(await store.it.read.authorizationCodeByHash(code.codeHash), left);
    });

    it('returns a device request by either code', async () => {
      const plain = await records().deviceGrant();
      const rich = await records().deviceGrant({ scopes: [], deviceName: 'build server', address: '2001:db8::1' });
      for (const grant of [plain, rich]) {
        assert.deepEqual(await store.it.read.deviceGrantByDeviceCode(grant.deviceCodeHash), grant);
        assert.deepEqual(await store.it.read.deviceGrantByUserCode(grant.userCodeHash), grant);
      }
      assert.equal(await store.it.read.deviceGrantByDeviceCode(plain.userCodeHash), undefined);
      assert.equal(await store.it.read.deviceGrantByUserCode(plain.deviceCodeHash), undefined);
    });

    it('settles a pending device request once', async () => {
      const [user, rival] = [await records().user(), await records().user()];
      const [approved, denied] = [await records().deviceGrant(), await records().deviceGrant()];
      const other = await records().deviceGrant();
      const sessionId = newId('session');
      const approve = { status: 'approved', userId: user.id, sessionId, scopes: ['read'] } as const;
      const approveToo = { status: 'approved', userId: rival.id, sessionId, scopes: ['manage'] } as const;
      await store.it.write((tx) => tx.decideDeviceGrant(approved.id, approve));
      await store.it.write((tx) => tx.decideDeviceGrant(denied.id, { status: 'denied' }));
      for (const { id } of [approved, denied]) {
        await store.it.write((tx) => tx.decideDeviceGrant(id, approveToo));
        await store.it.write((tx) => tx.decideDeviceGrant(id, { status: 'denied' }));
      }
      const found = ({ deviceCodeHash }: typeof other) => store.it.read.deviceGrantByDeviceCode(deviceCodeHash);
      assert.deepEqual(await found(approved), { ...approved, ...approve });
      assert.deepEqual(await found(denied), { ...denied, status: 'denied' });
      assert.deepEqual(await found(other), other);
    });

    it('refuses a code that another device request has, until that one is deleted', async () => {
      const { id, deviceCodeHash, userCodeHash } = await records().deviceGrant();
      const other = await records().deviceGrant();
      await assert.rejects(records().deviceGrant({ userCodeHash }), ConflictError);
      await assert.rejects(records().deviceGrant({ deviceCodeHash }), ConflictError);
      await store.it.write((tx) => tx.deleteDeviceGrant(id));
      assert.equal(await store.it.read.deviceGrantByDeviceCode(deviceCodeHash), undefined);
      const again = await records().deviceGrant({ userCodeHash });
      assert.deepEqual(await store.it.read.deviceGrantByUserCode(userCodeHash), again);
      assert.deepEqual(await store.it.read.deviceGrantByUserCode(other.userCodeHash), other);
    });

    it('rejects the approval of a missing user', async () => {
      const { id } = await records().deviceGrant();
      const ids = { userId: newId('user'), sessionId: newId('session') };
      const approve = { status: 'approved', ...ids, scopes: ['read'] } as const;
      await assert.rejects(store.it.write((tx) => tx.decideDeviceGrant(id, approve)));
    });
  });
}
