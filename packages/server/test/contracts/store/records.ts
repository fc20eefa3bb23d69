import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ApiKeyId,
  type AppId,
  type ExtensionPointLimits,
  newId,
  type SessionId,
  type TokenId,
  type UserId,
} from '@tenon/protocol';
import type { LastUse } from '../../../src/db/store.ts';
import { createRecords, someHash, someTimeMs, unused, withoutTeamFields } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { assertPages } from './pages.ts';

/** Guest keys that some database or some JavaScript object would treat in a way of its own. */
export const awkwardKeys = [
  'constructor',
  '__proto__',
  '10',
  ' leading and trailing ',
  'case',
  'CASE',
  'é', // composed
  'e\u0301', // decomposed: another key
  'ß',
  'ss',
  'a/b/c',
  "o'brien; drop table guests --",
  '100%_',
  '日本語',
  '👩‍🚀',
  '\u{10ffff}',
  '\ufeffbom',
  'a'.repeat(512),
];

/** Users, applications, members, extension points, guests, invitations, tokens and keys. */
export function recordsContract(backend: Backend): void {
  describe('records', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('has no user at first', async () => {
      const { location, remove } = await backend.makeLocation();
      const empty = await backend.openStore(location);
      try {
        assert.equal(await empty.read.anyUser(), false);
        await createRecords(empty).user();
        assert.equal(await empty.read.anyUser(), true);
      } finally {
        await empty.close();
        await remove();
      }
    });

    it('returns a user as it was inserted', async () => {
      const plain = await records().user({ name: '' });
      const rich = await records().user({ name: '__proto__ 👩‍🚀', email: 'ada@example.org' });
      assert.deepEqual(await store.it.read.user(plain.id), plain);
      assert.deepEqual(await store.it.read.user(rich.id), rich);
      assert.equal(await store.it.read.user(newId('user')), undefined);
    });

    it('changes only the name of the given application', async () => {
      const app = await records().app();
      const other = await records().app();
      await store.it.write((tx) => tx.updateApp(app.id, { name: 'New', updatedAtMs: someTimeMs + 5 }));
      assert.deepEqual(await store.it.read.app(app.id), { ...app, name: 'New', updatedAtMs: someTimeMs + 5 });
      assert.deepEqual(await store.it.read.app(other.id), other);
    });

    it('lists the applications of members and of guests, each once', async () => {
      const { owner, publisher, app, guest } = await records().stage();
      const elsewhere = await records().stage();
      await records().hold(await records().guest(app), publisher); // a second guest in the same application
      await records().member(app, publisher, 'viewer'); // and a member besides
      await records().hold(elsewhere.guest, publisher);
      const ids = async (userId = publisher.id, within?: AppId) =>
        (await store.it.read.appsOf(userId, within, {})).map(({ id }) => id);
      assert.deepEqual(await ids(), [app.id, elsewhere.app.id].sort());
      assert.deepEqual(await ids(owner.id), [app.id]);
      assert.deepEqual(await ids(publisher.id, elsewhere.app.id), [elsewhere.app.id]);
      assert.deepEqual(await ids(owner.id, elsewhere.app.id), []);
      await assertPages(
        (page) => store.it.read.appsOf(publisher.id, undefined, page),
        ({ id }) => id,
      );
      await store.it.write(async (tx) => {
        await tx.deleteMember(app.id, publisher.id);
        await tx.deleteGuestUser([guest.id], publisher.id);
      });
      assert.deepEqual(await ids(), [app.id, elsewhere.app.id].sort(), 'the second guest still counts');
    });

    it('adds members, changes their roles without changing since when, counts owners, removes', async () => {
      const { app, owner } = await records().stage();
      const other = await records().user({ name: 'Other' });
      const stranger = await records().user();
      await records().member(app, other, 'viewer');
      await store.it.write((tx) => tx.putMember({ appId: app.id, userId: other.id, role: 'owner', createdAtMs: 1 }));
      const member = { appId: app.id, userId: other.id, role: 'owner', createdAtMs: someTimeMs };
      assert.deepEqual(await store.it.read.member(app.id, other.id), member);
      assert.equal(await store.it.read.countOwners(app.id), 2);
      const inTeams = [owner, other, stranger].map(({ id }) => store.it.read.isMemberOfAny(id));
      assert.deepEqual(await Promise.all(inTeams), [true, true, false]);
      assert.equal(await store.it.read.member(app.id, stranger.id), undefined);
      const members = await store.it.read.members(app.id, {});
      assert.deepEqual(
        members.map(({ userId, userName }) => [userId, userName]),
        [
          [owner.id, 'Owner'],
          [other.id, 'Other'],
        ],
      );
      await assertPages(
        (page) => store.it.read.members(app.id, page),
        ({ userId }) => userId,
      );
      await store.it.write((tx) => tx.deleteMember(app.id, other.id));
      assert.equal(await store.it.read.countOwners(app.id), 1);
    });

    it('lists the applications with a user as their only owner', async () => {
      const alone = await records().stage();
      const { owner } = alone;
      const shared = await records().stage();
      await records().member(shared.app, owner);
      const second = await records().app();
      await records().member(second, owner);
      await records().member(second, shared.owner, 'admin');
      await records().member(await records().app(), owner, 'admin');
      await records().hold(shared.guest, owner);
      const ownedAlone = async (userId = owner.id) => store.it.read.appsOwnedAlone(userId);
      assert.deepEqual(await ownedAlone(), [alone.app, second]);
      assert.deepEqual(await ownedAlone(alone.publisher.id), []);
      await records().member(second, shared.owner, 'owner');
      assert.deepEqual(await ownedAlone(), [alone.app]);
      await store.it.write((tx) => tx.deleteMember(shared.app.id, shared.owner.id));
      assert.deepEqual(await ownedAlone(), [alone.app, shared.app]);
    });

    it('returns, changes and lists extension points', async () => {
      const app = await records().app();
      const schemaJson = '{"exports":{"10":{},"__proto__":{"ü":"\\u0000"}}}';
      const first = await records().extensionPoint(app, { schemaJson });
      const second = await records().extensionPoint(app);
      await records().extensionPoint(await records().app());
      assert.deepEqual(await store.it.read.extensionPoint(first.id), first);
      const limits: ExtensionPointLimits = {
        maxModuleBytes: 8,
        maxInitialMemoryPages: 0,
        proposals: ['simd', 'gc'],
        allowWasi: false,
      };
      const change = {
        name: 'constructor',
        schemaJson: '{"exports":{"a":{}}}',
        requiresApproval: true,
        limits,
        minVersionAgeSeconds: 60,
        rollOut: null,
        imports: {},
        provenance: { mode: 'require' as const, sources: [{ issuer: 'https://ci.example.com' }] },
        updatedAtMs: someTimeMs + 1,
      };
      await store.it.write((tx) => tx.updateExtensionPoint(second.id, change));
      assert.deepEqual(await store.it.read.extensionPoints(app.id, {}), [first, { ...second, ...change }]);
      await assertPages(
        (page) => store.it.read.extensionPoints(app.id, page),
        ({ id }) => id,
      );
    });

    it('finds a guest by exactly its key', async () => {
      const app = await records().app();
      const other = await records().app();
      for (const key of awkwardKeys) {
        const guest = await records().guest(app, key);
        assert.deepEqual(await store.it.read.guestByKey(app.id, key), guest, key);
        assert.deepEqual(await store.it.read.guestKeys([guest.id, guest.id]), new Map([[guest.id, key]]));
        assert.equal(await store.it.read.guestByKey(other.id, key), undefined);
      }
      assert.equal(await store.it.read.guestByKey(app.id, 'Case'), undefined);
      assert.equal(await store.it.read.guestByKey(app.id, ''), undefined);
      const guests = await assertPages(
        (page) => store.it.read.guests(app.id, page),
        ({ id }) => id,
      );
      assert.deepEqual(new Set(guests.map(({ guestKey }) => guestKey)), new Set(awkwardKeys));
    });

    it('lists the users of guests in the order of acceptance, and keeps the first acceptance', async () => {
      const { app, guest, publisher } = await records().stage();
      const early = await records().user({ name: 'Early' });
      const second = await records().guest(app);
      await records().guest(app); // without a holder
      await records().hold(second, early, someTimeMs - 1);
      await records().hold(second, publisher, someTimeMs + 1);
      await records().hold(second, publisher, someTimeMs + 100);
      const elsewhere = await records().stage();
      await records().hold(elsewhere.guest, publisher);

      const users = await store.it.read.usersOfGuests([guest.id, second.id]);
      assert.deepEqual(users, [
        { guestId: guest.id, userId: publisher.id, acceptedAtMs: someTimeMs, userName: 'Publisher' },
        { guestId: second.id, userId: publisher.id, acceptedAtMs: someTimeMs + 1, userName: 'Publisher' },
        { guestId: second.id, userId: early.id, acceptedAtMs: someTimeMs - 1, userName: 'Early' },
      ]);
      assert.deepEqual(await store.it.read.usersOfGuests([]), []);
      await store.it.write((tx) => tx.updateGuest(second.id, { label: 'Second', note: 'a note' }));
      assert.deepEqual(await store.it.read.guest(second.id), { ...second, label: 'Second', note: 'a note' });
      const held = [guest, { ...second, label: 'Second' }].map(withoutTeamFields);
      assert.deepEqual(await store.it.read.guestsHeldBy(publisher.id, app.id), held);
      assert.deepEqual(await store.it.read.guestsHeldIn(publisher.id, [app.id]), held);
    });

    it('returns thousands of guests at once', async () => {
      const { guest, publisher } = await records().stage();
      const others = Array.from({ length: 5000 }, () => newId('guest'));
      const users = await store.it.read.usersOfGuests([...others, guest.id]);
      assert.deepEqual(
        users.map(({ userId }) => userId),
        [publisher.id],
      );
    });

    it('settles a pending invitation once', async () => {
      const { guest, owner } = await records().stage();
      const invitation = await records().invitation(guest, owner, { email: 'guest@example.org', name: '10' });
      assert.deepEqual(await store.it.read.invitation(invitation.id), invitation);
      await store.it.write((tx) => tx.closeInvitation(invitation.id, 'accepted', someTimeMs + 7));
      await store.it.write((tx) => tx.closeInvitation(invitation.id, 'revoked', someTimeMs + 8));
      const settled = { ...invitation, status: 'accepted', settledAtMs: someTimeMs + 7 };
      assert.deepEqual(await store.it.read.invitationByCodeHash(invitation.codeHash), settled);
      assert.equal(await store.it.read.invitationByCodeHash(someHash()), undefined);
    });

    it('records only the account that was created with an invitation', async () => {
      const { guest, owner } = await records().stage();
      const [invitation, other] = [await records().invitation(guest, owner), await records().invitation(guest, owner)];
      const user = await records().user();
      await store.it.write((tx) => tx.setInvitationSignUp(invitation.id, user.id));
      const noted = { ...invitation, signedUpUserId: user.id };
      assert.deepEqual(await store.it.read.invitationByCodeHash(invitation.codeHash), noted);
      assert.deepEqual(await store.it.read.invitation(other.id), other);
      await assert.rejects(store.it.write((tx) => tx.setInvitationSignUp(other.id, newId('user'))));
    });

    it('lists the invitations of an application with the keys that they assign', async () => {
      const { app, guest, owner } = await records().stage();
      const elsewhere = await records().stage();
      await records().invitation(elsewhere.guest, elsewhere.owner);
      const first = await records().invitation(guest, owner);
      const second = await records().invitation(guest, owner, { status: 'declined', settledAtMs: someTimeMs });
      const { guestKey, label: guestLabel } = guest;
      assert.deepEqual(await store.it.read.invitations(app.id, {}), [
        { ...first, guestKey, guestLabel },
        { ...second, guestKey, guestLabel },
      ]);
      await assertPages(
        (page) => store.it.read.invitations(app.id, page),
        ({ id }) => id,
      );
    });

    it('finds the newest invitation of a person that is pending or was accepted, and renews it', async () => {
      const { guest, owner } = await records().stage();
      const named = await records().invitation(guest, owner, { name: 'Grace' });
      const mailed = await records().invitation(guest, owner, { name: 'Grace', email: 'g@example.org' });
      const nameless = await records().invitation(guest, owner, { name: null, email: null });
      await records().invitation(guest, owner, { name: 'Grace', status: 'revoked', settledAtMs: 1 });
      const { read } = store.it;
      const found = (email: string | null, name: string | null) => read.latestInvitationOf(guest.id, { email, name });
      assert.deepEqual(await found(null, 'Grace'), named);
      assert.deepEqual(await found('g@example.org', null), mailed);
      assert.deepEqual(await found(null, null), nameless);
      assert.equal(await found(null, 'Ada'), undefined);
      const fields = { codeHash: someHash(), expiresAtMs: someTimeMs + 99, createdBy: owner.id };
      await store.it.write((tx) => tx.renewInvitation(named.id, fields));
      assert.deepEqual(await read.invitationByCodeHash(fields.codeHash), { ...named, ...fields });
      assert.equal(await read.invitationByCodeHash(named.codeHash), undefined);
      const search = { nowMs: someTimeMs + 98, status: 'pending', text: 'GRACE' } as const;
      const ids = [named.id, mailed.id, nameless.id];
      const listed = async (more: object) =>
        (await read.invitations(guest.appId, {}, { ...search, ...more })).map(({ id }) => id);
      assert.deepEqual(await listed({ ids }), [named.id]);
      assert.deepEqual(await listed({ status: 'expired' }), [mailed.id]);
      assert.deepEqual(await listed({ createdBeforeMs: someTimeMs - 1 }), []);
      assert.equal(await read.countInvitationsFound(guest.appId, { ...search, text: guest.guestKey }), 1);
    });

    it('lists the invitations to the team of an application separately from those of guests', async () => {
      const { app, guest, owner } = await records().stage();
      const elsewhere = await records().stage();
      const toTeam = { guestId: null, role: 'admin' } as const;
      await records().invitation(elsewhere.guest, elsewhere.owner, toTeam);
      const ofGuest = await records().invitation(guest, owner);
      const first = await records().invitation(guest, owner, toTeam);
      const second = await records().invitation(guest, owner, { ...toTeam, status: 'revoked', settledAtMs: 7 });
      assert.deepEqual(await store.it.read.invitation(first.id), first);
      const inviterName = 'Owner';
      assert.deepEqual(await store.it.read.teamInvitations(app.id, {}), [
        { ...first, inviterName },
        { ...second, inviterName },
      ]);
      assert.deepEqual(
        (await store.it.read.invitations(app.id, {})).map(({ id }) => id),
        [ofGuest.id],
      );
      await assertPages(
        (page) => store.it.read.teamInvitations(app.id, page),
        ({ id }) => id,
      );
      for (const target of [{ role: null, guestId: null }, { role: 'viewer' } as const]) {
        await assert.rejects(records().invitation(guest, owner, target), 'a guest or a role, and not both');
      }
    });

    it('lists the pending invitations of a user to an application, and revokes many at once', async () => {
      const { app, guest, owner, publisher } = await records().stage();
      const elsewhere = await records().stage();
      const pending = [
        await records().invitation(guest, owner),
        await records().invitation(guest, owner, { guestId: null, role: 'viewer' }),
      ];
      await records().invitation(guest, publisher);
      await records().invitation(elsewhere.guest, owner);
      const declined = await records().invitation(guest, owner, { status: 'declined', settledAtMs: 5 });
      const found = () => store.it.read.pendingInvitationsBy(owner.id, app.id);
      assert.deepEqual(await found(), [
        { ...pending[0], guestKey: guest.guestKey },
        { ...pending[1], guestKey: null },
      ]);
      const others = Array.from({ length: 500 }, () => newId('invitation'));
      const ids = [...others, declined.id, ...pending.map(({ id }) => id)];
      await store.it.write((tx) => tx.revokeInvitations(ids, 9));
      assert.deepEqual(await found(), []);
      for (const invitation of pending) {
        const revoked = { ...invitation, status: 'revoked', settledAtMs: 9 };
        assert.deepEqual(await store.it.read.invitation(invitation.id), revoked);
      }
      assert.deepEqual(await store.it.read.invitation(declined.id), declined);
    });

    it('finds tokens by hash and by id, lists those of a user, and omits deleted ones', async () => {
      const { app, owner } = await records().stage();
      await records().token(await records().user());
      const wide = await records().token(owner, { scopes: ['read', 'publish', 'manage'], lastUsedAtMs: 5 });
      const narrow = await records().token(owner, { scopes: [], appId: app.id });
      const ofPages = await records().token(owner, { sessionId: (await records().session(owner)).id });
      assert.deepEqual(
        await store.it.read.tokenByHash(ofPages.secretHash),
        { ...ofPages, suspendedAtMs: null, passkeyId: null },
        'found, and not listed',
      );
      assert.deepEqual(await store.it.read.token(ofPages.id), ofPages);
      assert.deepEqual(await store.it.read.tokenByHash(wide.secretHash), {
        ...wide,
        suspendedAtMs: null,
        passkeyId: null,
      });
      assert.deepEqual(await store.it.read.token(narrow.id), narrow);
      assert.deepEqual(await store.it.read.tokens(owner.id, undefined, {}), [wide, narrow].map(unused));
      assert.deepEqual(await store.it.read.tokens(owner.id, app.id, { limit: 1 }), [unused(narrow)]);
      await assertPages(
        (page) => store.it.read.tokens(owner.id, undefined, page),
        ({ id }) => id,
      );
      await store.it.write((tx) => tx.deleteToken(wide.id));
      assert.equal(await store.it.read.tokenByHash(wide.secretHash), undefined);
      assert.equal(await store.it.read.token(wide.id), undefined);
      assert.deepEqual(await store.it.read.tokens(owner.id, undefined, {}), [unused(narrow)]);
    });

    it('finds API keys by hash and by id, lists those of a user, and omits deleted ones', async () => {
      const owner = await records().user();
      const first = await records().apiKey(owner);
      const second = await records().apiKey(owner);
      assert.deepEqual(await store.it.read.apiKeyByHash(first.secretHash), { ...first, suspendedAtMs: null });
      assert.deepEqual(await store.it.read.apiKey(second.id), second);
      await assertPages(
        (page) => store.it.read.apiKeys(owner.id, page),
        ({ id }) => id,
      );
      await store.it.write((tx) => tx.deleteApiKey(first.id));
      assert.equal(await store.it.read.apiKeyByHash(first.secretHash), undefined);
      assert.deepEqual(await store.it.read.apiKeys(owner.id, {}), [unused(second)]);
    });

    it('deletes all tokens and keys of a user, but not those of sessions or of others', async () => {
      const owner = await records().user();
      const other = await records().user();
      const ofPages = await records().token(owner, { sessionId: (await records().session(owner)).id });
      const doomed = [await records().token(owner), await records().token(owner)];
      const doomedKey = await records().apiKey(owner);
      const kept = [ofPages, await records().token(other)];
      const keptKey = await records().apiKey(other);
      await store.it.write((tx) => tx.deleteTokensAndKeysOf(owner.id));
      for (const { id } of doomed) assert.equal(await store.it.read.token(id), undefined);
      for (const token of kept) assert.deepEqual(await store.it.read.token(token.id), token);
      assert.equal(await store.it.read.apiKey(doomedKey.id), undefined);
      assert.deepEqual(await store.it.read.apiKey(keptKey.id), keptKey);
    });

    it('deletes only the approved logins of a user whose tokens were not fetched', async () => {
      const [owner, other] = [await records().user(), await records().user()];
      const session = await records().session(owner);
      const codes = [
        await records().authorizationCode(owner, { sessionId: session.id }),
        await records().authorizationCode(owner, { usedAtMs: someTimeMs }),
        await records().authorizationCode(other),
      ];
      const approve = async (userId: UserId, sessionId: SessionId) => {
        const grant = await records().deviceGrant();
        const approval = { status: 'approved', userId, sessionId, scopes: ['read'] } as const;
        await store.it.write((tx) => tx.decideDeviceGrant(grant.id, approval));
        return { ...grant, ...approval };
      };
      const ownGrant = await approve(owner.id, session.id);
      const grants = [ownGrant, await approve(other.id, newId('session')), await records().deviceGrant()];
      assert.deepEqual(await store.it.read.deviceGrantByDeviceCode(ownGrant.deviceCodeHash), ownGrant);
      assert.deepEqual(await store.it.read.authorizationCodeByHash(codes[0]?.codeHash ?? ''), codes[0]);
      await store.it.write((tx) => tx.deletePendingLoginsOf(owner.id));
      const codesLeft = codes.map(({ codeHash }) => store.it.read.authorizationCodeByHash(codeHash));
      assert.deepEqual(await Promise.all(codesLeft), [undefined, ...codes.slice(1)]);
      const grantsLeft = grants.map(({ deviceCodeHash }) => store.it.read.deviceGrantByDeviceCode(deviceCodeHash));
      assert.deepEqual(await Promise.all(grantsLeft), [undefined, ...grants.slice(1)]);
    });

    it('expires the unused links of a user, but never extends them', async () => {
      const [owner, other] = [await records().user(), await records().user()];
      const usable = await records().oneTimeLink({ userId: owner.id, expiresAtMs: 100 });
      const kept = [
        await records().oneTimeLink({ userId: owner.id, expiresAtMs: 40 }),
        await records().oneTimeLink({ userId: owner.id, expiresAtMs: 100, usedAtMs: 1 }),
        await records().oneTimeLink({ userId: other.id, expiresAtMs: 100 }),
        await records().oneTimeLink({ userId: null, expiresAtMs: 100 }),
      ];
      await store.it.write((tx) => tx.expireLinksOf(owner.id, 50));
      const read = ({ codeHash }: { readonly codeHash: string }) => store.it.read.oneTimeLinkByHash(codeHash);
      assert.deepEqual(await read(usable), { ...usable, expiresAtMs: 50 });
      for (const link of kept) assert.deepEqual(await read(link), link);
    });

    it('records uses of tokens, keys, sessions and users, never back in time, and skips deleted ones', async () => {
      const owner = await records().user();
      const session = await records().session(owner, { lastUsedAtMs: 5 });
      const used = await records().session(owner, { lastUsedAtMs: 50 });
      const token = await records().token(owner);
      const apiKey = await records().apiKey(owner);
      const at = (usedAtMs: number, address = '192.0.2.1') => ({ usedAtMs, address });
      const uses = new Map<TokenId | ApiKeyId | SessionId, LastUse>([
        [session.id, at(40)],
        [used.id, at(40)],
        [newId('session'), at(40)],
        [token.id, at(20)],
        [newId('token'), at(20)],
        [apiKey.id, at(30)],
        [newId('apiKey'), at(30)],
      ]);
      const users = (lastSeenAtMs: number) => new Map([owner.id, newId('user')].map((id) => [id, lastSeenAtMs]));
      await store.it.write((tx) => tx.updateLastUsed(uses));
      await store.it.write((tx) => tx.updateLastSeen(users(60)));
      await store.it.write((tx) => tx.updateLastUsed(new Map([[token.id, at(10, '192.0.2.2')]])));
      await store.it.write((tx) => tx.updateLastSeen(users(59)));
      const [listed] = await store.it.read.tokens(owner.id, undefined, {});
      assert.equal(listed?.lastUsedAddress, '192.0.2.1');
      assert.equal((await store.it.read.apiKeys(owner.id, {}))[0]?.lastUsedAddress, '192.0.2.1');
      assert.deepEqual(
        (await store.it.read.sessions(owner.id, {})).map(({ lastUsedAddress }) => lastUsedAddress),
        ['192.0.2.1', null],
      );
      assert.deepEqual(await store.it.read.user(owner.id), { ...owner, lastSeenAtMs: 60 });
      assert.deepEqual(await store.it.read.token(token.id), { ...token, lastUsedAtMs: 20 });
      assert.deepEqual(await store.it.read.apiKey(apiKey.id), { ...apiKey, lastUsedAtMs: 30 });
      assert.deepEqual(await store.it.read.session(session.id), { ...session, lastUsedAtMs: 40 });
      assert.deepEqual(await store.it.read.session(used.id), used);
    });

    it('keeps the networks of tokens and keys, and those of deleted ones not', async () => {
      const owner = await records().user();
      const [token, apiKey] = [await records().token(owner), await records().apiKey(owner)];
      for (const { id, name } of [token, apiKey]) {
        assert.deepEqual(await store.it.read.usedNetworks(id), { userId: owner.id, name, networks: null });
        await store.it.write((tx) => tx.putUsedNetworks(id, ['192.0.2.0/24', '2001:db8:0::/48']));
        const stored = await store.it.read.usedNetworks(id);
        assert.deepEqual(stored?.networks, ['192.0.2.0/24', '2001:db8:0::/48']);
      }
      await store.it.write((tx) => tx.deleteTokensAndKeysOf(owner.id));
      for (const { id } of [token, apiKey]) assert.equal(await store.it.read.usedNetworks(id), undefined);
    });

    it('deletes the tokens of a user except one', async () => {
      const owner = await records().user();
      const [kept, doomed] = [await records().token(owner), await records().token(owner)];
      await store.it.write((tx) => tx.deleteTokensAndKeysOf(owner.id, kept.id));
      assert.deepEqual(await store.it.read.token(kept.id), kept);
      assert.equal(await store.it.read.token(doomed.id), undefined);
    });
  });
}
