import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

const dayMs = 24 * 60 * 60 * 1000;

describe('tenon admin', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  before(async () => {
    folder = await makeFolder();
  });
  after(() => folder.remove());

  const user = 'usr_01j29hyr4000000000000000';
  const commands: readonly (readonly string[])[] = [
    ['verify'],
    ['gc'],
    ['gc', '--dry-run'],
    ['trust-clock'],
    ['audit'],
    ['operator', 'list'],
    ['operator', 'grant', user],
    ['operator', 'revoke', user],
    ['user', 'create', 'Ada'],
    ['token', 'create', user],
    ['api-key', 'create', 'Build'],
    ['user', 'invite'],
    ['user', 'reset-password', user],
    ['user', 'list'],
    ['user', 'show', user],
    ['user', 'suspend', user],
    ['user', 'unsuspend', user],
    ['user', 'delete', user],
    ['token', 'list', user],
    ['token', 'revoke', 'tok_01j29hyr4000000000000000'],
  ];

  it('says in one line that a file is not a database, and to restore a backup', async () => {
    const dataDir = join(folder.path, 'text');
    await mkdir(dataDir);
    const file = join(dataDir, 'tenon.db');
    const text = 'This is a text of more than a hundred bytes, which SQLite takes for its header. '.repeat(9);
    await writeFile(file, text);
    const line = `error: ${file} is not a database. Keep a copy of it, and restore a backup: tenon admin copy --from <backup> --to <empty folder>.\n`;
    const serve = ['serve', '--port', '0', '--log-level', 'silent', '--data-dir'];
    for (const command of [serve, ...commands.map((words) => ['admin', ...words, '--store'])]) {
      const { exitCode, stdout, stderr } = await tenon([...command, dataDir]);
      assert.deepEqual([exitCode, stdout, stderr], [2, '', line], command.join(' '));
    }
    assert.equal(await readFile(file, 'utf8'), text, 'it is as it was');
  });

  it('works on the store that --store names, whatever store the environment names, and says which', async () => {
    const dataDir = join(folder.path, 'named');
    const file = join(folder.path, 'named.env');
    await writeFile(file, `TENON_DATA_DIR=${dataDir}\n`);
    const environment = {
      TENON_DATABASE_URL: 'postgresql://tenon:s3cret@127.0.0.1:1/tenon',
      TENON_S3_BUCKET: 'plugins',
      TENON_S3_ENDPOINT: 'http://127.0.0.1:1',
      TENON_PUBLIC_URL: 'https://tenon.example.org',
    };
    const invited = await tenon(['admin', 'user', 'invite', '--store', dataDir], { environment });
    assert.match(invited.stdout, /^https:\/\/tenon\.example\.org\//);
    for (const store of [dataDir, file]) {
      const { exitCode, stderr } = await tenon(['admin', 'verify', '--store', store], { environment });
      assert.deepEqual([exitCode, stderr], [0, `store  folder ${dataDir}\n`]);
    }
    for (const command of ['verify', 'gc']) {
      const json = await tenon(['admin', command, '--json', '--store', file], { environment });
      assert.deepEqual([json.json().store, json.stderr], [`folder ${dataDir}`, '']);
    }
    const missing = await tenon(['admin', 'verify', '--store', join(folder.path, 'none')], { environment });
    assert.deepEqual([missing.exitCode, missing.stdout], [4, '']);
    const unnamed = await tenon(['admin', 'verify'], { environment });
    assert.notEqual(unnamed.exitCode, 0);
    assert.doesNotMatch(unnamed.stderr, /s3cret/);
  });

  it('makes no user, token or key with a name that can’t be seen or that reorders the text around it', async () => {
    const data = ['--store', join(folder.path, 'names')];
    const ada = (await tenon(['admin', 'user', 'create', 'Ada', ...data])).stdout.trim();
    for (const name of ['a\u202eb', '\u2800', ' ', 'x'.repeat(201)]) {
      for (const command of [
        ['user', 'create', name],
        ['api-key', 'create', name],
        ['token', 'create', ada, '--name', name, '--yes'],
      ]) {
        const { exitCode, stdout, stderr } = await tenon(['admin', ...command, ...data]);
        assert.deepEqual([exitCode, stdout], [2, ''], stderr);
        assert.match(stderr, /A name has 1 to 200 characters, of which one is visible/);
      }
    }
  });

  it('trust-clock vouches for the clock of a machine that was off for long', async () => {
    const dataDir = join(folder.path, 'clock');
    assert.equal((await tenon(['admin', 'user', 'create', 'Ada', '--store', dataDir])).exitCode, 0);
    const database = new DatabaseSync(join(dataDir, 'tenon.db'));
    const lastMs = Date.now() - 100 * dayMs;
    database
      .prepare("insert into maintenance_runs (kind, endedAtMs, outcome) values ('maintenance', ?, '{}')")
      .run(lastMs);
    const beganAt = Date.now();
    const { exitCode, stdout, stderr } = await tenon(['admin', 'trust-clock', '--store', dataDir]);
    assert.equal(exitCode, 0, stderr);
    const reportedMs = Date.parse(stdout.trim());
    assert.ok(reportedMs >= beganAt && reportedMs <= Date.now(), stdout);
    assert.match(stderr, /This time is trusted/);
    const marks = database.prepare('select kind, endedAtMs from maintenance_runs order by kind').all();
    assert.deepEqual(
      marks.map(({ kind, endedAtMs }) => [kind, Number(endedAtMs) >= reportedMs]),
      [
        ['clock', true],
        ['maintenance', true],
      ],
    );
    database.close();
    const json = (await tenon(['admin', 'trust-clock', '--json', '--store', dataDir])).json();
    assert.ok(Date.parse(json.now) >= reportedMs);
    const none = await tenon(['admin', 'trust-clock', '--store', join(folder.path, 'none')]);
    assert.equal(none.exitCode, 4, 'there is no data');
  });
});
