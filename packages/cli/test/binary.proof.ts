import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { binary, start } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';

const run = promisify(execFile);
const address = 'A'.repeat(43);

/** A server that answers as a broken or a slow one does, which a healthy one can't be made to. */
async function serveWith(t: TestContext, listener: RequestListener): Promise<Record<string, string>> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { TENON_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, TENON_TOKEN: 'tnn_any' };
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await makeFolder();
  t.after(folder.remove);
  return folder.path;
}

describe('bin/tenon.mjs', () => {
  it('says what to do on a Node.js that is too old', async () => {
    for (const version of ['20.1.0', '24.6.0']) {
      const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"${version}"}})`;
      const { exitCode, stdout, stderr } = await start(['--version'], { nodeOptions: ['--import', pretend] }).ended;
      assert.deepEqual([exitCode, stdout], [1, ''], version);
      assert.match(stderr, /needs Node\.js 24\.7/);
      assert.match(stderr, /npx --no-install tenon/);
    }
  });

  it('writes its version', async () => {
    const { exitCode, stdout, stderr } = await start(['--version']).ended;
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  it('keeps what was compiled where it is installed itself, and not where others may write', async () => {
    const tell = "process.on('exit', () => console.error(process.getBuiltinModule('module').getCompileCacheDir()))";
    const { stderr } = await start(['--version'], { nodeOptions: ['--import', `data:text/javascript,${tell}`] }).ended;
    const folder = stderr.trim();
    assert.equal(dirname(folder), join(dirname(binary), '..', '..', '..', 'node_modules', '.cache', 'compiled'));
    assert.notDeepEqual(await readdir(folder), []);
  });

  it('suggests what was meant', async () => {
    const { exitCode, stderr } = await start(['app', 'creat', 'x']).ended;
    assert.equal(exitCode, 2);
    assert.match(stderr, /Did you mean create\?/);
    assert.match(stderr, /tenon app --help/);
  });

  it('is quiet when who reads its output has had enough', async () => {
    const script = `set -o pipefail; "$0" "$1" help instrument | true; "$0" "$1" help instrument | head -n 1`;
    const { stdout, stderr } = await run('bash', ['-c', script, process.execPath, binary]);
    assert.match(stdout, /^Usage: tenon instrument/);
    assert.equal(stderr, '');
  });

  it('says in words that stdout takes no more', { skip: !existsSync('/dev/full') }, async () => {
    const script = '"$0" "$1" help instrument > /dev/full';
    await assert.rejects(run('bash', ['-c', script, process.execPath, binary]), {
      code: 1,
      stderr: 'error: Cannot write to stdout: the disk is full.\n',
    });
  });

  it('shows no colours where it is piped', async () => {
    const { stdout } = await start(['--help']).ended;
    assert.doesNotMatch(stdout, /\u001b/);
  });
});

describe('tenon serve', () => {
  it('serves until SIGTERM, names the file of secrets, and shows none of them', async (t) => {
    const dataDir = await temporaryFolder(t);
    const args = ['serve', '--port', '0', '--data-dir', dataDir];
    const { child, ended, says } = start(args);
    await says(/Ctrl-C/);
    child.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, 0);
    assert.match(stdout, /serves http:\/\/localhost:\d+\nstore {2}folder \S+\n/);
    assert.ok(stdout.includes(`. ${dataDir}/quickstart.env`));
    assert.doesNotMatch(stdout + stderr, /tn[nk]_|code=/);
    const { TENON_PASSWORD = '?' } = parseEnv(await readFile(join(dataDir, 'quickstart.env'), 'utf8'));
    assert.ok(!(stdout + stderr).includes(TENON_PASSWORD));
    const where = `browser. The e-mail address, the password, a token and an API key are in ${dataDir}/quickstart.env.`;
    assert.ok(stdout.includes(where), stdout);
    assert.equal((await stat(join(dataDir, 'quickstart.env'))).mode & 0o777, 0o600);
  });

  it('makes a token and an API key while the server runs, which it takes at once', async (t) => {
    const dataDir = await temporaryFolder(t);
    const { child, ended, says } = start(['serve', '--no-demo', '--port', '0', '--data-dir', dataDir]);
    await says(/http:\/\/localhost:\d+\/set-up#code=[\w-]{43}\n/);
    const environment = { TENON_DATA_DIR: dataDir };
    const user = (await start(['admin', 'user', 'create', 'Ada'], { environment }).ended).stdout.trim();
    const token = (await start(['admin', 'token', 'create', user], { environment }).ended).stdout.trim();
    const whoami = await start(['whoami', '--json'], { environment: { ...environment, TENON_TOKEN: token } }).ended;
    assert.equal(whoami.stderr, '');
    assert.equal(JSON.parse(whoami.stdout).id, user);
    child.kill('SIGINT');
    assert.equal((await ended).exitCode, 0);
  });

  it('says what to do where something listens already', async (t) => {
    const { TENON_URL = '' } = await serveWith(t, () => {});
    const dataDir = await temporaryFolder(t);
    const { exitCode, stderr } = await start(['serve', '--port', new URL(TENON_URL).port, '--data-dir', dataDir]).ended;
    assert.equal(exitCode, 1);
    assert.match(stderr, /listens on 127\.0\.0\.1 port \d+ already/);
  });

  it('shows every fault of its settings at once', async () => {
    const { exitCode, stderr } = await start(['serve', '--port', 'x', '--log-level', 'loud']).ended;
    assert.equal(exitCode, 2);
    assert.match(stderr, /--port/);
    assert.match(stderr, /--log-level/);
  });
});

describe('tenon fetch', () => {
  it('leaves nothing behind when it is interrupted', async (t) => {
    const folder = await temporaryFolder(t);
    let onHalf = () => {};
    const half = new Promise<void>((resolve) => {
      onHalf = resolve;
    });
    const environment = await serveWith(t, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/wasm', 'content-length': '2000000' });
      response.write(Buffer.alloc(1_000_000), onHalf); // and the rest never comes
    });
    const { child, ended } = start(['fetch', address, '-o', join(folder, 'half.wasm')], { environment });
    await half;
    while ((await readdir(folder)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill('SIGINT');
    child.kill('SIGINT'); // as npm does, which hands on what the terminal has sent to all
    const { exitCode, signal, stderr } = await ended;
    assert.ok(exitCode === 130 || signal === 'SIGINT', stderr);
    assert.deepEqual(await readdir(folder), []);
  });

  it('writes nothing when the bytes are not those that the address names', async (t) => {
    const folder = await temporaryFolder(t);
    const environment = await serveWith(t, (_, response) => response.end('other bytes'));
    for (const output of [join(folder, 'wrong.wasm'), '-']) {
      const { exitCode, stdout, stderr } = await start(['fetch', address, '-o', output], { environment }).ended;
      assert.deepEqual([exitCode, stdout], [1, '']);
      assert.match(stderr, /don't match/);
    }
    assert.deepEqual(await readdir(folder), []);
  });

  it('writes nothing when the connection is cut', async (t) => {
    const folder = await temporaryFolder(t);
    const environment = await serveWith(t, (_, response) => {
      response.writeHead(200, { 'content-length': '2000000' });
      response.write(Buffer.alloc(100_000), () => response.destroy());
    });
    const { exitCode, stderr } = await start(['fetch', address, '-o', join(folder, 'cut.wasm')], { environment }).ended;
    assert.equal(exitCode, 6, stderr);
    assert.deepEqual(await readdir(folder), []);
  });

  it('gives up on a server that goes silent', async (t) => {
    const environment = await serveWith(t, () => {});
    const { exitCode, stderr } = await start(['fetch', address, '--timeout', '300ms'], { environment }).ended;
    assert.equal(exitCode, 6);
    assert.match(stderr, /no network activity for 0\.3 seconds/);
  });
});

describe('tenon plugin push', () => {
  it('ends as soon as an upload is refused, and says why', async (t) => {
    const server = await startInProcessServer();
    t.after(server.stop);
    const file = join(await temporaryFolder(t), 'huge.wasm');
    await writeFile(file, Buffer.alloc(70 * 1024 * 1024));
    const args = ['plugin', 'push', file, '--timeout', '60s'];
    const startedMs = performance.now();
    const { exitCode, stderr } = await start(args, { environment: { ...server.quickstart } }).ended;
    assert.equal(exitCode, 7, stderr);
    assert.match(stderr, /A module must have at most 67,108,864 bytes/);
    assert.ok(performance.now() - startedMs < 30_000, 'it does not wait for its time-out');
  });
});

describe('a server that is none', () => {
  it('is distinguished from a missing one', async (t) => {
    const environment = await serveWith(t, (_, response) => response.end('<html>Welcome</html>'));
    const page = await start(['app', 'list'], { environment }).ended;
    assert.equal(page.exitCode, 1);
    assert.match(page.stderr, /The response of the server is invalid/);
    const offline = await start(['app', 'list', '--server', 'http://127.0.0.1:9', '--token', 'tnn_any']).ended;
    assert.equal(offline.exitCode, 6);
    assert.match(offline.stderr, /No answer from http:\/\/127\.0\.0\.1:9/);
  });

  it('gets no token through a redirect', async (t) => {
    const seen: (string | undefined)[] = [];
    const other = await serveWith(t, (request, response) => {
      seen.push(request.headers.authorization);
      response.end('{}');
    });
    const environment = await serveWith(t, (_, response) => {
      response.writeHead(307, { location: `${other.TENON_URL}/api/v1/apps` }).end();
    });
    const { exitCode, stderr } = await start(['app', 'list'], { environment }).ended;
    assert.equal(exitCode, 1);
    assert.ok(stderr.includes(other.TENON_URL ?? ''), stderr);
    assert.deepEqual(seen, []);
  });

  it('is unreachable when it goes silent in the middle of an answer', async (t) => {
    const environment = await serveWith(t, (_, response) => response.write('{"objects":['));
    const { exitCode, stderr } = await start(['app', 'list', '--timeout', '300ms'], { environment }).ended;
    assert.equal(exitCode, 6, stderr);
    assert.match(stderr, /no network activity for 0\.3 seconds/);
  });

  it('has an error of its own shown without its body', async (t) => {
    const environment = await serveWith(t, (_, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
    const { exitCode, stderr } = await start(['app', 'list'], { environment }).ended;
    assert.equal(exitCode, 6);
    assert.match(stderr, /returned status 502/);
    assert.doesNotMatch(stderr, /html/);
  });
});

describe('tenon admin', () => {
  it('makes links, under the address at which the server last started or the one that is named', async (t) => {
    const dataDir = await temporaryFolder(t);
    await writeFile(join(dataDir, 'quickstart.env'), 'TENON_URL=https://plugins.example.org/tenon\n');
    const admin = async (...args: string[]) =>
      (await start(['admin', ...args], { environment: { TENON_DATA_DIR: dataDir } }).ended).stdout.trim();
    assert.match(await admin('user', 'invite'), /^https:\/\/plugins\.example\.org\/tenon\/set-up#code=[\w-]{43}$/);
    const elsewhere = JSON.parse(await admin('user', 'invite', '--json', '--public-url', 'https://x.example/'));
    assert.match(elsewhere.link, /^https:\/\/x\.example\/set-up#code=[\w-]{43}$/);
    assert.ok(Math.abs(Date.parse(elsewhere.expiresAt) - Date.now() - 86_400_000) < 60_000);

    const user = await admin('user', 'create', 'Ada');
    const refused = start(['admin', 'user', 'reset-password', user, '--yes'], {
      environment: { TENON_DATA_DIR: dataDir },
    });
    assert.match((await refused.ended).stderr, /no e-mail address to sign in with/);
    const link = await admin('user', 'reset-password', user, '--yes', '--email', 'Ada@Example.org');
    assert.match(link, /^https:\/\/plugins\.example\.org\/tenon\/reset-password#code=[\w-]{43}$/);
    const unknown = start(['admin', 'user', 'reset-password', 'usr_x'], { environment: { TENON_DATA_DIR: dataDir } });
    assert.match((await unknown.ended).stderr, /no user usr_x/);
  });
});
