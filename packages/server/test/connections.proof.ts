import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/helpers/until.ts';
import { openService, type TestService } from './helpers/service.ts';
import { connectTo, readAnswer, requestOf } from './helpers/wire.ts';
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
  const untilOpen = (count: number) =>
    until(async () => (await open()) === count, { message: `there are not ${count} open connections` });
  const health = requestOf(['GET /healthz HTTP/1.1', 'host: x']);

  /** Sends a request on a connection of its own. @returns the status; `undefined` when the connection was closed without a response */
  const tryHealth = async (): Promise<number | undefined> => {
    const socket = connectTo(base);
    try {
      socket.write(health);
      return (await readAnswer(socket)).status;
    } catch {
      return undefined;
    } finally {
      socket.destroy();
    }
  };

  it('are closed when they are idle and a new one exceeds the limit', async () => {
    for (let made = 0; made < max; made++) {
      const socket = await connect();
      socket.write(health);
      assert.equal((await readAnswer(socket)).status, 200);
    }
    await untilOpen(max);
    assert.equal(await tryHealth(), undefined);
    await untilOpen(0);
    assert.equal(await tryHealth(), 200);
    await untilOpen(0);
  });

  it('that are in use stay, and further ones are closed without a response', async () => {
    const { owner, appId } = world;
    const changes = requestOf([
      `GET /api/v1/apps/${appId}/changes HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${owner.token}`,
    ]);
    const streams: Socket[] = [];
    while (streams.length < max) {
      const socket = await connect();
      socket.write(changes);
      await once(socket, 'data');
      streams.push(socket.resume());
    }
    for (let tries = 0; tries < 20; tries++) assert.equal(await tryHealth(), undefined);
    assert.ok(streams.every((socket) => !socket.destroyed));
    assert.equal(await open(), max);
    streams.pop()?.destroy();
    await untilOpen(max - 1);
    assert.equal(await tryHealth(), 200);
    for (const socket of streams) socket.destroy();
    await untilOpen(0);
  });

  it('are closed when the client reads no responses, with and without a valid token, and others stay', async () => {
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
    working.write(requestOf([`GET /api/v1/apps/${appId}/changes HTTP/1.1`, ...lines]));
    await once(working, 'data');
    await untilOpen(1);
    for (const socket of [...stalled, working]) socket.destroy();
    await untilOpen(0);
  });

  it('do not delay a shutdown when they never sent a byte, or are in the middle of a request', async () => {
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
