import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { formatCredentials, noCredentials, type Profile, withProfile } from './credentials.ts';
import { type CredentialsPlace, readCredentials, updateCredentials } from './credentials-file.ts';

const run = promisify(execFile);
const isPosix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;

interface Place {
  readonly folder: string;
  readonly file: string;
  readonly place: CredentialsPlace;
  readonly warnings: string[];
}

async function newPlace(t: TestContext): Promise<Place> {
  const outer = await mkdtemp(join(tmpdir(), 'tenon-credentials-'));
  t.after(() => rm(outer, { recursive: true, force: true }));
  const folder = join(outer, 'a', 'tenon');
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const place = { environment: { TENON_CONFIG_DIR: folder }, platform: process.platform, warn };
  return { folder, file: join(folder, 'credentials.json'), place, warnings };
}

function profileOf(token: string): Profile {
  const user = { id: 'usr_1', name: 'Ada', email: null };
  return { url: 'https://example.org', token, scopes: ['read'], expiresAt: '2027-01-01T00:00:00.000Z', user };
}

const one = formatCredentials(withProfile(noCredentials, 'one', profileOf('tnn_one')));

describe('updateCredentials()', () => {
  it('makes a private file in a private folder', { skip: !isPosix }, async (t) => {
    const { folder, file, place, warnings } = await newPlace(t);
    assert.equal(await updateCredentials(place, (present) => withProfile(present, 'one', profileOf('tnn_one'))), file);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    for (const name of await readdir(folder)) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
    assert.deepEqual(readCredentials(place), { profiles: new Map([['one', profileOf('tnn_one')]]), current: 'one' });
    assert.deepEqual(warnings, []);
  });

  it('loses nothing when several write at once', async (t) => {
    const { place } = await newPlace(t);
    const names = Array.from({ length: 12 }, (_, at) => `login-${at}`);
    await Promise.all(
      names.map((name) => updateCredentials(place, (present) => withProfile(present, name, profileOf(name)))),
    );
    assert.deepEqual([...readCredentials(place).profiles.keys()].sort(), names.sort());
  });

  it('loses nothing when several processes write at once', async (t) => {
    const { folder, place } = await newPlace(t);
    const script = `import { updateCredentials } from ${JSON.stringify(new URL('./credentials-file.ts', import.meta.url).href)};
      import { withProfile } from ${JSON.stringify(new URL('./credentials.ts', import.meta.url).href)};
      const place = { environment: { TENON_CONFIG_DIR: ${JSON.stringify(folder)} }, platform: process.platform, warn() {} };
      for (let at = 0; at < 10; at++) {
        await updateCredentials(place, (present) =>
          withProfile(present, process.argv[1] + at, ${JSON.stringify(profileOf('tnn_x'))}));
      }`;
    const writers = ['a', 'b', 'c'];
    await Promise.all(writers.map((name) => run(process.execPath, ['--input-type=module', '--eval', script, name])));
    assert.equal(readCredentials(place).profiles.size, 30);
    assert.deepEqual((await readdir(folder)).sort(), ['credentials.json', 'credentials.json.lock']);
  });

  it('never writes over a file that it cannot read', async (t) => {
    const { folder, file, place } = await newPlace(t);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [text, code] of [
      ['', 'credentials_damaged'],
      ['{"version":1,"profiles":{"x":{"token":"tnn_secret"}', 'credentials_damaged'],
      ['{"version":1,"current":null,"profiles":{"x":{"token":"tnn_secret"}}}', 'credentials_damaged'],
      [one.replaceAll('"one"', '"__proto__"'), 'credentials_damaged'],
      [one.replace('"profiles"', '"others"'), 'credentials_damaged'],
      [one.replace('"version": 1', '"version": 2'), 'credentials_newer'],
    ] as const) {
      await writeFile(file, text, { mode: 0o600 });
      await assert.rejects(
        updateCredentials(place, () => noCredentials),
        (error: Error & { code: string }) => {
          assert.equal(error.code, code, text);
          assert.ok(error.message.includes(file), error.message);
          assert.doesNotMatch(error.message, /tnn_/);
          return true;
        },
      );
      assert.equal(await readFile(file, 'utf8'), text);
    }
  });

  it('keeps a link, and replaces the file that it leads to', { skip: !isPosix }, async (t) => {
    const { folder, file, place } = await newPlace(t);
    const target = join(folder, '..', 'elsewhere.json');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(target, one, { mode: 0o600 });
    await symlink(target, file);
    await updateCredentials(place, (present) => withProfile(present, 'two', profileOf('tnn_two')));
    assert.equal((await lstat(file)).isSymbolicLink(), true);
    assert.match(await readFile(target, 'utf8'), /tnn_one[\s\S]*tnn_two/);
    assert.equal((await stat(target)).mode & 0o777, 0o600);
  });

  it('says where a folder cannot be made, and why', async (t) => {
    const { folder, place } = await newPlace(t);
    await mkdir(join(folder, '..', '..'), { recursive: true });
    await writeFile(join(folder, '..'), 'a file');
    const expected = { code: 'file', message: /^Cannot keep logins in .*tenon: .*no folder\.$/ };
    await assert.rejects(
      updateCredentials(place, () => noCredentials),
      expected,
    );
    assert.deepEqual(readCredentials(place), noCredentials);
  });

  it('says that it may not write there', { skip: !isPosix || isRoot }, async (t) => {
    const { folder, place } = await newPlace(t);
    await mkdir(folder, { recursive: true, mode: 0o500 });
    await assert.rejects(
      updateCredentials(place, () => noCredentials),
      { code: 'file', message: /permission denied/ },
    );
  });

  it('leaves what was there when the disk takes no more', { skip: !isPosix }, async (t) => {
    const { folder, file, place } = await newPlace(t);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, one, { mode: 0o600 });
    const script = `import { updateCredentials } from ${JSON.stringify(new URL('./credentials-file.ts', import.meta.url).href)};
      const place = { environment: { TENON_CONFIG_DIR: ${JSON.stringify(folder)} }, platform: process.platform, warn() {} };
      await updateCredentials(place, (present) => ({ ...present, current: undefined })).catch((error) => console.log(error.message));`;
    const limited = ['-c', 'ulimit -f 0; exec "$0" --input-type=module --eval "$1"', process.execPath, script];
    const { stdout } = await run('sh', limited);
    assert.match(stdout, /^Cannot write .*credentials\.json: no file may be that large here\.\n$/);
    assert.equal(await readFile(file, 'utf8'), one);
    assert.deepEqual((await readdir(folder)).sort(), ['credentials.json', 'credentials.json.lock']);
    assert.equal(readCredentials(place).current, 'one');
  });

  it('needs a home', async () => {
    const place = { environment: {}, platform: process.platform, warn() {} };
    await assert.rejects(
      updateCredentials(place, () => noCredentials),
      { code: 'file', hint: /TENON_CONFIG_DIR/ },
    );
    assert.deepEqual(readCredentials(place), noCredentials);
  });
});

describe('readCredentials()', { skip: !isPosix }, () => {
  it('takes from others what they could read, and says so', async (t) => {
    const { folder, file, place, warnings } = await newPlace(t);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, one);
    await chmod(file, 0o644);
    assert.equal(readCredentials(place).current, 'one');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(warnings.join('\n'), /Others could read your logins in .*credentials\.json/);
    readCredentials(place);
    assert.equal(warnings.length, 1);
  });

  it('warns of a folder in which others could put another file', async (t) => {
    const { folder, place, warnings } = await newPlace(t);
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o777);
    await updateCredentials(place, (present) => withProfile(present, 'one', profileOf('tnn_one')));
    assert.match(warnings.join('\n'), /Others may write to .*chmod 700/);
  });

  it('reports what is not a file, without waiting', async (t) => {
    const { folder, file, place } = await newPlace(t);
    await mkdir(file, { recursive: true });
    assert.throws(() => readCredentials(place), { code: 'file', message: /credentials\.json: it is no file\.$/ });
    await rm(file, { recursive: true });
    await run('mkfifo', [file]);
    assert.throws(() => readCredentials(place), { code: 'file', message: /it is no file/ });
    await rm(file);
    await symlink('credentials.json', file);
    assert.throws(() => readCredentials(place), { code: 'file', message: /links lead in a circle/ });
    assert.ok(folder);
  });

  it('has no current login when that which is named is gone', async (t) => {
    const { folder, file, place } = await newPlace(t);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, one.replace('"current": "one"', '"current": "two"'), { mode: 0o600 });
    assert.equal(readCredentials(place).current, undefined);
    assert.equal(readCredentials(place).profiles.size, 1);
  });
});
