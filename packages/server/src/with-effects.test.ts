import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { addressOf, auditEvent, someTimeMs } from '../test/helpers/records.ts';
import { UnrecordedChangeError } from './db/mutation.ts';
import type { TokenRecord, UserRecord } from './db/records.ts';
import { openSqliteStore } from './db/sqlite/store.ts';
import type { Store, Transaction } from './db/store.ts';
import { unrestricted } from './db/trust-records.ts';
import { statements } from './queries.ts';
import { withEffects } from './with-effects.ts';

describe('withEffects()', () => {
  let folder: string;
  let bare: Store;
  let store: Store;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-audit-'));
    bare = await openSqliteStore(statements, { file: join(folder, 'tenon.db') });
    store = withEffects(bare, {});
  });
  after(async () => {
    await bare.close();
    await rm(folder, { recursive: true });
  });

  const someUser = (): UserRecord => ({
    id: newId('user'),
    name: 'Ada',
    email: null,
    createdAtMs: someTimeMs,
    lastSeenAtMs: 0,
    suspendedAtMs: null,
    deletedAtMs: null,
  });

  it('rolls back a transaction without an audit event, and names its changes', async () => {
    const user = someUser();
    const work = async (tx: Transaction) => {
      await tx.insertUser(user);
      await tx.renameUser(user.id, 'Grace');
    };
    await assert.rejects(store.write(work), (error) => {
      assert.ok(error instanceof UnrecordedChangeError);
      assert.deepEqual(error.changes, ['insertUser', 'renameUser']);
      return true;
    });
    assert.equal(await store.read.user(user.id), undefined);
  });

  it('commits a transaction with an audit event before or after its changes, and returns its result', async () => {
    for (const isFirst of [true, false]) {
      const user = someUser();
      const event = auditEvent({ accountId: user.id });
      const answer = await store.write(async (tx) => {
        if (isFirst) await tx.insertAuditEvent(event);
        await tx.insertUser(user);
        if (!isFirst) await tx.insertAuditEvent(event);
        return (await tx.user(user.id))?.name;
      });
      assert.equal(answer, 'Ada');
      assert.equal((await store.read.auditOfAccount(user.id, {}, { limit: 9 })).length, 1);
    }
  });

  it('checks each transaction', async () => {
    await store.write((tx) => tx.insertAuditEvent(auditEvent()));
    await assert.rejects(
      store.write((tx) => tx.insertUser(someUser())),
      UnrecordedChangeError,
    );
  });

  it('requires no audit event for reads, maintenance, and failed transactions', async () => {
    await store.write((tx) => tx.user(newId('user')));
    await store.write(async (tx) => {
      await tx.updateLastUsed(new Map());
      await tx.leaseBlob({ address: addressOf('a'), size: 1, generation: 'e', leaseUntilMs: 1 });
      await tx.deleteExpired(1);
    });
    const refused = async (tx: Transaction) => {
      await tx.insertUser(someUser());
      throw new Error('refused');
    };
    await assert.rejects(store.write(refused), /^Error: refused$/);
  });

  it("requires an audit event for the token of a program, but not for that of a session's pages", async () => {
    const user = someUser();
    const session = newId('session');
    await bare.write(async (tx) => {
      await tx.insertUser(user);
      await tx.insertSession({
        id: session,
        userId: user.id,
        secretHash: addressOf(session),
        userAgent: null,
        address: '::1',
        createdAtMs: 1,
        lastUsedAtMs: 1,
        expiresAtMs: 2,
        confirmedAtMs: 1,
        passkeyId: null,
      });
    });
    const token = (sessionId: TokenRecord['sessionId']): TokenRecord => {
      const id = newId('token');
      const times = { createdAtMs: 1, expiresAtMs: 2, lastUsedAtMs: null };
      return {
        id,
        userId: user.id,
        name: 'a',
        secretHash: addressOf(id),
        scopes: [],
        appId: null,
        sessionId,
        ...unrestricted,
        ...times,
      };
    };
    await store.write((tx) => tx.insertToken(token(session)));
    await assert.rejects(
      store.write((tx) => tx.insertToken(token(null))),
      UnrecordedChangeError,
    );
  });
});
