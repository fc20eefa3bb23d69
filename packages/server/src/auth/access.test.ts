import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { closeContext, openContext } from '../../test/helpers/first-start-services.ts';
import { createRecords, someTimeMs } from '../../test/helpers/records.ts';
import { openStoreFixture, type StoreFixture } from '../../test/helpers/store-fixture.ts';
import { createCache } from '../cache/cache.ts';
import type { UserRecord } from '../db/records.ts';
import { unrestricted } from '../db/trust-records.ts';
import type { Deps } from '../deps.ts';
import { type Actor, authorizeApp, authorizeExtensionPoint } from './access.ts';

/** The size of the cache: half of it is less than one large answer below. */
const cacheBytes = 32 * 1024;

describe('the cache of memberships', () => {
  let fixture: StoreFixture;
  let deps: Deps;
  let records: ReturnType<typeof createRecords>;
  beforeEach(async () => {
    fixture = await openStoreFixture();
    const opened = await openContext(fixture.dataDir);
    deps = { ...opened, cache: createCache(opened.store, cacheBytes) };
    records = createRecords(fixture.store);
  });
  afterEach(async () => {
    await closeContext(deps);
    await fixture.close();
  });

  const actorOf = ({ id }: UserRecord): Actor => ({
    userId: id,
    tokenId: newId('token'),
    scopes: ['read'],
    appId: null,
    sessionId: null,
    hasPasskey: false,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    ...unrestricted,
  });
  /** How often something had to be read that was read before. */
  const forgottenAfter = async (ask: () => Promise<unknown>) => {
    const before = deps.cache.usage.miss;
    await ask();
    return deps.cache.usage.miss - before;
  };

  it('counts the size of the schema of an extension point', async () => {
    const user = await records.user();
    const app = await records.app();
    await records.member(app, user);
    const [small, smallToo] = [await records.extensionPoint(app), await records.extensionPoint(app)];
    const schemaJson = JSON.stringify({ description: 'x'.repeat(20_000) });
    const [large, largeToo] = [
      await records.extensionPoint(app, { schemaJson }),
      await records.extensionPoint(app, { schemaJson }),
    ];
    const ask = ({ id }: { id: string }) => authorizeExtensionPoint(deps, actorOf(user), 'readExtensionPoints', id);
    for (const point of [small, smallToo]) await ask(point);
    assert.equal(await forgottenAfter(() => ask(small)), 0);
    for (const point of [large, largeToo]) await ask(point);
    assert.ok((await forgottenAfter(() => ask(large))) > 0, 'a large one made room for the next');
  });

  it('counts the size of the guests that a user holds', async () => {
    const user = await records.user();
    const apps = [await records.app(), await records.app()] as const;
    await fixture.store.write(async (tx) => {
      for (const { id: appId } of apps) {
        for (let count = 0; count < 40; count++) {
          const guest = {
            id: newId('guest'),
            appId,
            guestKey: `${count} ${'k'.repeat(400)}`,
            label: null,
            note: null,
            ring: null,
            createdAtMs: someTimeMs,
          };
          await tx.insertGuest(guest);
          await tx.putGuestUser({ guestId: guest.id, userId: user.id, acceptedAtMs: someTimeMs });
        }
      }
    });
    const ask = ({ id }: { id: string }) => authorizeApp(deps, actorOf(user), 'readApp', id);
    for (const app of apps) await ask(app);
    assert.ok((await forgottenAfter(() => ask(apps[0]))) > 0, 'one made room for the next');
  });
});
