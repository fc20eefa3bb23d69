import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { Mutations, Transaction } from '../ports.ts';
import { watchTouched } from './touched.ts';

const [user, app, point, guest] = [newId('user'), newId('app'), newId('extensionPoint'), newId('guest')];
const [token, apiKey, session] = [newId('token'), newId('apiKey'), newId('session')];
const standing = [`${user} ${app}`, `${user} contents`];

type Call = { [M in keyof Mutations]: readonly [M, ...Partial<Parameters<Mutations[M]>>] }[keyof Mutations];

const member = { appId: app, userId: user, role: 'viewer', createdAtMs: 1 } as const;
const news = [
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
    ['insertNews', app, news],
    [`${point} a key`, point],
  ],
  [['insertToken'], []],
  [['touch', new Map([[token, 1]])], []],
];

/** A transaction that knows one guest, and does nothing. */
const bare = Object.fromEntries(
  ['user', ...cases.map(([[method]]) => method)].map((name) => [name, async () => `${name} done`]),
) as unknown as Transaction;
bare.guest = async (id) => (id === guest ? { id, appId: app, guestKey: 'key', createdAtMs: 1 } : undefined);

describe('watchTouched()', () => {
  for (const [[method, ...args], expected] of cases) {
    it(`knows what ${method}() touches: ${expected.length === 0 ? 'nothing' : `${expected.length}`}`, async () => {
      const { tx, touched } = watchTouched(bare);
      const call = tx[method] as (...args: readonly unknown[]) => Promise<unknown>;
      assert.equal(await call(...args), `${method} done`);
      assert.deepEqual(touched(), expected);
    });
  }

  it('names each subject once, and nothing for questions', async () => {
    const { tx, touched } = watchTouched(bare);
    await tx.deleteToken(token);
    await tx.deleteToken(token);
    await tx.guest(guest);
    await tx.user(user);
    assert.deepEqual(touched(), [token]);
  });
});
