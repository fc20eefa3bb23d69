import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { PublishedPlugin } from '@tenon/protocol';
import { quotaList } from '../src/config/quota-list.ts';
import { dump } from './helpers/dump.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { makeGuest } from './helpers/world.ts';

const tryIt = '?dryRun=true';

let service: TestService;
before(async () => {
  service = await openService();
});
after(() => service.close());

/** What a host and a store have. A row for bytes that no version names counts too. Temporary files stay for a second. */
async function contents({ dataDir, store }: TestService) {
  const files = await readdir(join(dataDir, 'blobs'), { recursive: true }).catch(() => []);
  return {
    rows: await dump(service),
    files: files.filter((name) => !name.startsWith('tmp')).sort(),
    revision: store.revision(),
  };
}

/** Fields that a publish assigns at random, or by the clock. */
function withoutChance({ version, createdAt, updatedAt, ...rest }: PublishedPlugin) {
  const { id, createdAt: at, ...others } = version;
  return { ...rest, version: others };
}

async function tried(workshop: Workshop, number: number, query = tryIt): Promise<PublishedPlugin> {
  const response = await workshop.tryPublish(number, query);
  assert.equal(response.statusCode, 200, response.payload);
  return response.json();
}

describe('a publish with `dryRun=true`', () => {
  const cases: Readonly<Record<string, (workshop: Workshop) => Promise<unknown>>> = {
    'a first version': async () => {},
    'a further version': (workshop) => workshop.publish(1),
    'the bytes of the newest version': (workshop) => workshop.publish(9),
    'the bytes of an older version': async (workshop) => {
      await workshop.publish(9);
      await workshop.publish(1);
    },
    'a version that awaits approval': async (workshop) => {
      await workshop.publish(1);
      await workshop.settings({ requiresApproval: true });
    },
    'a version that ends a rollback': async (workshop) => {
      await workshop.publish(1);
      await workshop.publish(2);
      await workshop.call('POST', '/rollback', { version: 1 });
    },
    'a version under one guest': (workshop) => workshop.publish(1, `?guest=${workshop.first}`),
  };

  for (const [name, prepare] of Object.entries(cases)) {
    it(`returns what publishing ${name} returns, and stores nothing`, async () => {
      const workshop = await openWorkshop(service);
      await prepare(workshop);
      const before = await contents(service);
      let commits = 0;
      service.store.onCommitted(() => void commits++);
      const labels = '&note=nightly&semver=3.0.0';
      const expected = await tried(workshop, 9, tryIt + labels);
      assert.deepEqual(await contents(service), before);
      assert.equal(commits, 0);
      const published = await workshop.publish(9, `?${labels.slice(1)}`);
      assert.deepEqual(withoutChance(expected), withoutChance(published));
    });
  }

  it('stores no bytes, though the module is new', async () => {
    const workshop = await openWorkshop(service);
    const expected = await tried(workshop, 77);
    const { token } = workshop.publisher;
    assert.equal((await service.call('GET', `/api/v1/c/${expected.contentAddress}`, { token })).statusCode, 404);
    assertProblem(await service.call('GET', workshop.path(), { token }), 404, 'not_found');
  });

  it('is refused as the publish is', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1, '?semver=1.0.0');
    const { owner, publisher, path } = workshop;
    const same = async (code: string, request: (query: string) => Promise<{ json(): unknown; statusCode: number }>) => {
      const [trial, real] = [await request('dryRun=true'), await request('dryRun=false')];
      const [first, second] = [trial, real].map((one) => ({ ...(one.json() as object), instance: undefined }));
      assert.deepEqual(first, second);
      assert.equal((real.json() as { code: string }).code, code);
    };
    await same('conflict', (query) => workshop.tryPublish(2, `?semver=1.0.0&${query}`));
    await same('invalid_field', (query) => workshop.tryPublish(2, `?semver=one&${query}`));
    await same('not_a_guest', (query) => workshop.tryPublish(2, `?guest=gst_00000000000000000000000000&${query}`));
    const wasm = { 'content-type': 'application/wasm' };
    const put = (body: Buffer, token: string) => (query: string) =>
      service.call('PUT', `${path()}?${query}`, { token, body, headers: wasm });
    await same('not_wasm', put(Buffer.from('hello'), publisher.token));
    await same('not_a_guest', put(Buffer.from('hello'), owner.token));
    await same('not_found', put(Buffer.from('hello'), (await service.user()).token));
    await workshop.settings({ schema: 'exports: [run]\n' });
    await same('interface_mismatch', (query) => workshop.tryPublish(3, `?${query}`));
    await workshop.settings({ schema: {} });
    await workshop.call('PUT', '/block', { reason: 'It sends data home.' });
    await same('plugin_blocked', (query) => workshop.tryPublish(4, `?${query}`));
  });

  it('finds that another user of the guest has the name', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const { owner, appId, extensionPointId } = workshop;
    const other = await service.user('Otto');
    await makeGuest(service, owner, appId, 'first', other);
    const target = `/api/v1/artifacts/${extensionPointId}/plugin/${other.id}/median${tryIt}`;
    const body = (await workshop.call('GET', '/versions/1/content')).rawPayload;
    const headers = { 'content-type': 'application/wasm' };
    assertProblem(await service.call('PUT', target, { token: other.token, body, headers }), 409, 'plugin_name_taken');
  });

  it('waits for no unfinished change, and finishes none', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const { extensionPointId, publisher } = workshop;
    const key = { extensionPointId: extensionPointId as never, userId: publisher.id, name: 'median' };
    await service.store.write((tx) => tx.putPendingRebind(key, { after: '', selection: null }));
    assertProblem(await workshop.tryPublish(2, tryIt), 409, 'conflict');
    assert.notEqual(await service.store.read.pendingRebind(key), undefined);
  });

  it('charges no quota', async () => {
    const limited = await openService({ config: { quotas: quotaList('publish-burst=1,publishes-per-hour=1') } });
    try {
      const workshop = await openWorkshop(limited);
      for (let at = 1; at <= 3; at++) assert.equal((await tried(workshop, at)).version.number, 1);
      await workshop.publish(1);
      assertProblem(await workshop.tryPublish(2, tryIt), 429, 'rate_limited');
    } finally {
      await limited.close();
    }
  });
});
