import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';

const sample = new URL('../../server/sample/greet.wasm', import.meta.url);

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

/** Runs a command against the test's server, with the demo owner's token unless another environment is given. */
function tenon(args: readonly string[], setting: Setting = {}) {
  return runTenon(args, { environment: { TENON_DATA_DIR: server.dataDir }, ...setting });
}

async function demand(args: readonly string[], setting: Setting = {}) {
  const outcome = await tenon(args, setting);
  assert.equal(outcome.exitCode, 0, `tenon ${args.join(' ')}: ${outcome.stderr}`);
  return outcome;
}

/** The one line that a command wrote to stdout. */
async function line(args: readonly string[], setting: Setting = {}): Promise<string> {
  const { stdout } = await demand(args, setting);
  assert.match(stdout, /^[^\n]+\n$/);
  return stdout.trim();
}

/** Another user, with a token of all scopes. */
async function makeUser(name: string) {
  const id = await line(['admin', 'user', 'create', name]);
  const token = await line(['admin', 'token', 'create', id]);
  return { id, environment: { TENON_URL: server.url, TENON_TOKEN: token } };
}

describe('tenon', () => {
  it('walks the whole story: invite, accept, publish, list, fetch', async () => {
    const app = await line(['app', 'create', 'Editor']);
    const schema = 'exports:\n  - name: greet\n    description: greets\n';
    const extensionPoint = await line(['extension-point', 'create', 'Greetings', '--app', app, '--schema', '-'], {
      stdin: schema,
    });
    const link = await line(['guest', 'invite', 'customers/4 2?', '--app', app]);

    const guest = await makeUser('Grace');
    await demand(['invitation', 'accept', link], guest);
    const wasm = join(folder.path, 'hello.wasm');
    await writeFile(wasm, await readFile(sample));
    const address = await line(['plugin', 'push', wasm, '--extension-point', extensionPoint], guest);
    assert.equal(
      address,
      createHash('sha256')
        .update(await readFile(wasm))
        .digest('base64url'),
    );
    const again = await demand(['plugin', 'push', wasm, '--extension-point', extensionPoint], guest);
    assert.match(again.stderr, /version 1 .*already: no version was made/);
    assert.equal(again.stdout, `${address}\n`);

    const bindings = (await demand(['bindings', '-e', extensionPoint, 'customers/4 2?', '--json'])).json();
    assert.deepEqual(Object.keys(bindings), ['hello']);
    assert.equal(bindings.hello.contentAddress, address);
    const fetched = join(folder.path, 'fetched.wasm');
    await demand(['fetch', address, '-o', fetched]);
    assert.deepEqual(await readFile(fetched), await readFile(wasm));
    assert.deepEqual((await demand(['fetch', address])).bytes, await readFile(wasm));
  });

  it('shows the team of an application, and changes it', async () => {
    const app = await line(['app', 'create', 'Team']);
    const linus = await makeUser('Linus');
    const { id } = linus;
    const stranger = await tenon(['app', 'member', 'set', '--app', app, id, 'viewer', '--json']);
    assert.deepEqual([stranger.exitCode, JSON.parse(stranger.stderr).error.code], [4, 'not_found']);
    const link = await line(['app', 'member', 'invite', '--app', app, 'admin', '--name', 'Linus']);
    assert.match(
      (await demand(['app', 'member', 'invitations', '--app', app])).stdout,
      /^admin +inv_\S+ +pending +Linus +Demo/m,
    );
    const joined = await demand(['invitation', 'accept', link], linus);
    assert.match(joined.stderr, /You are on the team, as admin, of "Team"/);
    await demand(['app', 'member', 'set', '--app', app, id, 'viewer']);
    const members = (await demand(['app', 'member', 'list', '--app', app, '--json'])).json();
    assert.deepEqual(members.map((member: { name: string; role: string }) => [member.name, member.role]).sort(), [
      ['Demo owner', 'owner'],
      ['Linus', 'viewer'],
    ]);
    await demand(['app', 'leave', '--app', app, '--yes'], linus);
    await demand(['invitation', 'accept', await line(['app', 'member', 'invite', '--app', app, 'viewer'])], linus);
    await demand(['invitation', 'accept', await line(['guest', 'invite', 'own', '--app', app])], linus);
    const removed = await demand(['app', 'member', 'remove', '--app', app, id, '--yes']);
    assert.match(removed.stderr, /They still hold the guests gst_/);
    await demand(['invitation', 'accept', await line(['app', 'member', 'invite', '--app', app, 'viewer'])], linus);
    await demand(['app', 'member', 'remove', '--app', app, id, '--with-guests', '--yes']);
    assert.equal((await tenon(['app', 'show', '--app', app], linus)).exitCode, 4);
    const last = await tenon([
      'app',
      'member',
      'remove',
      '--app',
      app,
      server.quickstart.TENON_USER_ID ?? '',
      '--yes',
      '--json',
    ]);
    assert.equal(last.exitCode, 5);
    assert.equal(JSON.parse(last.stderr).error.code, 'conflict');
  });

  it('renames and deletes an application', async () => {
    const app = await line(['app', 'create', 'Short-lived']);
    await demand(['app', 'rename', '--app', app, 'Renamed']);
    assert.match((await demand(['app', 'show', '--app', app])).stdout, /^name +Renamed\n/);
    assert.deepEqual((await demand(['app', 'delete', '--app', app, '--yes', '--json'])).json(), { deleted: app });
    assert.equal((await tenon(['app', 'show', '--app', app])).exitCode, 4);
  });

  it('updates an extension point, and deletes it', async () => {
    const app = server.quickstart.TENON_APP_ID ?? '';
    const made = await line(['ext', 'create', 'One']);
    await demand(['ext', 'update', '-e', made, '--name', 'Two']);
    await demand(['ext', 'update', '-e', made, '--schema', '-'], { stdin: '{"exports":{"run":{}}}' });
    const shown = (await demand(['ext', 'show', '-e', made, '--json'])).json();
    assert.deepEqual([shown.name, shown.appId, shown.schema], ['Two', app, { exports: { run: {} } }]);
    assert.match((await demand(['ext', 'list'])).stdout, /Two +ext_\w+ +run /);
    await demand(['ext', 'delete', '-e', made, '-y']);
    assert.equal((await tenon(['ext', 'show', '-e', made])).exitCode, 4);
  });

  it('lists, revokes and declines invitations, and removes a guest', async () => {
    const link = await line(['guest', 'invite', 'to-decline', '--name', 'Bob', '--email', 'bob@example.org']);
    await demand(['invitation', 'decline', new URL(link).searchParams.get('code') ?? '']);
    await line(['guest', 'invite', 'to-decline']);
    type Listed = { id: string; guestId: string; guestKey: string; status: string };
    const found = (await demand(['invitation', 'list', '--json']))
      .json()
      .filter((i: Listed) => i.guestKey === 'to-decline');
    assert.deepEqual(
      found.map((invitation: Listed) => invitation.status),
      ['declined', 'pending'],
    );
    await demand(['invitation', 'revoke', found[1].id, '--yes']);
    assert.equal((await tenon(['invitation', 'revoke', found[1].id, '--yes'])).exitCode, 5);
    await demand(['guest', 'remove', found[0].guestId, '--yes']);
    assert.doesNotMatch((await demand(['guest', 'list'])).stdout, /to-decline/);
  });

  it("sets a guest's label and note, which its user sees only the label of", async () => {
    const { environment } = await makeUser('Labelled');
    const link = await line(['guest', 'invite', 'labelled', '--label', 'Globex', '--note', 'pays late']);
    await demand(['invitation', 'accept', link], { environment });
    const [app = ''] = [server.quickstart.TENON_APP_ID];
    const shown = await demand(['app', 'show', '--app', app], { environment });
    assert.match(shown.stdout, /Globex \(gst_/);
    assert.match((await demand(['guest', 'list'])).stdout, /labelled +Globex +- +gst_/);
    const set = ['guest', 'set', 'labelled'];
    const changed = (await demand([...set, '--label', 'Globex \u001b[31m', '--note', '', '--json'])).json();
    assert.deepEqual([changed.label, changed.note], ['Globex \u001b[31m', null]);
    assert.doesNotMatch((await demand(['guest', 'list'])).stdout, /\u001b\[31m/);
    const { exitCode, stderr } = await tenon(set);
    assert.deepEqual([exitCode, /--label, --note, or --ring/.test(stderr)], [2, true]);
    assert.equal((await tenon([...set, '--label', 'x'.repeat(201)])).exitCode, 7);
    await demand(['guest', 'remove', 'labelled', '--yes']);
  });

  it('takes a guest from one of its users', async () => {
    const { id, environment } = await makeUser('Held');
    await demand(['invitation', 'accept', await line(['guest', 'invite', 'shared'])], { environment });
    const guests = (await demand(['guest', 'list', '--json'])).json();
    const guest = guests.find((candidate: { guestKey: string }) => candidate.guestKey === 'shared');
    assert.equal(guest.users[0].userId, id);
    await demand(['guest', 'remove', guest.id, '--user', id, '--yes']);
    const [present] = (await demand(['guest', 'list', '--json']))
      .json()
      .filter((candidate: { guestKey: string }) => candidate.guestKey === 'shared');
    assert.deepEqual(present.users, []);
  });

  it('makes, lists and revokes tokens and API keys', async () => {
    const token = (await demand(['token', 'create', 'CI', '--scope', 'read', '--expires-in', '2d', '--json'])).json();
    assert.deepEqual(token.scopes, ['read']);
    const environment = { TENON_URL: server.url, TENON_TOKEN: token.token };
    assert.equal((await demand(['token', 'print'], { environment })).stdout, `${token.token}\n`);
    assert.equal((await tenon(['app', 'create', 'No'], { environment })).exitCode, 3);
    await demand(['token', 'revoke', token.id, '--yes']);
    assert.equal((await tenon(['whoami'], { environment })).exitCode, 3);

    const key = (await demand(['api-key', 'create', 'builds', '--json'])).json();
    assert.match((await demand(['api-key', 'list'])).stdout, /builds +key_/);
    const body = new FormData();
    body.set('wasm', new Blob([await readFile(sample)]));
    const instrument = () =>
      fetch(`${server.url}/instrument`, { method: 'POST', headers: { authorization: `Bearer ${key.apiKey}` }, body });
    assert.equal((await instrument()).status, 200);
    await demand(['api-key', 'revoke', key.id, '--yes']);
    assert.equal((await instrument()).status, 401);
  });

  it('tells who one is', async () => {
    assert.match((await demand(['whoami'])).stdout, /^name +Demo owner\nid +usr_/);
    assert.equal((await demand(['whoami', '--json'])).json().id, server.quickstart.TENON_USER_ID);
  });

  it('tells what to do next where a list is empty', async () => {
    const { environment } = await makeUser('Nobody');
    const apps = await demand(['app', 'list'], { environment });
    assert.equal(apps.stdout, '');
    assert.match(apps.stderr, /tenon app create/);
    assert.deepEqual((await demand(['app', 'list', '--json'], { environment })).json(), []);
  });

  it('makes an API key for a new user of its name, and for a user who is there', async () => {
    const made = (await demand(['admin', 'api-key', 'create', 'builder', '--json'])).json();
    assert.match(made.apiKey, /^tnk_/);
    const again = (await demand(['admin', 'api-key', 'create', 'another', '--user', made.userId, '--json'])).json();
    assert.equal(again.userId, made.userId);
    const unknown = await tenon(['admin', 'api-key', 'create', 'x', '--user', 'usr_nobody']);
    assert.equal(unknown.exitCode, 4);
  });
});

describe('what can go wrong', () => {
  it('shows a problem with its field, and its document as JSON', async () => {
    const args = ['guest', 'invite', 'a//b'];
    const shown = await tenon(args);
    assert.equal(shown.exitCode, 7);
    assert.match(shown.stderr, /^error: .*\/guestKey.*empty segment/);
    const { error } = JSON.parse((await tenon([...args, '--json'])).stderr);
    assert.equal(error.code, 'invalid_field');
    assert.equal(error.problem.errors[0].pointer, '/guestKey');
  });

  it('refuses what is no module, and says why', async () => {
    const file = join(folder.path, 'text.wasm');
    await writeFile(file, 'not a module');
    const { exitCode, stderr } = await tenon(['plugin', 'push', file, '--json']);
    assert.equal(exitCode, 7);
    assert.equal(JSON.parse(stderr).error.code, 'not_wasm');
  });

  it('does nothing that cannot be undone without a confirmation', async () => {
    const app = await line(['app', 'create', 'Kept']);
    const { exitCode, stderr } = await tenon(['app', 'delete', '--app', app]);
    assert.equal(exitCode, 2);
    assert.match(stderr, /--yes/);
    await demand(['app', 'show', '--app', app]);
  });

  it("sends an invitation's code to no server but the one that made it", async () => {
    const { exitCode, stderr } = await tenon([
      'invitation',
      'accept',
      'https://elsewhere.example/accept-invite?code=abc',
    ]);
    assert.equal(exitCode, 2);
    assert.match(stderr, /--server https:\/\/elsewhere\.example/);
  });

  it('leaves no file where there is no such content', async () => {
    const file = join(folder.path, 'absent.wasm');
    assert.equal((await tenon(['fetch', 'A'.repeat(43), '-o', file])).exitCode, 4);
    await assert.rejects(stat(file), { code: 'ENOENT' });
    assert.deepEqual(
      (await readdir(folder.path)).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  it('writes no module to a terminal', async () => {
    const address = (await demand(['plugin', 'list', '--json'])).json()[0].contentAddress;
    const { exitCode, stdout, stderr } = await tenon(['fetch', address], { isTerminal: true });
    assert.deepEqual([exitCode, stdout], [2, '']);
    assert.match(stderr, /-o/);
  });

  it('tells the ways to get a token when there is none', async () => {
    const { exitCode, stderr } = await tenon(['app', 'list'], {
      environment: { TENON_URL: server.url, TENON_DATA_DIR: folder.path },
    });
    assert.equal(exitCode, 3);
    assert.match(
      stderr,
      /tenon login --server http[\s\S]*TENON_TOKEN[\s\S]*--data-dir[\s\S]*tenon admin token create[\s\S]*tenon token create/,
    );
  });

  it('needs a server to talk to', async () => {
    const { exitCode, stderr } = await tenon(['app', 'list'], { environment: { TENON_DATA_DIR: folder.path } });
    assert.equal(exitCode, 2);
    assert.match(stderr, /TENON_URL/);
  });
});
