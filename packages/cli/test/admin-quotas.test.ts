import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

describe('tenon admin quota', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let store: readonly string[];
  before(async () => {
    folder = await makeFolder();
    store = ['--store', join(folder.path, 'data')];
  });
  after(() => folder.remove());

  const admin = (...words: readonly string[]) => tenon(['admin', ...words, ...store]);

  it('sets, lists and removes the quotas of an account, by id or e-mail address', async () => {
    const id = (await admin('user', 'create', 'Ada', '--email', 'ada@example.org')).stdout.trim();
    const set = await admin('quota', 'set', 'ada@example.org', 'account-bytes', '7GiB');
    assert.deepEqual([set.exitCode, set.stdout], [0, `${id}\n`], set.stderr);
    assert.match(set.stderr, /Set account-bytes to 7\.0 GiB/);
    assert.match((await admin('quota', 'set', id, 'account-bytes', '7GiB')).stderr, /already/);
    assert.match((await admin('quota', 'list')).stdout, new RegExp(`Ada +${id} +account-bytes +7\\.0 GiB `));
    const { objects } = (await admin('quota', 'list', '--json')).json();
    assert.equal(objects[0].limit, 7 * 2 ** 30);
    const [event] = (await admin('audit', '--target', id, '--json')).json();
    assert.deepEqual(event.details, { quota: 'account-bytes', limit: { before: null, after: 7 * 2 ** 30 } });
    assert.match((await admin('quota', 'unset', id, 'account-bytes')).stderr, /Removed/);
    assert.match((await admin('quota', 'unset', id, 'account-bytes')).stderr, /was not set/);
    assert.match((await admin('quota', 'list')).stderr, /No quotas are set/);
  });

  it('refuses what is no quota, no limit, or of the other kind', async () => {
    const id = (await admin('user', 'create', 'Bob')).stdout.trim();
    const codeOf = async (...words: readonly string[]) => (await admin('quota', 'set', ...words)).exitCode;
    assert.equal(await codeOf(id, 'constructor', '1'), 4);
    assert.equal(await codeOf(id, 'tokens', '0'), 2);
    assert.equal(await codeOf(id, 'tokens', 'many'), 2);
    assert.equal(await codeOf('nobody@example.org', 'tokens', '1'), 4);
    assert.notEqual(await codeOf(id, 'plugins', '1'), 0);
  });
});
