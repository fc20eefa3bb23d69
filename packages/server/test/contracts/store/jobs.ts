import { type AppId, type InvitationId, newId, type TokenId, type UserId } from '@tenon/protocol';
import type { PluginKey } from '../../../src/db/records.ts';
import type { Store } from '../../../src/db/store.ts';
import { unrestricted } from '../../../src/db/trust-records.ts';
import { someHash, someTimeMs, versionRecord } from '../../helpers/records.ts';

/** What several writers do at once, in one process or in several. Each asks first and changes by the answer. */
export const jobs = {
  async insertUser(store: Store, _: Record<string, never>): Promise<void> {
    await store.write((tx) =>
      tx.insertUser({
        id: newId('user'),
        name: 'Child',
        email: null,
        createdAtMs: someTimeMs,
        lastSeenAtMs: 0,
        suspendedAtMs: null,
        deletedAtMs: null,
      }),
    );
  },

  async rename(store: Store, { appId, name }: { appId: AppId; name: string }): Promise<void> {
    await store.write((tx) => tx.updateApp(appId, { name, updatedAtMs: someTimeMs }));
  },

  /** Counts up a number in an application's name. */
  async count(store: Store, { appId, times }: { appId: AppId; times: number }): Promise<void> {
    await together(times, () =>
      store.write(async (tx) => {
        const app = await tx.app(appId);
        await tx.updateApp(appId, { name: String(Number(app?.name) + 1), updatedAtMs: someTimeMs });
      }),
    );
  },

  /** Tries to accept an invitation, as many times at once. Returns how often that worked. */
  async accept(store: Store, { invitationId, times }: { invitationId: InvitationId; times: number }): Promise<number> {
    const outcomes = await together(times, () =>
      store.write(async (tx) => {
        const invitation = await tx.invitation(invitationId);
        if (invitation?.status !== 'pending' || invitation.guestId === null) return false;
        const user = {
          id: newId('user'),
          name: 'Invited',
          email: null,
          createdAtMs: someTimeMs,
          lastSeenAtMs: 0,
          suspendedAtMs: null,
          deletedAtMs: null,
        };
        await tx.insertUser(user);
        await tx.closeInvitation(invitationId, 'accepted', someTimeMs);
        await tx.putGuestUser({ guestId: invitation.guestId, userId: user.id, acceptedAtMs: someTimeMs });
        return true;
      }),
    );
    return outcomes.filter((accepted) => accepted).length;
  },

  /** Adds versions to one plugin, each the next one. Returns the numbers that they got. */
  async publish(store: Store, { key, times }: { key: PluginKey; times: number }): Promise<number[]> {
    return together(times, () =>
      store.write(async (tx) => {
        const number = ((await tx.plugin(key))?.newest.number ?? 0) + 1;
        await tx.insertVersion(versionRecord(key, { number }));
        return number;
      }),
    );
  },

  /** Tries to exchange an authorization code for a token, as many times at once. Returns how often that worked. */
  async exchange(store: Store, { codeHash, times }: { codeHash: string; times: number }): Promise<number> {
    const outcomes = await together(times, () =>
      store.write(async (tx) => {
        const code = await tx.authorizationCodeByHash(codeHash);
        if (code?.usedAtMs !== null) return false;
        const tokenId = newId('token');
        await tx.insertToken({
          id: tokenId,
          userId: code.userId,
          name: 'login',
          secretHash: someHash(),
          scopes: code.scopes,
          appId: null,
          sessionId: null,
          createdAtMs: someTimeMs,
          expiresAtMs: someTimeMs + 1,
          lastUsedAtMs: null,
          ...unrestricted,
        });
        await tx.useAuthorizationCode(codeHash, { tokenId, usedAtMs: someTimeMs });
        return true;
      }),
    );
    return outcomes.filter((exchanged) => exchanged).length;
  },

  async revoke(store: Store, { tokenId, userId }: { tokenId: TokenId; userId: UserId }): Promise<void> {
    await store.write(async (tx) => {
      if ((await tx.token(tokenId))?.userId === userId) await tx.deleteToken(tokenId);
    });
  },
};

export type JobName = keyof typeof jobs;
export type JobArguments<J extends JobName> = Parameters<(typeof jobs)[J]>[1];
export type JobResult<J extends JobName> = Awaited<ReturnType<(typeof jobs)[J]>>;

function together<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, work));
}
