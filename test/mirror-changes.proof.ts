import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { noPostgres, startPostgres } from '../packages/server/test/helpers/postgres.ts';
import { startObjectStore } from '../packages/server/test/helpers/s3.ts';
import { makeGuest, ok, publishAs, tinyModule } from '../packages/server/test/helpers/world.ts';
import type { MirrorProcess } from './helpers/mirror-process.ts';
import {
  assertEqual,
  closeStage,
  jsonOf,
  listPath,
  mirrorOf,
  openStage,
  publish,
  type Stage,
  untilEqual,
  untilReady,
} from './helpers/mirror-stage.ts';
import { until } from './helpers/until.ts';

const why = { reason: 'why' };

describe('changes at the source of a mirror', () => {
  let stage: Stage;
  let mirror: MirrorProcess;

  before(async () => {
    stage = await openStage();
    mirror = await mirrorOf(stage, { constants: { mirrorRefreshMs: 1000, mirrorResyncMs: 3_600_000 } });
    await mirror.start();
    await untilReady(mirror);
  });
  after(async () => {
    await mirror.close();
    await closeStage(stage);
  });

  const plugins = () => `/api/v1/artifacts/${stage.world.extensionPointId}/plugin/${stage.world.guest.id}`;

  it('bring an SBOM that is attached alone after the publish', async () => {
    const { source, world, token } = stage;
    const path = `${plugins()}/median/versions/1/attestations`;
    const read = (from: Promise<Response>) => jsonOf<{ objects: { predicateType: string }[] }>(from);
    await untilEqual(stage, mirror, world.guestKey);
    const before = await read(mirror.get(path));
    const json = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'library', name: 'left-pad' }] };
    await ok(source, 'POST', path, { token: world.guest.token, json });
    const expected = (await source.call('GET', path, { token })).json() as typeof before;
    assert.equal(expected.objects.length, before.objects.length + 1);
    await until(async () => (await read(mirror.get(path))).objects.length === expected.objects.length);
    assert.deepEqual(await read(mirror.get(path)), expected);
  });

  it('bring a block while all lists are compared and a content is being fetched', async () => {
    const { source, world, proxy } = stage;
    await publish(stage, 'urgent', 5);
    await untilEqual(stage, mirror, world.guestKey);
    const other = await source.user();
    await makeGuest(source, world.owner, world.appId, 'tenants/slow', other);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const stalled: string[] = [];
    proxy.injectBy(({ path }) => {
      if (!path.startsWith('/api/v1/c/')) return undefined;
      return async ({ response, forward }) => {
        stalled.push(path);
        await released;
        const { status, headers, body } = await forward();
        response.writeHead(status, headers).end(body);
      };
    });
    // A restart compares all lists, because the application has another extension point.
    const { id } = await ok<{ id: string }>(source, 'POST', `/api/v1/apps/${world.appId}/extension-points`, {
      token: world.owner.token,
      json: { name: 'Slow', schema: { exports: ['evaluate'] } },
    });
    await publishAs(source, other, id, 'slow', tinyModule(77));
    await until(() => stalled.length > 0, { message: () => mirror.log() });
    const startMs = performance.now();
    await ok(source, 'PUT', `${plugins()}/urgent/block`, { token: world.owner.token, json: why });
    await until(async () => !('urgent' in (await jsonOf<object>(mirror.get(listPath(world, world.guestKey))))), {
      message: () => `the block has not arrived:\n${mirror.log()}`,
    });
    const delayMs = performance.now() - startMs;
    console.log('a block during a comparison arrived after', delayMs, 'ms');
    assert.ok(delayMs < 30_000, 'the block waited until the stalled content failed');
    release();
    proxy.inject(undefined);
    await untilEqual({ ...stage, world: { ...world, extensionPointId: id } }, mirror, 'tenants/slow');
    await assertEqual({ ...stage, world: { ...world, extensionPointId: id } }, mirror, 'tenants/slow');
  });
});

describe('a mirror of a roll-out', () => {
  it('has exactly the version of the source for each guest key, through steps, a pause, an abort, and a block', async () => {
    const stage = await openStage();
    const { source, world } = stage;
    const { owner, appId } = world;
    const plan = {
      steps: [10, 50, 100].map((percent) => ({ percent, holdSeconds: null })),
      halt: { minCalls: 5, errorRate: 0.02, p95Ratio: null, memoryRatio: null },
    };
    const { id: extensionPointId } = await ok<{ id: string }>(
      source,
      'POST',
      `/api/v1/apps/${appId}/extension-points`,
      {
        token: owner.token,
        json: { name: 'Staged', schema: { exports: ['evaluate'] }, rollOut: plan },
      },
    );
    const staged: Stage = { ...stage, world: { ...world, extensionPointId } };
    const guestKeys = Array.from({ length: 30 }, (_, at) => `staged/${at}`);
    for (const guestKey of guestKeys) await makeGuest(source, owner, appId, guestKey, world.guest);
    const mirror = await mirrorOf(stage);
    await mirror.start();
    await untilReady(mirror);
    const path = `/api/v1/artifacts/${extensionPointId}/plugin/${world.guest.id}/rolled`;
    const versions = new Map<string, number>();

    /** Waits until all lists are equal. @returns how many guest keys have each version */
    const shares = async (): Promise<Readonly<Record<string, number>>> => {
      const counts: Record<string, number> = {};
      for (const guestKey of guestKeys) {
        await untilEqual(staged, mirror, guestKey);
        const list = await jsonOf<Record<string, { contentAddress: string }>>(
          mirror.get(listPath(staged.world, guestKey)),
        );
        const version = versions.get(list.rolled?.contentAddress ?? '') ?? 'none';
        counts[version] = (counts[version] ?? 0) + 1;
      }
      return counts;
    };
    const act = (name: string) =>
      ok(source, 'POST', `${path}/versions/2/roll-out/${name}`, { token: owner.token, json: why });
    const first = await publish(staged, 'rolled', 201);
    versions.set(first.contentAddress, 1);
    assert.deepEqual(await shares(), { 1: 30 });
    const second = await publish(staged, 'rolled', 202);
    versions.set(second.contentAddress, 2);
    const atFirst = (await shares())[2] ?? 0;
    assert.ok(atFirst < 15, `${atFirst} guests at the first step`);
    await act('promote');
    const atHalf = (await shares())[2] ?? 0;
    assert.ok(atHalf > 0 && atHalf >= atFirst && atHalf < 30, `${atHalf} guests at the second step`);
    await assertEqual(staged, mirror, 'staged/0');
    await act('pause');
    assert.equal((await shares())[2], atHalf);
    await mirror.kill();
    await mirror.start();
    await act('resume');
    assert.equal((await shares())[2], atHalf);
    await act('abort');
    assert.deepEqual(await shares(), { 1: 30 });
    await ok(source, 'PUT', `${path}/block`, { token: owner.token, json: why });
    assert.deepEqual(await shares(), { none: 30 });
    await mirror.close();
    await closeStage(stage);
  });
});

describe('a mirror on PostgreSQL and an object store', { skip: noPostgres }, () => {
  it('follows, survives a crash, and serves while the source is away', async () => {
    const [stage, postgres, objects] = await Promise.all([openStage(), startPostgres(), startObjectStore(['mirror'])]);
    const { url } = await postgres.createDatabase();
    const { bucket, endpoint, credentials } = objects.options('mirror');
    const mirror = await mirrorOf(stage, {
      settings: {
        TENON_DATABASE_URL: url,
        TENON_S3_BUCKET: bucket,
        TENON_S3_ENDPOINT: endpoint,
        TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
        TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    });
    const { guestKey } = stage.world;
    await mirror.start();
    await untilReady(mirror);
    await assertEqual(stage, mirror, guestKey);
    await publish(stage, 'median', 2);
    await mirror.kill();
    await mirror.start();
    const { contentAddress } = await publish(stage, 'median', 3);
    await untilEqual(stage, mirror, guestKey);
    await assertEqual(stage, mirror, guestKey);
    await stage.proxy.goDown();
    const content = await mirror.get(`/api/v1/c/${contentAddress}`);
    assert.deepEqual(Buffer.from(await content.arrayBuffer()), tinyModule(3));
    assert.ok((await objects.changeObjects(bucket, (bytes) => bytes)) >= 2);
    await mirror.close();
    await closeStage(stage);
    postgres.stop();
    await objects.stop();
  });
});
