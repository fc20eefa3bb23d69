import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId, type SessionId } from '@tenon/protocol';
import type { Transaction } from '../../domain/ports.ts';
import type { TokenRecord } from '../../domain/records.ts';
import { watchFreeing } from './freeing.ts';

describe('watchFreeing()', () => {
  const done: string[] = [];
  const inner = new Proxy({} as Transaction, {
    ownKeys: () => ['insertApp', 'insertToken', 'deleteToken'],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    get: (_, name) => async () => void done.push(String(name)),
  });

  /** Whether a mutation may use the reserve. */
  async function isFreeing(mutate: (tx: Transaction) => Promise<unknown>): Promise<boolean> {
    let noted = false;
    await mutate(
      watchFreeing(inner, () => {
        noted = true;
      }),
    );
    return noted;
  }

  it('lets deletions and the tokens of sessions use the reserve, and no other token', async () => {
    const token = (sessionId: SessionId | null) => ({ sessionId }) as TokenRecord;
    assert.equal(await isFreeing((tx) => tx.deleteToken(newId('token'))), true);
    assert.equal(await isFreeing((tx) => tx.insertToken(token(newId('session')))), true);
    assert.equal(await isFreeing((tx) => tx.insertToken(token(null))), false);
    assert.equal(await isFreeing((tx) => tx.insertApp({} as never)), false);
    assert.deepEqual(done, ['deleteToken', 'insertToken', 'insertToken', 'insertApp']);
  });
});
