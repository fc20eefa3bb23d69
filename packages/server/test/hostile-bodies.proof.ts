import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { oauthPaths } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { openService, type TestService } from './helpers/service.ts';
import { assertWireProblem, closesWithin, connectTo, exchange, readAnswer, requestOf } from './helpers/wire.ts';
import {
  formOf,
  largeModule,
  makeMember,
  makeWorld,
  publishAs,
  sampleModule,
  tinyModule,
  type World,
} from './helpers/world.ts';

const run = promisify(execFile);
const MiB = 1024 * 1024;

describe('hostile requests', () => {
  let service: TestService;
  let world: World;
  let base: string;
  let key: string;
  let publish: readonly string[];
  before(async () => {
    service = await openService({
      config: {
        logLevel: 'info',
        contentCacheBytes: MiB,
        idleTimeoutMs: 1000,
        headerTimeoutMs: 400,
        maxModuleBytes: 8 * MiB,
        maxBodyMemoryBytes: 12 * MiB,
        maxHeaderBytes: 16 * 1024,
      },
    });
    base = await service.listen();
    world = await makeWorld(service);
    key = await service.apiKey(world.owner.id);
    const { guest, extensionPointId } = world;
    publish = [
      `PUT /api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/p HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${guest.token}`,
      'content-type: application/wasm',
    ];
  });
  after(() => service.close());

  const memoryIsFree = () => until(() => service.services.bodyBudget.used === 0);

  it('get 413 before they have sent the announced bytes', async () => {
    const answer = await exchange(base, requestOf([...publish, `content-length: ${9 * MiB}`], Buffer.alloc(1000)));
    assertWireProblem(answer, 413, 'payload_too_large');
  });

  it('are handled as without an Expect header when its value is unknown', async () => {
    const lines = ['GET /healthz HTTP/1.1', 'host: x', 'expect: the-unexpected'];
    assert.equal((await exchange(base, requestOf(lines))).status, 200);
  });

  it('get 401, 404 and 403 when their access is revoked before the end of the body', async () => {
    const { appId, extensionPointId, owner } = world;
    const mate = await service.user();
    const members = `/api/v1/apps/${appId}/members/${mate.id}`;
    const invitation = JSON.stringify({ deliveryMethod: 'link', guestKey: 'late' });
    const body = JSON.stringify({ name: 'late' });
    const asJson = (line: string, token: string, text: string) => [
      `${line} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${token}`,
      'content-type: application/json',
      `content-length: ${text.length}`,
    ];
    const answerTo = async (lines: readonly string[], text: string, takeAway: () => Promise<unknown>) => {
      const socket = connectTo(base);
      const answer = readAnswer(socket);
      socket.write(requestOf(lines, text.slice(0, 1)));
      await sleep(50);
      await takeAway();
      socket.write(text.slice(1));
      return answer.finally(() => socket.destroy());
    };
    const setRole = (role: string) =>
      service.call('PUT', members, { token: owner.token, json: { role } }).then(({ statusCode }) => {
        assert.equal(statusCode, 200);
      });

    await makeMember(service, owner, appId, 'admin', mate);
    const inviting = asJson(`POST /api/v1/apps/${appId}/guests`, mate.token, invitation);
    assertWireProblem(await answerTo(inviting, invitation, () => setRole('viewer')), 403, 'forbidden');
    await setRole('admin');
    const renaming = asJson(`PUT /api/v1/extension-points/${extensionPointId}`, mate.token, body);
    const remove = () => service.call('DELETE', members, { token: owner.token });
    assertWireProblem(await answerTo(renaming, body, remove), 404, 'not_found');
    const { id, token } = (
      await service.call('POST', '/api/v1/tokens', { token: mate.token, json: { name: 'stolen' } })
    ).json();
    const making = asJson('POST /api/v1/tokens', token, body);
    const revoke = () => service.call('DELETE', `/api/v1/tokens/${id}`, { token: mate.token });
    assertWireProblem(await answerTo(making, body, revoke), 401, 'invalid_token');
  });

  it('get 413 in chunks that never end', async () => {
    const socket = connectTo(base);
    socket.write(requestOf([...publish, 'transfer-encoding: chunked']));
    const answer = readAnswer(socket);
    const chunk = Buffer.concat([Buffer.from(`${MiB.toString(16)}\r\n`), Buffer.alloc(MiB), Buffer.from('\r\n')]);
    let sent = 0;
    const pump = (): void => {
      while (!socket.destroyed && sent < 20 && socket.write(chunk)) sent++;
    };
    socket.on('drain', pump);
    pump();
    assertWireProblem(await answer, 413, 'payload_too_large');
    socket.destroy();
    await memoryIsFree();
  });

  it('get 401, 404 and 403 although a large body is on its way, through curl', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-upload-'));
    try {
      const file = join(folder, 'large.wasm');
      await writeFile(file, Buffer.alloc(64 * MiB));
      const url = `${base}${publish[0]?.split(' ')[1]}`;
      const { stranger, owner } = world;
      const status = async (token: string | undefined, ...more: string[]) => {
        const authorization = token === undefined ? [] : ['-H', `authorization: Bearer ${token}`];
        const args = [
          '-sS',
          '-T',
          file,
          '-o',
          join(folder, 'answer'),
          '-w',
          '%{http_code}',
          ...authorization,
          ...more,
          url,
        ];
        return (await run('curl', args)).stdout;
      };
      for (const more of [[], ['-H', 'expect:'], ['-H', 'expect:', '-H', 'transfer-encoding: chunked']]) {
        assert.equal(await status(undefined, ...more), '401');
        assert.equal(await status(stranger.token, ...more), '404');
        assert.equal(await status(owner.token, ...more), '403');
        assert.equal(await status(world.guest.token, '-H', 'content-type: application/wasm', ...more), '413');
        assert.equal(await status(world.guest.token, '-H', 'content-type: text/plain', ...more), '415');
      }
    } finally {
      await rm(folder, { recursive: true });
    }
    await memoryIsFree();
  });

  it('get 100 Continue only after authorization', async () => {
    const expecting = (token: string) => [
      ...publish.map((line) => (line.startsWith('authorization') ? `authorization: Bearer ${token}` : line)),
      `content-length: ${tinyModule(8).length}`,
      'expect: 100-continue',
    ];
    const refused = connectTo(base);
    refused.write(requestOf(expecting(world.stranger.token)));
    let before = '';
    refused.once('data', (chunk) => {
      before = chunk.toString();
    });
    assertWireProblem(await readAnswer(refused), 404, 'not_found');
    assert.match(before, /^HTTP\/1\.1 404/);
    refused.destroy();

    const welcome = connectTo(base);
    welcome.write(requestOf(expecting(world.guest.token)));
    const first = await new Promise<string>((resolve) => welcome.once('data', (chunk) => resolve(chunk.toString())));
    assert.match(first, /^HTTP\/1\.1 100 /);
    const answer = readAnswer(welcome);
    welcome.write(tinyModule(8));
    assert.equal((await answer).status, 201);
    welcome.destroy();
  });

  it('get 408 when a body stalls', async () => {
    const socket = connectTo(base);
    socket.write(requestOf([...publish, 'content-length: 1000'], Buffer.alloc(10)));
    assertWireProblem(await readAnswer(socket), 408, 'request_timeout');
    socket.destroy();
    await memoryIsFree();
  });

  it('may send their body slowly with authentication, and get 408 without', async () => {
    const slowly = async (lines: readonly string[], bytes: Uint8Array) => {
      const socket = connectTo(base);
      const answer = readAnswer(socket);
      socket.write(requestOf([...lines, `content-length: ${bytes.length}`]));
      let at = 0;
      const timer = setInterval(() => socket.write(bytes.subarray(at, ++at)), 20);
      try {
        return await answer;
      } finally {
        clearInterval(timer);
        socket.destroy();
      }
    };
    const [put = '', ...fields] = publish;
    const ofAnother = [put.replace('/p HTTP', '/slow HTTP'), ...fields];
    assert.equal((await slowly(ofAnother, largeModule(100))).status, 201); // takes longer than a client may be silent

    const login = [
      `POST ${oauthPaths.deviceAuthorization} HTTP/1.1`,
      'host: x',
      'content-type: application/x-www-form-urlencoded',
    ];
    const answer = await slowly(login, Buffer.from(`client_id=tenon-cli&scope=${'publish+'.repeat(40)}`));
    assert.equal(answer.status, 408);
    assert.match(answer.body.toString(), /must arrive within 1 seconds/);
    await memoryIsFree();
  });

  it('leave no connection open when the client keeps its side open after a 408', async () => {
    const { hostname, port } = new URL(base);
    const socket = createConnection({ host: hostname, port: Number(port), allowHalfOpen: true });
    const accepted = once(service.app.server, 'connection') as Promise<[Socket]>;
    socket.write('GET /healthz HTTP/1.1\r\nx-slow: ');
    const [served] = await accepted;
    assertWireProblem(await readAnswer(socket), 408, 'request_timeout');
    if (!served.closed) await once(served, 'close');
    socket.destroy();
  });

  it('are closed with 408 when a head stops coming', async () => {
    const socket = connectTo(base);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ');
    assertWireProblem(await readAnswer(socket), 408, 'request_timeout');
    assert.ok(await closesWithin(socket, 2000));
  });

  it('leave nothing behind when the connection is lost', async () => {
    for (const body of [Buffer.alloc(0), Buffer.alloc(MiB)]) {
      const socket = connectTo(base);
      socket.write(requestOf([...publish, `content-length: ${2 * MiB}`], body));
      await sleep(50);
      socket.resetAndDestroy();
    }
    await memoryIsFree();
    assert.equal((await exchange(base, requestOf(['GET /healthz HTTP/1.1', 'host: x']))).status, 200);
  });

  it('share a memory budget: those above it are asked to retry', async () => {
    const filling = connectTo(base);
    filling.write(requestOf([...publish, `content-length: ${8 * MiB}`], Buffer.alloc(7.9 * MiB)));
    const trickle = setInterval(() => filling.write(Buffer.alloc(1)), 50); // so that it isn't cut off as one that has stopped
    while (service.services.bodyBudget.used < 7 * MiB) await sleep(5);
    const answer = await exchange(base, requestOf([...publish, `content-length: ${7 * MiB}`], Buffer.alloc(7 * MiB)));
    assertWireProblem(answer, 503, 'unavailable');
    assert.match(answer.headers['retry-after'] ?? '', /^\d+$/);
    clearInterval(trickle);
    filling.destroy();
    await memoryIsFree();
  });

  it('free their place among the workers when they go away', async () => {
    const form = formOf([{ name: 'wasm', content: sampleModule }]);
    const lines = [
      'POST /instrument HTTP/1.1',
      'host: x',
      `authorization: Bearer ${key}`,
      `content-type: ${form.headers['content-type']}`,
      `content-length: ${form.body.length}`,
    ];
    for (let count = 0; count < 50; count++) {
      const socket = connectTo(base);
      socket.write(requestOf(lines, form.body));
      setTimeout(() => socket.resetAndDestroy(), 5 + (count % 7));
    }
    await sleep(100);
    assert.equal((await exchange(base, requestOf(lines, form.body))).status, 200);
    await memoryIsFree();
  });

  it('are cut off when they stop reading in the middle of a content', async () => {
    const { guest, owner, extensionPointId } = world;
    const large = largeModule(7 * MiB);
    const { contentAddress } = await publishAs(service, guest, extensionPointId, 'large', large);
    const socket = connectTo(base);
    socket.pause();
    const line = `GET /api/v1/c/${contentAddress} HTTP/1.1`;
    socket.write(requestOf([line, 'host: x', `authorization: Bearer ${owner.token}`]));
    const open = () =>
      new Promise<number>((resolve, reject) => {
        service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      });
    await sleep(150);
    const before = await open();
    await until(async () => (await open()) < before, { message: 'the server did not close the connection' });
    socket.destroy();
  });

  it('get problem documents for parser errors', async () => {
    assertWireProblem(await exchange(base, 'nonsense\r\n\r\n'), 400, 'invalid_request');
    assertWireProblem(await exchange(base, 'GET /x HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n'), 400, 'invalid_request');
    assertWireProblem(await exchange(base, 'BREW /pot HTTP/1.1\r\nhost: x\r\n\r\n'), 400, 'invalid_request');
    const smuggled = requestOf([...publish, 'content-length: 5', 'transfer-encoding: chunked'], '0\r\n\r\n');
    assertWireProblem(await exchange(base, smuggled), 400, 'invalid_request');
    const overflow = requestOf(['GET /healthz HTTP/1.1', 'host: x', `x-large: ${'x'.repeat(20_000)}`]);
    assertWireProblem(await exchange(base, overflow), 431, 'headers_too_large');
    const longTarget = requestOf([`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'host: x']);
    assertWireProblem(await exchange(base, longTarget), 431, 'headers_too_large');
  });

  it('can be many at once', async () => {
    const { owner, extensionPointId, guestKey } = world;
    const path = `/api/v1/extension-points/${extensionPointId}/bindings/${guestKey}`;
    const lines = [`GET ${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${owner.token}`];
    const responses = await Promise.all(Array.from({ length: 200 }, () => exchange(base, requestOf(lines))));
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
    const pipelined = connectTo(base);
    pipelined.write(Buffer.concat(Array.from({ length: 50 }, () => requestOf(lines))));
    let text = '';
    pipelined.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    while ((text.match(/HTTP\/1\.1 200/g) ?? []).length < 50) await sleep(5);
    pipelined.destroy();
  });
});
