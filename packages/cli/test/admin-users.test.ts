import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

describe('tenon admin user and token', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let store: readonly string[];
  before(async () => {
    folder = await makeFolder();
    store = ['--store', join(folder.path, 'data')];
  });
  after(() => folder.remove());

  const admin = (...words: readonly string[]) => tenon(['admin', ...words, ...store]);
  const create = async (name: string, email: string) =>
    (await admin('user', 'create', name, '--email', email)).stdout.trim();

  it('lists, finds and shows users, with control characters escaped', async () => {
    const ada = await create('Ada', 'ada@example.org');
    await create('Grace\u00ad', 'grace@example.com');
    const { stdout } = await admin('user', 'list');
    assert.match(stdout, /^NAME +ID +E-MAIL +CREATED +LAST SEEN +APPLICATIONS +STATE\n/);
    assert.match(stdout, new RegExp(`Ada +${ada} +ada@example.org +.* never +0 +-`));
    const { objects } = (await admin('user', 'list', '--search', 'EXAMPLE.ORG', '--json')).json();
    assert.deepEqual(
      objects.map(({ id, suspendedAt }: { id: string; suspendedAt: null }) => [id, suspendedAt]),
      [[ada, null]],
    );
    const first = await admin('user', 'list', '--limit', '1', '--sort=-name');
    assert.match(first.stderr, /Showing 1 user of 2/);
    assert.match((await admin('user', 'list', '--search', 'nobody')).stderr, /No users match/);
    for (const named of [ada, ' ADA@example.org']) {
      const shown = await admin('user', 'show', named);
      assert.match(
        shown.stdout,
        /name +Ada\nid +usr_\w+\ne-mail +ada@example.org \(not verified\)\ncreated .*, today\n/,
      );
      assert.match(shown.stdout, /applications +none\nplugins +0\ncredentials +0 sessions, 0 tokens, 0 API keys\n/);
    }
    const missing = await admin('user', 'show', 'nobody@example.org');
    assert.deepEqual([missing.exitCode, missing.stdout], [4, '']);
  });

  it('suspends and unsuspends a user, whose id --yes takes alone', async () => {
    const eve = await create('Eve', 'eve@example.org');
    for (const words of [
      ['suspend', eve],
      ['delete', eve],
      ['suspend', 'eve@example.org', '--yes'],
    ]) {
      const refused = await admin('user', ...words);
      assert.deepEqual([refused.exitCode, refused.stdout], [2, ''], refused.stderr);
    }
    const asked = await admin('user', 'suspend', 'eve@example.org');
    assert.match(asked.stderr, new RegExp(`name +Eve\\n *id +${eve}\\n[^]*This user will be signed out everywhere`));
    const suspended = await admin('user', 'suspend', eve, '--yes');
    assert.deepEqual([suspended.exitCode, suspended.stdout], [0, `${eve}\n`], suspended.stderr);
    assert.match((await admin('user', 'suspend', eve, '--yes')).stderr, /was already suspended/);
    assert.match((await admin('user', 'list', '--state', 'suspended')).stdout, /Eve .* suspended\n$/);
    assert.match((await admin('user', 'show', eve)).stdout, /state +suspended\n/);
    assert.deepEqual((await admin('user', 'unsuspend', eve, '--json')).json(), { userId: eve, isSuspended: false });
    const { objects } = (await admin('user', 'list', '--state', 'suspended', '--json')).json();
    assert.deepEqual(objects, []);
    const trail = (await admin('audit', '--target', eve, '--json')).json();
    const acts = trail.map(({ action, by }: { action: string; by: string }) => `${by} ${action}`);
    assert.deepEqual(acts, ['operator account.unsuspend', 'operator account.suspend', 'operator account.create']);
  });

  it('does not suspend or delete the last operator', async () => {
    const olga = await create('Olga', 'olga@example.org');
    assert.equal((await admin('operator', 'grant', olga, '--yes')).exitCode, 0);
    for (const command of ['suspend', 'delete']) {
      const { exitCode, stderr } = await admin('user', command, olga, '--yes');
      assert.equal(exitCode, 5, stderr);
      assert.match(stderr, /only operator/);
    }
    await admin('operator', 'revoke', olga);
    assert.equal((await admin('user', 'delete', olga, '--yes')).stdout, `${olga}\n`);
    assert.equal((await admin('user', 'show', olga)).exitCode, 4);
  });

  it('lists tokens and keys without secrets, and revokes one, or all of a user', async () => {
    const kim = await create('Kim', 'kim@example.org');
    const token = (await admin('token', 'create', kim, '--name', 'host', '--scope', 'read')).stdout.trim();
    await admin('token', 'create', kim, '--name', 'CI');
    const key = (await admin('api-key', 'create', 'build', '--user', kim)).stdout.trim();
    const listed = await admin('token', 'list', 'kim@example.org', '--json');
    const objects: { id: string; kind: string; name: string; scopes: string[] | null }[] = listed.json().objects;
    assert.deepEqual(
      objects.map(({ kind, name, scopes }) => [kind, name, scopes]),
      [
        ['token', 'host', ['read']],
        ['token', 'CI', ['read', 'publish', 'manage']],
        ['api_key', 'build', null],
      ],
    );
    const table = await admin('token', 'list', kim);
    assert.match(table.stdout, /build +key_\w+ +instrumentation/);
    for (const text of [listed.stdout, table.stdout]) {
      for (const secret of [token, key, 'secretHash']) assert.ok(secret !== '' && !text.includes(secret));
    }
    const [host, , build] = objects.map(({ id }) => id);
    assert.ok(host && build);
    const asked = await admin('token', 'revoke', host);
    assert.equal(asked.exitCode, 2);
    assert.match(asked.stderr, new RegExp(`The access token "host" of Kim \\(${kim}\\) will stop working`));
    assert.equal((await admin('token', 'revoke', host, '--yes')).stdout, `${host}\n`);
    assert.equal((await admin('token', 'revoke', host, '--yes')).exitCode, 4);
    assert.equal((await admin('token', 'revoke', build, '--yes')).stdout, `${build}\n`);
    for (const words of [[], [host, '--all-of', kim], ['--all-of', 'kim@example.org', '--yes']]) {
      assert.equal((await admin('token', 'revoke', ...words)).exitCode, 2);
    }
    const { revoked } = (await admin('token', 'revoke', '--all-of', kim, '--yes', '--json')).json();
    assert.equal(revoked.length, 1);
    assert.match((await admin('token', 'list', kim)).stderr, /no access tokens or API keys/);
    const database = new DatabaseSync(join(folder.path, 'data', 'tenon.db'));
    const rows = database
      .prepare("select action from audit_events where accountId = ? and action like '%revoke'")
      .all(kim);
    assert.deepEqual(rows.map(({ action }) => action).sort(), ['api_key.revoke', 'token.revoke', 'token.revoke']);
    database.close();
  });
});
