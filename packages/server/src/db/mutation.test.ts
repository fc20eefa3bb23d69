import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId, type SessionId } from '@tenon/protocol';
import { dummyDatabase } from '../../test/helpers/dummy-database.ts';
import { auditEvent } from '../../test/helpers/records.ts';
import { callAround, type Mutations, queries, type Transaction, transaction } from '../queries.ts';
import { UnrecordedChangeError } from './mutation.ts';
import type { TokenRecord } from './records.ts';

const [user, app, point, guest] = [newId('user'), newId('app'), newId('extensionPoint'), newId('guest')];
const [token, apiKey, session] = [newId('token'), newId('apiKey'), newId('session')];
const standing = [`${user} ${app}`, `${user} contents`];

type Call = { [M in keyof Mutations]: readonly [M, ...Partial<Parameters<Mutations[M]>>] }[keyof Mutations];

const member = { appId: app, userId: user, role: 'viewer', createdAtMs: 1 } as const;
const changes = [
  { extensionPointId: point, guestKey: 'a key' },
  { extensionPointId: point, guestKey: null },
];

const cases: readonly (readonly [Call, readonly string[]])[] = [
  [
    ['eraseUser', user],
    [user, 'contents'],
  ],
  [['confirmSession', session], [session]],
  [['deleteSession', session], [session]],
  [['deleteSessionsOf', user], [user]],
  [['updateApp', app], [app]],
  [
    ['deleteApp', app],
    [app, 'contents'],
  ],
  [['putMember', member], standing],
  [['deleteMember', app, user], standing],
  [['updateExtensionPoint', point], [point]],
  [
    ['deleteExtensionPoint', point],
    [point, 'contents'],
  ],
  [
    ['deleteGuest', guest],
    [app, 'contents'],
  ],
  [['deleteGuest', newId('guest')], []],
  [['putGuestUser', { guestId: guest, userId: user, acceptedAtMs: 1 }], standing],
  [['deleteGuestUser', [guest], user], standing],
  [['deletePlugin', { extensionPointId: point, userId: user, name: 'plugin' }], ['contents']],
  [['deleteToken', token], [token]],
  [['deleteTokensAndKeysOf', user], [user]],
  [['deleteApiKey', apiKey], [apiKey]],
  [
    ['insertChanges', app, changes],
    [`${point} a key`, point],
  ],
  [['insertToken'], []],
  [['updateLastUsed', new Map([[token, { usedAtMs: 1, address: '192.0.2.1' }]])], []],
];

/** Knows one guest. */
const db = dummyDatabase(({ sql, parameters }) =>
  sql.includes('from "guests"') && parameters.includes(guest) ? [{ id: guest, appId: app, guestKey: 'key' }] : [],
);

async function effectsOf(mutate: (tx: Transaction) => Promise<unknown>): Promise<Transaction['effects']> {
  const tx = transaction(db);
  await mutate(tx).catch(() => {}); // nothing is stored, which some mutations notice
  return tx.effects;
}

describe('the effects of a transaction', () => {
  for (const [[method, ...args], expected] of cases) {
    it(`${method}() invalidates ${expected.length === 0 ? 'nothing' : expected.length}`, async () => {
      const { invalidated } = await effectsOf((tx) =>
        (tx[method] as (...args: readonly unknown[]) => Promise<unknown>).apply(tx, args),
      );
      assert.deepEqual([...invalidated], expected);
    });
  }

  it('have each tag once, and none of queries', async () => {
    const { invalidated } = await effectsOf(async (tx) => {
      await tx.deleteToken(token);
      await tx.deleteToken(token);
      await tx.guest(guest);
      await tx.user(user);
    });
    assert.deepEqual([...invalidated], [token]);
  });

  it('let deletions and the tokens of sessions use the disk reserve, but no other tokens', async () => {
    const ofSession = (sessionId: SessionId | null) => ({ sessionId }) as TokenRecord;
    const usesDiskReserve = async (mutate: (tx: Transaction) => Promise<unknown>) =>
      (await effectsOf(mutate)).usesDiskReserve;
    assert.equal(await usesDiskReserve((tx) => tx.deleteToken(newId('token'))), true);
    assert.equal(await usesDiskReserve((tx) => tx.insertToken(ofSession(newId('session')))), true);
    assert.equal(await usesDiskReserve((tx) => tx.insertToken(ofSession(null))), false);
    assert.equal(await usesDiskReserve((tx) => tx.insertApp({ id: app } as never)), false);
  });

  it('list the changes that need an audit event, until there is one', async () => {
    const effects = await effectsOf(async (tx) => {
      await tx.renameUser(user, 'Ada');
      await tx.updateLastUsed(new Map());
      await tx.updateApp(app, { name: 'App', updatedAtMs: 1 });
    });
    assert.throws(
      () => effects.requireAuditEvent(),
      (error) =>
        error instanceof UnrecordedChangeError &&
        assert.deepEqual(error.changes, ['renameUser', 'updateApp']) === undefined,
    );
    const recorded = await effectsOf(async (tx) => {
      await tx.renameUser(user, 'Ada');
      await tx.insertAuditEvents([auditEvent({ action: 'account.update' })]);
    });
    recorded.requireAuditEvent();
    assert.deepEqual(recorded.recorded, ['account.update']);
    const none = await effectsOf(async (tx) => {
      await tx.renameUser(user, 'Ada');
      await tx.insertAuditEvents([]);
    });
    assert.throws(() => none.requireAuditEvent(), UnrecordedChangeError);
  });

  it('are shared by a transaction whose calls are wrapped, with their names', async () => {
    const names: string[] = [];
    const tx = transaction(db);
    const traced = callAround(tx, (name, run) => {
      names.push(name);
      return run();
    });
    await traced.deleteToken(token);
    await traced.user(user);
    assert.deepEqual(names, ['deleteToken', 'user']);
    assert.equal(traced.effects, tx.effects);
    await callAround(queries(db), (name, run) => {
      names.push(name);
      return run();
    }).app(app);
    assert.equal(names.at(-1), 'app');
  });
});
