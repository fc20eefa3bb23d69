import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/helpers/until.ts';
import type { Config } from '../src/config/config.ts';
import { type Bystander, makeBystander, statusOn } from './helpers/others.ts';
import { noPostgres, startPostgres } from './helpers/postgres.ts';
import { startObjectStore } from './helpers/s3.ts';
import { type Served, serveApart, untilAtMost } from './helpers/served.ts';
import { openService, type TestService } from './helpers/service.ts';
import { requestOf } from './helpers/wire.ts';
import { largeModule, makeWorld, publishAs, type World } from './helpers/world.ts';

const MiB = 1024 * 1024;

/** So short that a test can wait for them, and long enough for those who are not slow on a machine that is. */
const settings = { TENON_TIMES: 'header=4s,idle=6s,keep-alive=4s', TENON_MODULE_WORKERS: '1' };

/** No large content stays in the cache. */
const constants = { contentCacheBytes: MiB };

/** What one who reads slowly may take of memory: some chunks, with what collects no garbage meanwhile, and a fraction of a content. */
const mostBytesEach = 2.5 * MiB;

interface Backend {
  readonly largeBytes: number;
  readonly readers: number;
  /** How many connections to stores are kept, for a minute and longer, for who comes next. */
  readonly keptConnections: number;
  open(): Promise<{ config: Partial<Config>; settings: Readonly<Record<string, string>>; close(): Promise<void> }>;
}

const embedded: Backend = {
  largeBytes: 32 * MiB,
  readers: 200,
  keptConnections: 0,
  open: async () => ({ config: {}, settings: {}, close: async () => {} }),
};

const remote: Backend = {
  largeBytes: 10 * MiB, // the emulator takes no more
  readers: 100,
  keptConnections: 64, // which the readers' questions for the size have made
  async open() {
    const [postgres, objects] = await Promise.all([startPostgres(), startObjectStore(['plugins'])]);
    const { url } = await postgres.createDatabase();
    const { bucket, endpoint = '', credentials } = objects.options('plugins');
    const { accessKeyId = '', secretAccessKey = '' } = credentials ?? {};
    return {
      config: {
        databaseUrl: url,
        s3Bucket: bucket,
        s3Endpoint: endpoint,
        s3AccessKeyId: accessKeyId,
        s3SecretAccessKey: secretAccessKey,
      },
      settings: {
        TENON_DATABASE_URL: url,
        TENON_S3_BUCKET: bucket,
        TENON_S3_ENDPOINT: endpoint,
        TENON_S3_ACCESS_KEY_ID: accessKeyId,
        TENON_S3_SECRET_ACCESS_KEY: secretAccessKey,
      },
      async close() {
        postgres.stop();
        await objects.stop();
      },
    };
  },
};

/** A server, a slow client, and a client that must not be delayed. */
interface Scene {
  readonly service: TestService;
  readonly world: World;
  readonly served: Served;
  readonly bystander: Bystander;
  close(): Promise<void>;
}

async function setScene(backend: Backend): Promise<Scene> {
  const stores = await backend.open();
  const service = await openService({ config: { ...stores.config, logLevel: 'warn' } });
  const world = await makeWorld(service);
  const bystanderOn = await makeBystander(service);
  const served = await serveApart(service.dataDir, { ...settings, ...stores.settings }, constants);
  const bystander = bystanderOn(served);
  await bystander.work(3); // threads and connections to stores are there
  return {
    service,
    world,
    served,
    bystander,
    async close() {
      await served.stop();
      await service.close();
      await stores.close();
    },
  };
}

/** Sends a byte now and then, until the connection ends. */
function trickle(socket: Socket, bytes: Buffer): void {
  let at = 0;
  const timer = setInterval(() => socket.write(bytes.subarray(at % bytes.length, (at++ % bytes.length) + 1)), 500);
  socket.once('close', () => clearInterval(timer));
}

/** Opens connections, a few at a time. */
async function many(served: Served, count: number, begin: (socket: Socket, at: number) => unknown): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const made = await Promise.all(
      Array.from({ length: Math.min(50, count - sockets.length) }, () => served.connect()),
    );
    for (const socket of made) begin(socket, sockets.push(socket) - 1);
  }
  return sockets;
}

const allClosed = (sockets: readonly Socket[]) =>
  Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket.resume(), 'close'))));

/** Nothing is left of those who were slow: no connection, request or file. */
async function assertNothingLeft(served: Served, filesBefore: number | undefined): Promise<void> {
  await untilAtMost(served, 'tenon_http_connections', 0);
  await untilAtMost(served, 'tenon_http_requests_in_progress', 0);
  if (filesBefore === undefined) return;
  const message = `more files are open than the ${filesBefore} before`;
  await until(async () => ((await served.openFiles()) ?? 0) <= filesBefore + 20, { message });
}

const backends: readonly [string, Backend, string | false][] = [
  ['the embedded store', embedded, false],
  ['PostgreSQL and an object store', remote, noPostgres],
];

for (const [name, backend, skip] of backends) {
  describe(`slow readers, on ${name}`, { skip }, () => {
    let scene: Scene;
    before(async () => {
      scene = await setScene(backend);
    });
    after(() => scene.close());

    it('do not each hold a content in memory, do not delay others, and are disconnected when they stop', async () => {
      const { service, world, served, bystander } = scene;
      const { largeBytes, readers: count, keptConnections } = backend;
      const large = await publishAs(service, world.guest, world.extensionPointId, 'large', largeModule(largeBytes));
      const lines = [
        `GET /api/v1/c/${large.contentAddress} HTTP/1.1`,
        'host: x',
        `authorization: Bearer ${world.owner.token}`,
      ];
      const files = await served.openFiles();
      const before = await served.metric('process_resident_memory_bytes');
      const readers = await many(served, count, (socket) => {
        socket.pause();
        socket.write(requestOf(lines));
      });
      await bystander.work(10);
      const grown = (await served.metric('process_resident_memory_bytes')) - before;
      const all = count * largeBytes;
      const most = count * mostBytesEach;
      assert.ok(grown < most, `${Math.round(grown / MiB)} MiB more for ${all / MiB} MiB that are not read`);
      const read = await served.metric('tenon_blob_read_bytes_total');
      assert.ok(read < all / 1.5, `${Math.round(read / MiB)} of ${all / MiB} MiB were read`);
      await untilAtMost(served, 'tenon_http_connections', 0); // they have been cut off, though they are still there
      await allClosed(readers);
      await assertNothingLeft(served, files && files + keptConnections);
    });
  });
}

describe('slow clients', () => {
  let scene: Scene;
  before(async () => {
    scene = await setScene(embedded);
  });
  after(() => scene.close());

  it('that send their header byte by byte get 408, and do not delay others', async () => {
    const { served, bystander } = scene;
    const files = await served.openFiles();
    const responses: Promise<number | undefined>[] = [];
    const slow = await many(served, 300, (socket) => {
      responses.push(statusOn(socket));
      socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ');
      trickle(socket, Buffer.from('x'));
    });
    await bystander.work(10);
    assert.deepEqual(new Set(await Promise.all(responses)), new Set([408]));
    await allClosed(slow);
    await assertNothingLeft(served, files);
  });

  it('that send their body byte by byte use little memory, and get 408 when they stop', async () => {
    const { service, world, served, bystander } = scene;
    const files = await served.openFiles();
    const { guest, extensionPointId } = world;
    const key = await service.apiKey(guest.id);
    const length = 32 * MiB;
    const put = [
      `PUT /api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/slow HTTP/1.1`,
      `authorization: Bearer ${guest.token}`,
      'content-type: application/wasm',
    ];
    const post = [
      'POST /instrument HTTP/1.1',
      `authorization: Bearer ${key}`,
      'content-type: multipart/form-data; boundary=x',
    ];
    const before = await served.metric('process_resident_memory_bytes');
    const responses: Promise<number | undefined>[] = [];
    const slow = await many(served, 200, (socket, at) => {
      socket.write(requestOf([...(at % 2 === 0 ? put : post), 'host: x', `content-length: ${length}`]));
      trickle(socket, Buffer.from('\0asm'));
    });
    await bystander.work(10);
    const grown = (await served.metric('process_resident_memory_bytes')) - before;
    assert.ok(grown < (slow.length * length) / 16, `${Math.round(grown / MiB)} MiB more`);
    assert.ok(
      slow.every((socket) => !socket.closed),
      'a body may come slowly',
    );
    for (const socket of slow) {
      responses.push(statusOn(socket));
      socket.write = () => true; // from now on nothing comes
    }
    assert.deepEqual(new Set(await Promise.all(responses)), new Set([408]));
    for (const socket of slow) socket.destroy();
    await assertNothingLeft(served, files);
  });

  it('that open event streams and never read use only their own limit, and free it', async () => {
    const { world, served, bystander } = scene;
    const files = await served.openFiles();
    const lines = [
      `GET /api/v1/apps/${world.appId}/changes HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${world.owner.token}`,
    ];
    const deaf = await many(served, 64, (socket) => {
      socket.pause();
      socket.write(requestOf(lines));
    });
    await until(async () => (await served.metric('tenon_change_streams')) >= 64);
    assert.equal((await served.ask(lines.filter((line) => line !== 'host: x'))).status, 429);
    await bystander.work(10);
    for (const socket of deaf) socket.destroy();
    await untilAtMost(served, 'tenon_change_streams', 0);
    await assertNothingLeft(served, files);
  });

  it('that are idle, a thousand of them, are closed in their time', async () => {
    const { served, bystander } = scene;
    const files = await served.openFiles();
    const idle = await many(served, 1000, (socket, at) => {
      if (at % 2 === 0) socket.write(requestOf(['GET /healthz HTTP/1.1', 'host: x']));
    });
    await bystander.work(10);
    await allClosed(idle);
    await assertNothingLeft(served, files);
  });

  it('that are idle, a thousand of them, do not delay a shutdown', async () => {
    const { service } = scene;
    const other = await serveApart(service.dataDir, {});
    const idle = await many(other, 1000, (socket, at) => {
      if (at % 2 === 0) socket.write(requestOf(['GET /healthz HTTP/1.1', 'host: x']));
    });
    await until(async () => (await other.metric('tenon_http_connections')) >= 1000);
    await Promise.all([other.stop(), allClosed(idle)]);
  });
});
