import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import type { Check } from '../src/diagnose.ts';
import { run } from '../src/run.ts';
import { makeFolder } from './helpers/folder.ts';
import { createIo, tenon } from './helpers/streams.ts';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let environment: Record<string, string>;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const { TENON_URL = '', TENON_TOKEN = '' } = server.quickstart;
  environment = { TENON_URL, TENON_TOKEN, HOME: folder.path };
});

after(async () => {
  await server.stop();
  await folder.remove();
});

/** Runs `tenon doctor --json`. @returns its checks by name */
async function diagnosed(
  changed: Record<string, string>,
  { args = [], workingFolder = folder.path }: { args?: readonly string[]; workingFolder?: string } = {},
) {
  const setting = { environment: { ...environment, ...changed }, workingFolder };
  const { exitCode, json, stderr } = await tenon(['doctor', '--json', ...args], setting);
  const checks = new Map((json().checks as Check[]).map((check) => [check.name, check]));
  return { exitCode, stderr, checks, names: [...checks.keys()] };
}

async function listen(other: Server): Promise<string> {
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
}

/** A URL where nothing listens. */
async function closedUrl(): Promise<string> {
  const other = createServer();
  const url = await listen(other);
  await new Promise((resolve) => other.close(resolve));
  return url;
}

const local = ['Node.js', 'environment', 'logins', 'tenon.toml', 'server'];

describe('tenon doctor', () => {
  it('finds nothing wrong with a server and a valid token', async () => {
    const { exitCode, checks, names, stderr } = await diagnosed({});
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.deepEqual(names, [...local, 'connection', 'clock', 'health', 'version', 'public URL', 'login']);
    for (const { name, result, detail } of checks.values()) assert.equal(result, 'ok', `${name}: ${detail}`);
    assert.match(checks.get('login')?.detail ?? '', /^Demo owner; .*manage.*; expires /);
  });

  it('shows a table, and never the token', async () => {
    const { exitCode, stdout } = await tenon(['doctor'], { environment, workingFolder: folder.path });
    assert.equal(exitCode, 0);
    assert.match(stdout, /^CHECK +RESULT +DETAIL\nNode\.js +ok +v\d+/);
    assert.match(stdout, /^environment +ok +TENON_URL=\S+, TENON_TOKEN \(hidden\)$/m);
    assert.ok(!stdout.includes(environment.TENON_TOKEN ?? ''));
  });

  it('warns of a URL that is not the public one, where logins fail', async () => {
    const TENON_URL = server.url.replace('localhost', '127.0.0.1');
    assert.notEqual(TENON_URL, server.url);
    const { exitCode, checks } = await diagnosed({ TENON_URL });
    const { result, detail, hint } = checks.get('public URL') as Check;
    assert.deepEqual([exitCode, result], [0, 'warning']);
    assert.equal(detail, `The server at ${TENON_URL} identifies itself as ${server.url}.`);
    assert.match(hint ?? '', new RegExp(`^Logins fail at ${TENON_URL}\\. .*tenon login --server ${server.url}$`));
  });

  it('stops at a URL where nothing listens, with the exit code of an absent server', async () => {
    const { exitCode, checks, names, stderr } = await diagnosed({ TENON_URL: await closedUrl() });
    assert.equal(exitCode, 6);
    assert.deepEqual(names, [...local, 'connection']);
    const { result, detail, hint } = checks.get('connection') as Check;
    assert.equal(result, 'failed');
    assert.match(detail, /no server listens there/);
    assert.match(hint ?? '', /Is the server running\?/);
    assert.deepEqual(JSON.parse(stderr).error.code, 'checks_failed');
  });

  it('says when the server has no TLS at an https URL', async () => {
    const { exitCode, checks } = await diagnosed({ TENON_URL: server.url.replace('http:', 'https:') });
    assert.equal(exitCode, 6);
    assert.match(checks.get('connection')?.hint ?? '', /Does the server use TLS\?/);
  });

  it('says when what answers is too slow, or no Tenon server', async (t) => {
    let isSlow = false;
    const other = createServer((_, response) => {
      if (!isSlow) response.end('<html>');
    });
    const TENON_URL = await listen(other);
    t.after(() => {
      other.closeAllConnections();
      other.close();
    });
    const wrong = await diagnosed({ TENON_URL });
    assert.equal(wrong.exitCode, 1);
    assert.match(wrong.checks.get('connection')?.hint ?? '', /Is this the URL of a Tenon server/);
    isSlow = true;
    const late = await diagnosed({ TENON_URL }, { args: ['--timeout', '200ms'] });
    assert.equal(late.exitCode, 6);
    assert.match(late.checks.get('connection')?.hint ?? '', /--timeout/);
  });

  it('says that no server is named, or that its URL is wrong', async () => {
    const none = await diagnosed({ TENON_URL: '' });
    assert.equal(none.exitCode, 2);
    assert.deepEqual(none.names, local);
    assert.match(none.checks.get('server')?.hint ?? '', /tenon login --server/);
    assert.equal((await diagnosed({ TENON_URL: 'nonsense' })).exitCode, 2);
  });

  it('says that the token is missing or revoked', async () => {
    const missing = await diagnosed({ TENON_TOKEN: '' });
    assert.equal(missing.exitCode, 3);
    assert.match(missing.checks.get('login')?.hint ?? '', /tenon login --server/);
    const made = (await tenon(['token', 'create', 'short', '--json'], { environment })).json();
    assert.equal((await diagnosed({ TENON_TOKEN: made.token })).exitCode, 0);
    assert.equal((await tenon(['token', 'revoke', made.id, '--yes'], { environment })).exitCode, 0);
    const revoked = await diagnosed({ TENON_TOKEN: made.token });
    assert.equal(revoked.exitCode, 3);
    assert.equal(revoked.checks.get('login')?.result, 'failed');
    assert.equal(revoked.checks.get('health')?.result, 'ok');
  });

  it('warns of a login that ends soon, and of a clock that is wrong', async () => {
    const { io, stdout } = createIo({ environment, workingFolder: folder.path });
    const made = (await tenon(['token', 'create', 'short', '--expires-in', '1d', '--json'], { environment })).json();
    const clockMs = () => Date.now() + 3_600_000;
    const setting = { ...io, clockMs, environment: { ...environment, TENON_TOKEN: made.token } };
    assert.equal(await run(['doctor', '--json'], setting), 0);
    const checks = new Map((JSON.parse(stdout.text).checks as Check[]).map((check) => [check.name, check]));
    assert.equal(checks.get('clock')?.result, 'warning');
    assert.match(checks.get('clock')?.detail ?? '', /^3,[56]\d\d seconds ahead of the server$/);
    assert.equal(checks.get('login')?.result, 'warning');
    assert.match(checks.get('login')?.hint ?? '', /tenon login --server/);
  });

  it('asks for no login at a server that only instruments', async (t) => {
    const other = await startInProcessServer({ settings: { TENON_ONLY: 'instrument' } });
    t.after(() => other.stop());
    const { exitCode, checks } = await diagnosed({ TENON_URL: other.url, TENON_TOKEN: '' });
    assert.equal(exitCode, 0);
    assert.match(checks.get('login')?.detail ?? '', /only instruments/);
  });

  it('checks the tenon.toml of the folder, and the server in it', async () => {
    const project = join(folder.path, 'project');
    await mkdir(project);
    await writeFile(join(project, 'tenon.toml'), `[plugin]\nname = "greet"\nserver = "${server.url}"\n`);
    const withheld = await diagnosed({ TENON_URL: '' }, { workingFolder: project });
    assert.equal(withheld.exitCode, 3);
    assert.match(withheld.checks.get('server')?.detail ?? '', /, from tenon\.toml$/);
    assert.match(withheld.checks.get('login')?.hint ?? '', /TENON_TOKEN is not sent/);
    await writeFile(join(project, 'tenon.toml'), '[plugin\n');
    const broken = await diagnosed({}, { workingFolder: project });
    assert.equal(broken.checks.get('tenon.toml')?.result, 'failed');
    assert.notEqual(broken.exitCode, 0);
    assert.equal(broken.checks.get('login')?.result, 'ok');
  });
});
