import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { start } from './helpers/binary.ts';
import { tenon } from './helpers/streams.ts';

/** A valid module that is like no other number's. */
function moduleOf(number: number): Uint8Array<ArrayBuffer> {
  const custom = [0, 3, 1, 0x6e, number];
  return Uint8Array.from([...Buffer.from('0061736d01000000', 'hex'), ...custom]);
}

describe('tenon changes', () => {
  let server: InProcessServer;
  let environment: Record<string, string>;
  let number = 0;
  before(async () => {
    server = await startInProcessServer();
    const { TENON_TOKEN = '', TENON_APP_ID = '', TENON_EXTENSION_POINT_ID: point } = server.quickstart;
    environment = { TENON_URL: server.url, TENON_TOKEN, TENON_APP_ID };
    await call('PUT', `extension-points/${point}`, { schema: { exports: [] } });
  });
  after(() => server.stop());

  async function call(method: string, path: string, body: object | Uint8Array<ArrayBuffer>): Promise<void> {
    const isModule = body instanceof Uint8Array;
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${server.quickstart.TENON_TOKEN}`,
        'content-type': isModule ? 'application/wasm' : 'application/json',
      },
      body: isModule ? body : JSON.stringify(body),
    });
    assert.ok(response.ok, `${response.status} ${await response.text()}`);
  }
  const publish = () => {
    const { TENON_EXTENSION_POINT_ID: point, TENON_USER_ID: user } = server.quickstart;
    return call('PUT', `artifacts/${point}/plugin/${user}/counted`, moduleOf(++number));
  };

  it('shows what changes, as it does, until so many changes are shown', async () => {
    const { TENON_EXTENSION_POINT_ID: point, TENON_GUEST_KEY: guestKey } = server.quickstart;
    const running = start(['changes', '--json', '--count', '2'], { environment });
    await running.says(/"ready"/);
    await publish();
    await running.says(/"binding"/);
    await publish();
    const { exitCode, stdout } = await running.ended;
    assert.equal(exitCode, 0);
    const [ready, ...changes] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(ready.event, 'ready');
    assert.equal(changes.length, 2);
    for (const { id, ...reported } of changes) {
      assert.match(id, /^\d+-/);
      assert.deepEqual(reported, { event: 'binding', extensionPointId: point, guestKey });
    }
  });

  it('starts at the given event, and shows changes to people', async () => {
    const { TENON_EXTENSION_POINT_ID: point = '', TENON_GUEST_KEY: guestKey } = server.quickstart;
    await publish();
    const args = ['changes', '--since', '0-start', '--count', String(number)];
    const whole = await tenon(args, { environment });
    assert.equal(whole.exitCode, 0, whole.stderr);
    const lines = whole.stdout.trim().split('\n');
    assert.equal(lines.length, number);
    for (const line of lines) assert.ok(line.includes(`${point}  ${guestKey}`), line);
    const ofPoint = await tenon([...args, '-e', point, '--app', 'app_of_nobody'], { environment });
    assert.equal(ofPoint.stdout.trim().split('\n').length, number);
  });

  it('warns of what it can’t tell', async () => {
    const since = ['changes', '--count', '1', '--since', '7-another'];
    const listed = start([...since, '--json'], { environment });
    await listed.says(/"ready"/);
    let isOver = false;
    const shown = start(since, { environment }).ended.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await publish(); // whenever it is ready, one is still to come
      await sleep(200);
    }
    assert.match((await shown).stderr, /warning: Changes were missed/);
    const lines = (await listed.ended).stdout.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).event),
      ['reset', 'ready', 'binding'],
    );
  });

  it('refuses what the server refuses, and a count that is none', async () => {
    const refused = async (args: string[], more: Record<string, string> = {}) =>
      (await tenon(['changes', ...args], { environment: { ...environment, ...more } })).exitCode;
    assert.equal(await refused(['--app', 'app_01j29hxk3mfpq8ad68ha6hbsex']), 4);
    assert.equal(await refused([], { TENON_TOKEN: 'tnn_nonsense' }), 3);
    assert.equal(await refused(['--count', '0']), 2);
    assert.equal(await refused(['--app', 'Nowhere']), 4);
    assert.equal(await refused([], { TENON_URL: 'http://127.0.0.1:1' }), 6);
  });

  it('ends with what its token ends with', async () => {
    const made = await tenon(['token', 'create', 'news', '--json', '--scope', 'read'], { environment });
    const { token, id } = made.json();
    const running = start(['changes', '--json'], { environment: { ...environment, TENON_TOKEN: token } });
    await running.says(/"ready"/);
    assert.equal((await tenon(['token', 'revoke', id, '--yes'], { environment })).exitCode, 0);
    const { exitCode, stderr } = await running.ended;
    assert.equal(exitCode, 3, stderr);
    assert.equal(JSON.parse(stderr).error.code, 'invalid_token');
  });

  it('comes back where it was when the connection breaks, and asks for no more than it missed', async () => {
    const asked: (string | undefined)[] = [];
    const point = 'ext_01j29hxk3mfpq8ad68ha6hbsex';
    const change = (id: string) =>
      `id: ${id}\nevent: binding\ndata: {"extensionPointId":"${point}","guestKey":"k\\u001b[31m"}\n\n`;
    const breaking = createServer((request, response) => {
      asked.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.length === 1) {
        response.write(`id: 4-aa\nevent: ready\ndata: {}\n\n${change('5-bb')}`, () => response.destroy());
      } else if (asked.length === 2) {
        response.end('event: end\ndata: {"code":"unavailable","detail":"The server is stopping."}\n\n');
      } else {
        response.write(`event: later\ndata: {}\n\n${change('6-cc')}`);
      }
    });
    breaking.listen(0, '127.0.0.1');
    await once(breaking, 'listening');
    const { port } = breaking.address() as AddressInfo;
    const waits: number[] = [];
    const outcome = await tenon(['changes', '--count', '2'], {
      environment: { ...environment, TENON_URL: `http://127.0.0.1:${port}` },
      sleep: async (ms) => void waits.push(ms),
    });
    breaking.close().closeAllConnections();
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    assert.deepEqual(asked, [undefined, '5-bb', '5-bb']);
    assert.deepEqual(waits, [1000, 2000]);
    assert.equal(outcome.stdout.trim().split('\n').length, 2);
    assert.ok(!outcome.stdout.includes('\u001b'), 'what guests are called steers no terminal');
  });
});
