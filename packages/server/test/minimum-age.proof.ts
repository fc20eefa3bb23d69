import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExtensionPointId, GuestId, MassYank, UserId } from '@tenon/protocol';
import { createRandom } from '../../../test/helpers/random.ts';
import { until } from '../../../test/helpers/until.ts';
import { releaseDueVersions } from '../src/plugins/release-versions.ts';
import { openEvents } from './helpers/event-stream.ts';
import { killedServer } from './helpers/killed-server.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { noPostgres, sharedPostgres } from './helpers/postgres.ts';
import { versionRecord } from './helpers/records.ts';
import { openService, type TestService } from './helpers/service.ts';
import { freshModule, publishAs } from './helpers/world.ts';

const why = { reason: 'The token was stolen.' };

/** Publishes that many plugins with a credential, directly in the store. @returns the id of the credential */
async function fillWithPlugins(service: TestService, workshop: Workshop, count: number): Promise<string> {
  const token = await service.token(workshop.publisher.id);
  const credentialId = (await service.call('GET', '/api/v1/me', { token })).json().token.id;
  const extensionPointId = workshop.extensionPointId as ExtensionPointId;
  const guestIds = [workshop.first as GuestId];
  await service.store.write(async (tx) => {
    for (let at = 0; at < count; at++) {
      const key = { extensionPointId, userId: workshop.publisher.id as UserId, name: `plugin-${at}` };
      const version = versionRecord(key, { createdAtMs: Date.now() });
      await tx.insertVersion(version, null, { credentialId, trustRuleId: null });
      await tx.putVersionGuests(version.id, guestIds);
      await tx.putBindingKeys(key, guestIds);
      await tx.moveBindings(key, [{ id: workshop.first as GuestId, guestKey: 'first' }], {
        versionId: version.id,
        nowMs: Date.now(),
        notifiesEachList: false,
      });
    }
  });
  return credentialId;
}

for (const [title, isPostgres] of [
  ['SQLite', false],
  ['PostgreSQL', true],
] as const) {
  describe(`a mass yank of 1,000 plugins on ${title}`, { skip: isPostgres && noPostgres }, () => {
    it('reaches a connected host within a second, and changes all in one transaction', async () => {
      const databaseUrl = isPostgres ? (await (await sharedPostgres()).createDatabase()).url : undefined;
      const service = await openService({ config: databaseUrl === undefined ? {} : { databaseUrl } });
      const base = await service.listen();
      const workshop = await openWorkshop(service);
      const credentialId = await fillWithPlugins(service, workshop, 1000);
      assert.equal(Object.keys(await workshop.list()).length, 1000);
      const { token } = workshop.viewer;
      const events = await openEvents(`${base}/api/v1/apps/${workshop.appId}/changes`, { token });
      try {
        assert.equal((await events.next())?.event, 'ready');
        const sizes = new Set<number>();
        let isDone = false;
        const watching = (async () => {
          while (!isDone) {
            sizes.add(Object.keys(await workshop.list()).length);
            await sleep(100);
          }
        })();
        const heard = events.next().then((event) => ({ event, atMs: performance.now() }));
        heard.catch(() => {});
        const path = `/api/v1/apps/${workshop.appId}/published-versions/yank`;
        const json = { credentialId, ...why };
        const response = await service.call('POST', path, { token: workshop.owner.token, json });
        const answeredAtMs = performance.now();
        isDone = true;
        await watching;
        assert.equal(
          response.statusCode,
          200,
          `${response.payload}\n${service.logged.filter((line) => line.includes('"level":50')).join('\n')}`,
        );
        const done = response.json<MassYank>();
        const { event, atMs } = await heard;
        assert.deepEqual([done.versionCount, done.pluginCount, done.revoked], [1000, 1000, [credentialId]]);
        assert.equal((event?.data as { guestKey?: string } | undefined)?.guestKey, 'first');
        assert.ok(atMs - answeredAtMs < 1000, `heard ${atMs - answeredAtMs} ms after the response`);
        assert.deepEqual(await workshop.list(), {});
        for (const size of sizes) assert.ok(size === 1000 || size === 0, `a host saw ${size} plugins`);
      } finally {
        await events.close();
        await service.close();
      }
    });
  });
}

describe('two nodes that release versions', { skip: noPostgres }, () => {
  it('release each version once, with clocks that differ, while others yank, block and publish', async () => {
    const config = { databaseUrl: (await (await sharedPostgres()).createDatabase()).url, databaseConnections: 4 };
    const [here, there] = await Promise.all([openService({ config }), openService({ config })]);
    try {
      there.advance(-700);
      const random = createRandom(20);
      const workshop = await openWorkshop(here);
      const { owner, publisher, appId, extensionPointId } = workshop;
      await workshop.settings({ minVersionAgeSeconds: 1 });
      const names = Array.from({ length: 12 }, (_, at) => `${'abcdefghijkl'[at]}-plugin-${at * 1111}`);
      let isOver = false;
      const releasing = [here, there].map(async ({ services: { deps } }) => {
        while (!isOver) {
          await releaseDueVersions(deps);
          await sleep(20);
        }
      });
      const blockPath = `/api/v1/apps/${appId}/publishers/${publisher.id}/block`;
      for (let round = 0; round < 6; round++) {
        await Promise.all(
          names.map((name) => publishAs(random.pick([here, there]), publisher, extensionPointId, name, freshModule())),
        );
        const victim = `/api/v1/artifacts/${extensionPointId}/plugin/${publisher.id}/${random.pick(names)}`;
        await sleep(random.below(1200));
        const yank = here.call('POST', `${victim}/versions/${round + 1}/yank`, { token: owner.token, json: why });
        const release = there.call('POST', `${victim}/versions/${round + 1}/release`, {
          token: owner.token,
          json: why,
        });
        for (const { statusCode, payload } of await Promise.all([yank, release])) {
          assert.ok(statusCode === 200 || statusCode === 409, payload);
        }
        if (round !== 3) continue;
        assert.equal((await here.call('PUT', blockPath, { token: owner.token, json: why })).statusCode, 200);
        await sleep(1500);
        assert.deepEqual(await workshop.list(), {});
        assert.equal((await here.call('DELETE', blockPath, { token: owner.token })).statusCode, 204);
      }
      const statesOf = async () => {
        const paths = names.map(
          (name) => `/api/v1/artifacts/${extensionPointId}/plugin/${publisher.id}/${name}/versions`,
        );
        const lists = await Promise.all(paths.map((path) => here.call('GET', path, { token: owner.token })));
        return lists.map((list) => list.json().objects as { id: string; number: number; state: string }[]);
      };
      await until(async () => (await statesOf()).flat().every(({ state }) => state !== 'cooling_down'));
      isOver = true;
      await Promise.all(releasing);
      const audit = `/api/v1/apps/${appId}/audit?action=version.release&limit=1000`;
      const { objects } = (await here.call('GET', audit, { token: owner.token })).json();
      const released: string[] = objects.map(({ details }: { details: { versionId: string } }) => details.versionId);
      assert.equal(new Set(released).size, released.length, 'each version is released once');
      const list = await workshop.list();
      for (const [at, versions] of (await statesOf()).entries()) {
        const newest = versions.find(({ state }) => state === 'published');
        assert.equal(names[at] !== undefined && names[at] in list, newest !== undefined);
      }
      assert.deepEqual(await here.services.deps.store.check(), []);
    } finally {
      await Promise.allSettled([here.close(), there.close()]);
    }
  });
});

describe('a server that is killed while versions wait', () => {
  it('releases them after the next start', async () => {
    const service = await openService();
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.settings({ minVersionAgeSeconds: 2 });
    const { version } = await workshop.publish(2);
    assert.equal(version.state, 'cooling_down');
    const server = killedServer(service.dataDir, {});
    try {
      for (let kill = 0; kill < 3; kill++) {
        await server.start();
        await sleep(700);
        await server.kill();
      }
      await server.start();
      await until(async () => (await workshop.bound()) === 2, { timeoutMs: 30_000 });
    } finally {
      await server.kill();
      await service.close();
    }
  });
});
