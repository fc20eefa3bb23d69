import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { assertWireProblem, connectTo, readAnswer, requestOf } from './helpers/wire.ts';
import { sampleModule } from './helpers/world.ts';

const script = fileURLToPath(new URL('./helpers/serve-child.ts', import.meta.url));
const limit = 200;
const mayHave = 102; // (200 - 64) * 3/4

/** Takes all descriptors that are left at SIGUSR2, and says so. */
const takesAll = `data:text/javascript,${encodeURIComponent(`
  import { openSync } from 'node:fs';
  process.on('SIGUSR2', () => {
    try {
      for (;;) openSync('/dev/null', 'r');
    } catch (error) {
      console.error(JSON.stringify({ taken: error.code }));
    }
  });`)}`;

describe('a process with few descriptors', { skip: process.platform === 'win32' && 'no limit on Windows' }, () => {
  let dataDir: string;
  let child: ReturnType<typeof spawn>;
  let base: string;
  let log = '';
  const sockets: Socket[] = [];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tenon-descriptors-'));
    const command = `ulimit -n ${limit} && exec "$0" "$@"`;
    child = spawn('sh', ['-c', command, process.execPath, '--import', takesAll, script, dataDir], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const ended = once(child, 'exit').then(() => assert.fail(`The server ended: ${log}`));
    const [url] = await Promise.race([once(child.stdout as NonNullable<typeof child.stdout>, 'data'), ended]);
    base = String(url).trim();
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    const ended = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  });

  const connect = async (): Promise<Socket> => {
    const socket = connectTo(base);
    sockets.push(socket);
    await once(
      socket.on('error', () => {}),
      'connect',
    );
    return socket;
  };
  const publishOn = async (socket: Socket, name: string) => {
    const { TENON_TOKEN, TENON_USER_ID, TENON_EXTENSION_POINT_ID } = parseEnv(
      await readFile(join(dataDir, 'quickstart.env'), 'utf8'),
    );
    const lines = [
      `PUT /api/v1/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/${name} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${TENON_TOKEN}`,
      'content-type: application/wasm',
      `content-length: ${sampleModule.length}`,
    ];
    socket.write(requestOf(lines, sampleModule));
    return readAnswer(socket);
  };

  it('warns once, with both numbers', () => {
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const warnings = lines.filter(({ level }) => level === 40);
    assert.equal(warnings.length, 1, log);
    const { descriptorLimit, configured, maxConnections } = warnings[0];
    assert.deepEqual(
      { descriptorLimit, configured, maxConnections },
      { descriptorLimit: limit, configured: 10_000, maxConnections: mayHave },
    );
  });

  it('accepts publishes despite more idle connections than its limit', async () => {
    for (let made = 0; made < 2 * limit; made++) await connect();
    const status = async () => (await publishOn(await connect(), 'beside')).status;
    // A connection too many is closed without a response, and then there is room.
    const first = await status().catch(() => sleep(200).then(status));
    assert.equal(first, 201);
  });

  it('responds 503 without free descriptors, and closes idle connections', async () => {
    for (const socket of sockets) socket.destroy();
    await sleep(200);
    const first = await connect();
    const others = await Promise.all(Array.from({ length: 20 }, connect));
    for (const socket of [first, ...others]) {
      socket.write(requestOf(['GET /healthz HTTP/1.1', 'host: x'])); // connections that were not accepted yet would be closed
      assert.equal((await readAnswer(socket)).status, 200);
    }
    child.kill('SIGUSR2');
    while (!log.includes('"taken":"EMFILE"')) await once(child.stderr as NonNullable<typeof child.stderr>, 'data');
    const refused = await publishOn(first, 'none-left');
    assertWireProblem(refused, 503, 'unavailable');
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/);
    await Promise.all(others.map(async (socket) => socket.closed || once(socket.resume(), 'close')));
    assert.equal((await publishOn(await connect(), 'none-left')).status, 201, log);
  });
});
