import { randomBytes } from 'node:crypto';
import {
  type ContentAddress,
  type ExtensionPointId,
  type GuestId,
  makeSecret,
  newId,
  secretRandomBytes,
} from '@tenon/protocol';
import type { Random } from '../../../../test/helpers/random.ts';
import { hashSecret, makeCode } from '../../src/auth/secrets.ts';
import type {
  ApiKeyRecord,
  AppRecord,
  ExtensionPointRecord,
  GuestRecord,
  SessionRecord,
  TokenRecord,
  UserRecord,
  VersionRecord,
} from '../../src/db/records.ts';
import type { Store, Transaction } from '../../src/db/store.ts';
import { unrestricted } from '../../src/db/trust-records.ts';
import { addressOf, createRecords, putBinding, someTimeMs, versionRecord } from '../helpers/records.ts';

type WithSecret<T> = T & { readonly secret: string };

/** All there ever was; what was deleted stays in the lists, so that it is asked for again. */
export interface CacheWorld {
  readonly users: UserRecord[];
  readonly apps: AppRecord[];
  readonly extensionPoints: ExtensionPointRecord[];
  readonly guests: GuestRecord[];
  readonly guestKeys: readonly string[];
  readonly tokens: WithSecret<TokenRecord>[];
  readonly apiKeys: WithSecret<ApiKeyRecord>[];
  readonly sessions: WithSecret<SessionRecord>[];
  readonly versions: VersionRecord[];
  readonly addresses: readonly ContentAddress[];
}

/** Two applications with an extension point and two guests each, and three people who are members, guests, or both. */
export async function makeWorld(store: Store): Promise<CacheWorld> {
  const records = createRecords(store);
  const world: CacheWorld = {
    users: [
      await records.user({ name: 'Ada' }),
      await records.user({ name: 'Bo' }),
      await records.user({ name: 'Cy' }),
    ],
    apps: [await records.app({ name: 'One' }), await records.app({ name: 'Two' })],
    extensionPoints: [],
    guests: [],
    guestKeys: ['first', 'second/of them'],
    tokens: [],
    apiKeys: [],
    sessions: [],
    versions: [],
    addresses: ['a', 'b', 'c'].map(addressOf),
  };
  for (const app of world.apps) {
    world.extensionPoints.push(await records.extensionPoint(app));
    for (const key of world.guestKeys) world.guests.push(await records.guest(app, key));
  }
  for (const user of world.users) {
    await store.write((tx) => insertToken(tx, world, { userId: user.id }));
    for (const app of world.apps) await records.member(app, user);
    for (const guest of world.guests) await records.hold(guest, user);
  }
  return world;
}

async function insertToken(
  tx: Transaction,
  world: CacheWorld,
  { userId, appId = null, sessionId = null }: Pick<TokenRecord, 'userId'> & Partial<TokenRecord>,
): Promise<void> {
  const secret = makeSecret('accessToken', randomBytes(secretRandomBytes));
  const token: TokenRecord = {
    id: newId('token'),
    userId,
    name: 'laptop',
    secretHash: hashSecret(secret),
    scopes: ['read'],
    appId,
    sessionId,
    createdAtMs: someTimeMs,
    expiresAtMs: someTimeMs + 1,
    lastUsedAtMs: null,
    ...unrestricted,
  };
  await tx.insertToken(token);
  world.tokens.push({ ...token, secret });
}

type Change = (tx: Transaction, world: CacheWorld, pick: <T>(from: readonly T[]) => T) => Promise<unknown>;

const made = { createdAtMs: someTimeMs, updatedAtMs: someTimeMs };

/** What may change what is answered, and some of what never does. */
const changes: Readonly<Record<string, Change>> = {
  putMember: (tx, { apps, users }, pick) =>
    tx.putMember({
      appId: pick(apps).id,
      userId: pick(users).id,
      role: pick(['owner', 'admin', 'viewer']),
      createdAtMs: someTimeMs,
    }),
  deleteMember: (tx, { apps, users }, pick) => tx.deleteMember(pick(apps).id, pick(users).id),
  putGuestUser: (tx, { guests, users }, pick) =>
    tx.putGuestUser({ guestId: pick(guests).id, userId: pick(users).id, acceptedAtMs: someTimeMs }),
  deleteGuestUser: (tx, { guests, users }, pick) => tx.deleteGuestUser([pick(guests).id], pick(users).id),
  deleteGuest: (tx, { guests }, pick) => tx.deleteGuest(pick(guests).id),
  updateGuest: (tx, { guests }, pick) => tx.updateGuest(pick(guests).id, { label: pick(['Acme', 'Globex', null]) }),
  async insertGuest(tx, { apps, guests, guestKeys }, pick) {
    const guest = {
      id: newId('guest'),
      appId: pick(apps).id,
      guestKey: pick(guestKeys),
      label: null,
      note: null,
      ring: null,
      createdAtMs: someTimeMs,
    };
    await tx.insertGuest(guest);
    guests.push(guest);
  },
  insertToken: (tx, world, pick) =>
    insertToken(tx, world, { userId: pick(world.users).id, appId: pick([null, ...world.apps])?.id ?? null }),
  async insertTokenOfSession(tx, world, pick) {
    const { id, userId } = pick(world.sessions);
    await insertToken(tx, world, { userId, sessionId: id });
  },
  deleteToken: (tx, { tokens }, pick) => tx.deleteToken(pick(tokens).id),
  deleteTokensAndKeysOf: (tx, { users }, pick) => tx.deleteTokensAndKeysOf(pick(users).id),
  async insertApiKey(tx, { apiKeys, tokens, users }, pick) {
    const secret = makeSecret('apiKey', randomBytes(secretRandomBytes));
    const [id, secretHash] = [newId('apiKey'), hashSecret(secret)];
    const maker = tokens.findLast(({ sessionId }) => sessionId === null); // a session's token only reads
    const token = maker === undefined ? undefined : await tx.token(maker.id);
    const owner = token?.userId ?? pick(users).id; // a token's key belongs to the token's user
    const times = { createdAtMs: someTimeMs, expiresAtMs: Number.MAX_SAFE_INTEGER, lastUsedAtMs: null };
    const key = { id, userId: owner, name: 'key', secretHash, tokenId: token?.id ?? null, ...times };
    await tx.insertApiKey(key);
    apiKeys.push({ ...key, secret });
  },
  deleteApiKey: (tx, { apiKeys }, pick) => tx.deleteApiKey(pick(apiKeys).id),
  async insertSession(tx, { sessions, users }, pick) {
    const secret = makeCode(randomBytes);
    const session: SessionRecord = {
      id: newId('session'),
      userId: pick(users).id,
      secretHash: hashSecret(secret),
      userAgent: null,
      address: '192.0.2.1',
      createdAtMs: someTimeMs,
      lastUsedAtMs: someTimeMs,
      expiresAtMs: someTimeMs + 1,
      confirmedAtMs: someTimeMs,
      passkeyId: null,
    };
    await tx.insertSession(session);
    sessions.push({ ...session, secret });
  },
  confirmSession: (tx, { sessions }, pick) => tx.confirmSession(pick(sessions).id, pick([1, 2, 3])),
  deleteSession: (tx, { sessions }, pick) => tx.deleteSession(pick(sessions).id),
  deleteSessionsOf: (tx, { users }, pick) => tx.deleteSessionsOf(pick(users).id),
  renameUser: (tx, { users }, pick) => tx.renameUser(pick(users).id, pick(['Ada', 'Bob'])),
  async eraseUser(tx, { users }, pick) {
    await tx.eraseUser(pick(users).id, { name: 'gone', deletedAtMs: someTimeMs });
    const user = {
      id: newId('user'),
      name: 'New',
      email: null,
      createdAtMs: someTimeMs,
      lastSeenAtMs: 0,
      suspendedAtMs: null,
      deletedAtMs: null,
    };
    await tx.insertUser(user);
    users.push(user);
  },
  updateApp: (tx, { apps }, pick) => tx.updateApp(pick(apps).id, { name: pick(['1', '2']), updatedAtMs: someTimeMs }),
  setRequiresPasskey: (tx, { apps }, pick) => tx.setRequiresPasskey(pick(apps).id, pick([true, false])),
  insertPasskey: (tx, { users }, pick) => {
    const id = newId('passkey');
    const times = { createdAtMs: someTimeMs, lastUsedAtMs: null };
    const key = { credentialId: id, publicKey: '', counter: 0, transports: [] };
    return tx.insertPasskey({ id, userId: pick(users).id, name: 'key', ...key, ...times });
  },
  deletePasskeysOf: (tx, { users }, pick) => tx.deletePasskeysOf(pick(users).id),
  async deleteApp(tx, { apps }, pick) {
    await tx.deleteApp(pick(apps).id);
    const app = { id: newId('app'), name: 'New', requiresPasskey: false, ...made };
    await tx.insertApp(app);
    apps.push(app);
  },
  async insertExtensionPoint(tx, { apps, extensionPoints }, pick) {
    const point = {
      ...(extensionPoints[0] as ExtensionPointRecord),
      id: newId('extensionPoint'),
      appId: pick(apps).id,
    };
    await tx.insertExtensionPoint(point);
    extensionPoints.push(point);
  },
  updateExtensionPoint(tx, { extensionPoints }, pick) {
    const { id, ...point } = pick(extensionPoints);
    return tx.updateExtensionPoint(id, { ...point, name: pick(['a', 'b']) });
  },
  deleteExtensionPoint: (tx, { extensionPoints }, pick) => tx.deleteExtensionPoint(pick(extensionPoints).id),
  publish: async (tx, world, pick) => {
    const [{ id: extensionPointId, appId }, { id: userId }] = [pick(world.extensionPoints), pick(world.users)];
    if ((await tx.extensionPoint(extensionPointId)) === undefined) return; // deleted by an earlier change
    const guest = pick(world.guests.filter((one) => one.appId === appId));
    const key = { extensionPointId: extensionPointId as ExtensionPointId, userId, name: pick(['one', '10']) };
    const number = ((await tx.versions(key, { limit: 1 }))[0]?.number ?? 0) + 1;
    const version = versionRecord(key, { number, contentAddress: pick(world.addresses) });
    await tx.insertVersion(version);
    await bind(tx, version, guest.id);
    world.versions.push(version);
  },
  moveBinding: (tx, { versions, guests }, pick) => bind(tx, pick(versions), pick(guests).id),
  unbind: (tx, { versions, guests }, pick) =>
    putBinding(tx, { ...pick(versions), guestId: pick(guests).id, versionId: null, updatedAtMs: someTimeMs }),
  deletePlugin: (tx, { versions }, pick) => tx.deletePlugin(pick(versions)),
  deleteExpired: (tx) => tx.deleteExpired(someTimeMs),
  touch: (tx, { tokens, sessions }) =>
    tx.updateLastUsed(
      new Map([...tokens, ...sessions].map(({ id }) => [id, { usedAtMs: someTimeMs, address: '192.0.2.1' }])),
    ),
};

async function bind(tx: Transaction, version: VersionRecord, guestId: GuestId): Promise<void> {
  await putBinding(tx, { ...version, guestId, versionId: version.id, updatedAtMs: someTimeMs });
  await tx.putVersionGuests(version.id, [guestId]);
}

/** What is rare, so that something is left to be changed. */
const rare = new Set(['eraseUser', 'deleteApp', 'deleteExtensionPoint', 'deleteGuest', 'deleteTokensAndKeysOf']);

/** Makes a change in one transaction. @returns its name */
export async function changeSomething(store: Store, world: CacheWorld, random: Random): Promise<string> {
  const names = Object.keys(changes);
  const pick = <T>(from: readonly T[]): T => {
    if (from.length === 0) throw new NothingToChange();
    return from[random.below(from.length)] as T;
  };
  for (;;) {
    const name = pick(names);
    if (rare.has(name) && random.below(2) > 0) continue;
    try {
      await store.write((tx) => (changes[name] as Change)(tx, world, pick));
      return name;
    } catch (error) {
      if (error instanceof NothingToChange || isRefused(error)) continue;
      throw error;
    }
  }
}

class NothingToChange extends Error {}

/** Whether the store says that a row refers to one that is gone, or is one too many. */
function isRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    /conflict|constraint|foreign key|violates|cannot bind/i.test(`${error.name} ${error.message}`)
  );
}
