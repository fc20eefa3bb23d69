import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openService, type TestService } from './helpers/service.ts';
import { assertWireProblem, connectTo, exchange, readAnswer, requestOf } from './helpers/wire.ts';
import { largeModule, makeWorld, publishAs, type World } from './helpers/world.ts';

const max = 50;
const MiB = 1024 * 1024;

describe('connections', () => {
  let service: TestService;
  let world: World;
  let base: string;
  const sockets = new Set<Socket>();
  before(async () => {
    service = await openService({ config: { maxConnections: max, idleTimeoutMs: 2000, logLevel: 'info' } });
    base = await service.listen();
    world = await makeWorld(service);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await service.close();
  });

  const connect = async (): Promise<Socket> => {
    const socket = connectTo(base);
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    await once(socket, 'connect');
    return socket;
  };
  const open = () =>
    new Promise<number>((resolve, reject) => {
      service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  const untilOpen = async (count: number) => {
    for (let tries = 0; (await open()) !== count; tries++) {
      assert.ok(tries < 1500, `${await open()} connections are open, not ${count}`);
      await sleep(20);
    }
  };
  const health = requestOf(['GET /healthz HTTP/1.1', 'host: x']);

  it('that are unused give way to others, however many there are', async () => {
    for (let made = 0; made < 4 * max; made++) {
      const socket = await connect();
      if (made % 2 === 0) continue; // half of them never send a byte
      socket.write(health);
      assert.equal((await readAnswer(socket)).status, 200);
    }
    await untilOpen(max);
    assert.equal((await exchange(base, health)).status, 200);
    for (const socket of sockets) socket.destroy();
    await untilOpen(0);
  });

  const connectFrom = (localAddress: string): Socket => {
    const { hostname, port } = new URL(base);
    return createConnection({ host: hostname, port: Number(port), localAddress });
  };
  const notEverywhere = process.platform === 'linux' ? false : 'not all of 127.0.0.0/8 are addresses of this machine';

  it('that are unused give way to those of others only when theirs are as many', { skip: notEverywhere }, async () => {
    const other = connectFrom('127.0.0.2');
    other.write(health);
    assert.equal((await readAnswer(other)).status, 200);
    for (let made = 0; made < 3 * max; made++) await connect();
    await untilOpen(max);
    other.write(health);
    assert.equal((await readAnswer(other)).status, 200);
    other.destroy();
    for (const socket of sockets) socket.destroy();
    await untilOpen(0);
  });

  it('that are in use stay, and further ones get 503 with the time to come back', async () => {
    const { owner, appId } = world;
    const news = requestOf([
      `GET /api/v1/apps/${appId}/news HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${owner.token}`,
    ]);
    const follow = async (): Promise<Socket> => {
      const socket = await connect();
      socket.write(news);
      await once(socket, 'data');
      return socket.resume();
    };
    const streams: Socket[] = [];
    while (streams.length < max) streams.push(await follow());
    for (let tries = 0; tries < 20; tries++) {
      const answer = await exchange(base, health);
      assertWireProblem(answer, 503, 'unavailable');
      assert.match(answer.headers['retry-after'] ?? '', /^\d+$/);
      assert.equal(answer.headers.connection, 'close');
    }
    assert.ok(streams.every((socket) => !socket.destroyed));
    streams.pop()?.destroy();
    await untilOpen(max - 1);
    assert.equal((await exchange(base, health)).status, 200);
    if (notEverywhere === false) {
      await untilOpen(max - 1);
      streams.push(await follow());
      const other = connectFrom('127.0.0.2');
      other.write(health);
      assert.equal((await readAnswer(other)).status, 200, 'the network that has all of them gave one up');
      const [oldest] = streams;
      if (oldest?.closed === false) await once(oldest, 'close');
      assert.equal(streams.filter((socket) => socket.closed).length, 1);
      other.destroy();
    }
    for (const socket of streams) socket.destroy();
    await untilOpen(0);
  });

  it('on which nobody takes the answers end, of strangers and of who was let in, and others stay', async () => {
    const { owner, guest, appId, extensionPointId } = world;
    const lines = ['host: x', `authorization: Bearer ${owner.token}`];
    const { contentAddress } = await publishAs(service, guest, extensionPointId, 'large', largeModule(MiB));
    const takers = [
      ['GET /openapi.json HTTP/1.1', 'host: x'],
      [`GET /api/v1/c/${contentAddress} HTTP/1.1`, ...lines],
    ];
    const stalled = await Promise.all(
      takers.map(async (request) => {
        const socket = await connect();
        socket.pause().write(Buffer.concat(Array.from({ length: 90 }, () => requestOf(request))));
        return socket;
      }),
    );
    const working = await connect();
    working.write(requestOf([`GET /api/v1/apps/${appId}/news HTTP/1.1`, ...lines]));
    await once(working, 'data');
    await untilOpen(1);
    for (const socket of [...stalled, working]) socket.destroy();
    await untilOpen(0);
  });

  it('that never sent a byte, or keep one from an answer, do not hold up a shutdown', async () => {
    const other = await openService({ config: { logLevel: 'info' } });
    const url = await other.listen();
    const idle = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const socket = connectTo(url);
        await once(socket, 'connect');
        if (at % 2 === 0) return socket;
        socket.write(health);
        assert.equal((await readAnswer(socket)).status, 200);
        return socket;
      }),
    );
    const closed = idle.map((socket) => once(socket.on('error', () => {}).resume(), 'close'));
    await other.close();
    await Promise.all(closed);
  });
});
