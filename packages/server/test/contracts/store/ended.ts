import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecords, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';

/** What is cleared away once it serves nothing any more. */
export function endedContract(backend: Backend): void {
  describe('deleteExpired()', () => {
    const store = opened(backend, backend.openStore);

    /** One of everything that ends, at that time. */
    async function endingAt(expiresAtMs: number) {
      const records = createRecords(store.it);
      const user = await records.user();
      const session = await records.session(user, { expiresAtMs });
      const lasting = await records.session(user, { expiresAtMs: someTimeMs + 1000 });
      return {
        session,
        tokenOfSession: await records.token(user, { sessionId: session.id, expiresAtMs: someTimeMs - 1000 }),
        tokenOfLastingSession: await records.token(user, { sessionId: lasting.id, expiresAtMs }),
        lastingTokenOfSession: await records.token(user, { sessionId: session.id, expiresAtMs: someTimeMs + 1000 }),
        lasting,
        token: await records.token(user, { expiresAtMs }),
        link: await records.oneTimeLink({ expiresAtMs }),
        code: await records.authorizationCode(user, { expiresAtMs }),
        grant: await records.deviceGrant({ expiresAtMs }),
      };
    }

    /** The names of those that are still there. */
    async function left(of: Awaited<ReturnType<typeof endingAt>>): Promise<string[]> {
      const { read } = store.it;
      const responses: { [name in keyof typeof of]: unknown } = {
        session: await read.session(of.session.id),
        tokenOfSession: await read.token(of.tokenOfSession.id),
        tokenOfLastingSession: await read.token(of.tokenOfLastingSession.id),
        lastingTokenOfSession: await read.token(of.lastingTokenOfSession.id),
        lasting: await read.session(of.lasting.id),
        token: await read.token(of.token.id),
        link: await read.oneTimeLinkByHash(of.link.codeHash),
        code: await read.authorizationCodeByHash(of.code.codeHash),
        grant: await read.deviceGrantByDeviceCode(of.grant.deviceCodeHash),
      };
      return Object.entries(responses).flatMap(([name, answer]) => (answer === undefined ? [] : [name]));
    }

    it('deletes what ended before the time, and keeps the tokens of programs', async () => {
      const ended = await endingAt(someTimeMs - 1);
      const ending = await endingAt(someTimeMs);
      const all = Object.keys(ending);
      assert.deepEqual(await left(ended), all);

      await store.it.write((tx) => tx.deleteExpired(someTimeMs));
      assert.deepEqual(await left(ended), ['lasting', 'token']);
      assert.deepEqual(
        await left(ending),
        all.filter((name) => name !== 'tokenOfSession'),
        'what ends at that time has not ended before it',
      );

      await store.it.write((tx) => tx.deleteExpired(someTimeMs + 1));
      assert.deepEqual(await left(ending), ['lasting', 'token']);
    });
  });
}
