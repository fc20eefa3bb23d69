import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultProxy, openFaultProxy } from '../../../test/helpers/fault-proxy.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';
import { type ObjectStore, startObjectStore } from './helpers/s3.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

describe('GET /readyz with silent stores', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let objects: ObjectStore;
  let proxy: FaultProxy;
  let service: TestService;
  before(async () => {
    [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    proxy = await openFaultProxy(objects.port);
    const { url } = await postgres.createDatabase();
    const { bucket, credentials } = objects.options('plugins');
    service = await openService({
      config: {
        databaseUrl: url,
        s3Bucket: bucket,
        s3Endpoint: proxy.url,
        s3AccessKeyId: credentials?.accessKeyId,
        s3SecretAccessKey: credentials?.secretAccessKey,
      },
    });
  });
  after(async () => {
    await service.close();
    await proxy.close();
    postgres.stop();
    await objects.stop();
  });

  const ask = () => service.call('GET', '/readyz');
  const detailOf = (response: Awaited<ReturnType<typeof ask>>) => assertProblem(response, 503, 'unavailable').detail;
  const untilReady = async () => {
    for (let tries = 0; (await ask()).statusCode !== 200; tries++) {
      assert.ok(tries < 500, 'it never was ready again');
      await sleep(100);
    }
  };

  it('returns 503 to all callers while PostgreSQL is suspended, and 200 afterwards', async () => {
    assert.equal((await ask()).statusCode, 200);
    const proceed = await postgres.pause();
    try {
      const responses = await Promise.all(Array.from({ length: 100 }, ask));
      const details = new Set(responses.map(detailOf));
      assert.deepEqual([...details], ['Not ready: the metadata store has not answered for 2 seconds.']);
      assert.equal((await service.call('GET', '/healthz')).statusCode, 200);
    } finally {
      proceed();
    }
    await untilReady();
  });

  it('returns 503 while the object store is silent, with one shared ping, and leaves nothing open', async () => {
    await untilReady();
    await sleep(1100); // for a second it is believed that it could be written to
    let [hanging, gone] = [0, 0];
    proxy.inject(({ request, response }) => {
      hanging++;
      request.resume();
      response.once('close', () => gone++);
    });
    const responses = await Promise.all(Array.from({ length: 100 }, ask));
    assert.deepEqual(
      [...new Set(responses.map(detailOf))],
      ['Not ready: the blob store has not answered for 2 seconds.'],
    );
    assert.ok(hanging >= 1 && hanging <= 3, `${hanging} requests hang`); // the client may have tried again
    for (let tries = 0; gone < hanging; tries++) {
      assert.ok(tries < 600, 'a request is still open');
      await sleep(50);
    }
    proxy.inject(undefined);
    await untilReady();
  });

  it('reports both stores when both are down, without their addresses', async () => {
    await sleep(1100);
    proxy.inject(({ response }) => void response.destroy());
    const proceed = await postgres.pause();
    try {
      const detail = detailOf(await ask());
      assert.match(detail, /the metadata store has not answered .*; the blob store /);
      assert.doesNotMatch(detail, /127\.0\.0\.1|postgres|http/);
    } finally {
      proceed();
      proxy.inject(undefined);
    }
    await untilReady();
  });
});
