import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
});

after(async () => {
  await server.stop();
  await folder.remove();
});

/** Runs a command as the demo's owner, who has named neither an application nor an extension point. */
async function tenon(args: readonly string[], setting: Setting = {}) {
  const { TENON_URL, TENON_TOKEN } = server.quickstart;
  return runTenon(args, { environment: { TENON_URL, TENON_TOKEN }, ...setting });
}

async function line(args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await tenon(args);
  assert.equal(exitCode, 0, `tenon ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

describe('commands that name things', () => {
  it('take the only application and the only extension point', async () => {
    const { TENON_APP_ID = '', TENON_EXTENSION_POINT_ID = '', TENON_GUEST_KEY = '' } = server.quickstart;
    assert.match(await line(['app', 'show']), new RegExp(TENON_APP_ID));
    assert.match(await line(['extension-point', 'list']), new RegExp(TENON_EXTENSION_POINT_ID));
    assert.match(await line(['extension-point', 'show']), new RegExp(TENON_EXTENSION_POINT_ID));
    assert.match(await line(['plugin', 'list']), /greet/);
    assert.match(await line(['bindings', TENON_GUEST_KEY]), /greet/);
    assert.match(await line(['guest', 'list']), new RegExp(TENON_GUEST_KEY));
  });

  it('destroy nothing that is not named', async () => {
    for (const [args, what] of [
      [['app', 'delete', '--yes'], /Which application\?/],
      [['app', 'leave', '--yes'], /Which application\?/],
      [['extension-point', 'delete', '--yes'], /Which extension point\?/],
    ] as const) {
      const { exitCode, stderr } = await tenon(args);
      assert.equal(exitCode, 2, args.join(' '));
      assert.match(stderr, what);
    }
  });

  it('take names and guest keys where these are unique', async () => {
    const { TENON_GUEST_KEY = '' } = server.quickstart;
    const app = await line(['app', 'create', 'Editor']);
    const extensionPoint = await line(['extension-point', 'create', 'Filters', '--app', 'Editor']);
    assert.match(await line(['app', 'show', '--app', 'Editor']), new RegExp(app));
    assert.match(await line(['quotas', '--app', 'Editor']), /^extension-points +1 /m);
    assert.match(await line(['quotas']), /^account-bytes +\S+ \S*B +\d+ % +\S+ GiB /m);
    assert.match(await line(['extension-point', 'show', '-e', 'Filters']), new RegExp(extensionPoint));
    assert.match(await line(['plugin', 'list', '--extension-point', 'Greetings']), /greet/);
    const ofApp = await line(['plugin', 'list', '--app', server.quickstart.TENON_APP_ID ?? '']);
    assert.match(ofApp, /^NAME +EXTENSION POINT .*\ngreet +Greetings +1 +published /);
    assert.equal(await line(['plugin', 'list', '--app', 'Editor']), '');
    assert.match(await line(['bindings', TENON_GUEST_KEY, '--extension-point', 'Greetings']), /greet/);
    await line(['guest', 'invite', 'customers/43', '--app', 'Editor']);
    await line(['guest', 'remove', 'customers/43', '--app', 'Editor', '--yes']);
    assert.doesNotMatch(await line(['guest', 'list', '--app', 'Editor']), /customers\/43/);
    const { name } = JSON.parse(await line(['whoami', '--json']));
    assert.match(await line(['app', 'member', 'list', '--app', 'Editor']), new RegExp(name));
  });

  it('list what there is to choose from when it is not clear which is meant', async () => {
    const ids = [await line(['app', 'create', 'Twin']), await line(['app', 'create', 'Twin'])];
    const twins = await tenon(['app', 'show', '--app', 'Twin']);
    assert.equal(twins.exitCode, 2);
    assert.match(twins.stderr, /2 applications are called "Twin"\./);
    for (const id of ids) assert.match(twins.stderr, new RegExp(`  ${id}  Twin`));
    const none = await tenon(['guest', 'list']);
    assert.equal(none.exitCode, 2);
    assert.match(none.stderr, /Which application\?.+ {2}app_\w+ {2}Editor/s);
    assert.match((await tenon(['push', 'greet.wasm'])).stderr, /^Did you mean tenon plugin push\?$/m);
    const unknown = await tenon(['app', 'show', '--app', 'Nowhere']);
    assert.equal(unknown.exitCode, 4);
    assert.match(unknown.stderr, /No application that you see has the id or name "Nowhere"\./);
    for (const id of ids) await line(['app', 'delete', '--app', id, '--yes']);
    await line(['app', 'delete', '--app', 'Editor', '--yes']);
  });
});

/** A server that puts control characters into every text of a real one's answers, as a hostile one could. */
async function startHostileServer(url: string) {
  const hostile = '\u001b]52;c;Y3VybA==\u0007\u001b[2J\u009b31m\u009d0;title\u009c\u202e';
  const isFormed = /^(?:[a-z]{3}_[0-9a-z]{26}|\d{4}-\d\d-\d\dT.*|[\w-]{43}|[a-z_]+)$/;
  const spoil = (value: unknown): unknown => {
    if (typeof value === 'string') return isFormed.test(value) ? value : value + hostile;
    if (Array.isArray(value)) return value.map(spoil);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, spoil(member)]));
  };
  const proxy = createServer(async (request, response) => {
    if (request.url?.endsWith('/changes')) {
      response.writeHead(302, { location: 'http://x/\u009b31m\u009d0;title\u009c' }).end();
      return;
    }
    const body = await Array.fromAsync(request);
    const { method = 'GET', headers } = request;
    const answer = await fetch(url + request.url, {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
      ...(body.length === 0 ? {} : { body: Buffer.concat(body) }),
    });
    const text = await answer.text();
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(text === '' ? '' : JSON.stringify(spoil(JSON.parse(text))));
  });
  proxy.listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, close: () => proxy.close() };
}

describe('output', () => {
  it('holds no control characters of what a server answers', async () => {
    const hostile = await startHostileServer(server.url);
    const { TENON_TOKEN, TENON_APP_ID = '', TENON_EXTENSION_POINT_ID = '', TENON_GUEST_KEY = '' } = server.quickstart;
    const environment = { TENON_URL: hostile.url, TENON_TOKEN, TENON_APP_ID, TENON_EXTENSION_POINT_ID };
    const plugin = `${TENON_EXTENSION_POINT_ID}/plugin/${server.quickstart.TENON_USER_ID}/greet`;
    const commands = [
      ['whoami'],
      ['app', 'list'],
      ['app', 'show'],
      ['app', 'member', 'list', '--app', TENON_APP_ID],
      ['app', 'audit'],
      ['app', 'approvals'],
      ['extension-point', 'list'],
      ['extension-point', 'show', '-e', TENON_EXTENSION_POINT_ID],
      ['bindings', 'generate', 'host', '-e', TENON_EXTENSION_POINT_ID],
      ['guest', 'list'],
      ['guest', 'invite', 'evil'],
      ['guest', 'remove', 'unknown'],
      ['invitation', 'list'],
      ['bindings', TENON_GUEST_KEY],
      ['plugin', 'list'],
      ['plugin', 'status', plugin],
      ['plugin', 'versions', plugin],
      ['plugin', 'delete', plugin],
      ['token', 'list'],
      ['api-key', 'list'],
      ['status'],
      ['changes'],
      ['app', 'show', '--app', 'app_01j29hxk3mfpq8ad68ha6hbsex'],
    ];
    try {
      for (const command of commands) {
        for (const args of [command, [...command, '--json']]) {
          const { stdout, stderr } = await runTenon(args, { environment });
          assert.doesNotMatch(`${stdout}${stderr}`, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/, args.join(' '));
          if (args === command) assert.doesNotMatch(`${stdout}${stderr}`, /\u202e/, args.join(' '));
          assert.notEqual(stdout + stderr, '', args.join(' '));
        }
      }
    } finally {
      hostile.close();
    }
  });
});

describe('admin commands', () => {
  it('tell a data folder that they cannot read from one that is not there', {
    skip: process.getuid?.() === 0 ? 'root reads everything' : process.platform === 'win32',
  }, async () => {
    const closed = join(folder.path, 'closed');
    await mkdir(closed);
    await writeFile(join(closed, 'tenon.db'), '');
    await chmod(closed, 0);
    const { exitCode, stderr } = await runTenon(['admin', 'verify', '--store', closed]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /Cannot read .+: permission denied/);
    assert.match(stderr, /the user that the server runs as/);
  });

  it('say that a folder holds no data', async () => {
    const { exitCode, stderr } = await runTenon(['admin', 'verify', '--store', join(folder.path, 'none')]);
    assert.equal(exitCode, 4);
    assert.match(stderr, /There is no data in/);
  });
});
