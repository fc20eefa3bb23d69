import assert from 'node:assert/strict';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { assertToken, findConnection } from './connection.ts';
import { type Credentials, formatCredentials, type Profile } from './credentials.ts';
import type { Environment } from './environment.ts';
import type { ConnectionOptions } from './server-choice.ts';

let folder: string;
let dataDir: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-connection-'));
  dataDir = folder;
  const lines = ['# comment', 'TENON_URL=http://localhost:8366', 'TENON_TOKEN=tnn_file', "TENON_APP_ID='app_file'", ''];
  await writeFile(join(dataDir, 'quickstart.env'), lines.join('\n'));
});

after(() => rm(folder, { recursive: true }));

function find(options: ConnectionOptions, environment: Environment = {}, projectServer?: string) {
  const warn = (text: string) => assert.fail(text);
  const elsewhere = { TENON_DATA_DIR: join(folder, 'none') }; // and not what is in the folder that the tests run in
  const all = { ...elsewhere, ...environment };
  return findConnection(options, { environment: all, platform: 'linux', warn, projectServer });
}

function login(url: string, token: string): Profile {
  const user = { id: 'usr_1', name: 'Ada', email: null };
  return { url, token, scopes: ['read'], expiresAt: '2027-01-01T00:00:00.000Z', user };
}

/** The environment of a user with these logins. */
async function having(logins: Readonly<Record<string, Profile>>, current?: string): Promise<Environment> {
  const configDir = await mkdtemp(join(folder, 'config-'));
  const credentials: Credentials = { profiles: new Map(Object.entries(logins)), current };
  await writeFile(join(configDir, 'credentials.json'), formatCredentials(credentials), { mode: 0o600 });
  return { TENON_CONFIG_DIR: configDir };
}

const work = login('https://work.example', 'tnn_work');
const home = login('https://home.example/tenon', 'tnn_home');
const homeToo = login('https://home.example/tenon', 'tnn_home_too');
const quickstartUrl = 'http://localhost:8366';

describe('findConnection()', () => {
  it('takes server, token and ids from quickstart.env when nothing else is said', () => {
    assert.deepEqual(find({ dataDir }), {
      url: quickstartUrl,
      token: 'tnn_file',
      login: undefined,
      appId: 'app_file',
      extensionPointId: undefined,
      passedOver: undefined,
      tokenWithheldBy: undefined,
      foundIn: undefined,
    });
  });

  it('puts options before the environment, and that before the file', () => {
    const environment = { TENON_DATA_DIR: dataDir, TENON_TOKEN: 'tnn_environment', TENON_APP_ID: '' };
    assert.equal(find({}, environment).token, 'tnn_environment');
    assert.equal(find({}, environment).appId, 'app_file');
    assert.equal(find({ token: 'tnn_option' }, environment).token, 'tnn_option');
  });

  it("never uses the file's token with another server", () => {
    for (const url of ['http://localhost:8367', 'https://localhost:8366', 'http://localhost:8366/prefix']) {
      const connection = find({ dataDir, server: url });
      assert.deepEqual([connection.token, connection.appId], [undefined, undefined], url);
      assert.throws(() => assertToken(connection), { code: 'missing_credentials', exitCode: 3 });
    }
  });

  it("knows the file's server under the same URL, however it is written", () => {
    assert.equal(find({ dataDir, server: 'HTTP://LocalHost:8366/' }).token, 'tnn_file');
  });

  for (const url of ['localhost:8366', 'ftp://host', 'http://user:pw@host', 'http://host/?a', 'no sense']) {
    it(`refuses ${url} as a server's URL`, () => {
      assert.throws(() => find({ dataDir, server: url }), { exitCode: 2 });
      assert.throws(() => find({}, { TENON_URL: url }), { exitCode: 2 });
    });
  }
});

describe('findConnection() with logins', () => {
  it('uses the current login when nothing names a server', async () => {
    const environment = await having({ work, home }, 'work');
    const { url, token, login } = find({}, environment);
    assert.deepEqual([url, token, login?.name], [work.url, 'tnn_work', 'work']);
  });

  it('asks which server when there are logins and none is current', async () => {
    assert.throws(() => find({}, { HOME: folder }), { code: 'usage' });
    const environment = await having({ work, home });
    assert.throws(() => find({}, environment), { code: 'usage', hint: /work, home: tenon profile use/ });
  });

  it('picks the login by its name, or by its server', async () => {
    const environment = await having({ work, home }, 'work');
    const expected = [home.url, 'tnn_home'];
    for (const options of [{ profile: 'home' }, { server: 'home' }, { server: `${home.url}/` }]) {
      const { url, token } = find(options, environment);
      assert.deepEqual([url, token], expected, JSON.stringify(options));
    }
    for (const more of [{ TENON_PROFILE: 'home' }, { TENON_URL: home.url }]) {
      const { url, token } = find({}, { ...environment, ...more });
      assert.deepEqual([url, token], expected, JSON.stringify(more));
    }
  });

  it("sends a login's token to no server but its own", async () => {
    const environment = await having({ work }, 'work');
    assert.equal(find({}, { ...environment, TENON_URL: 'https://work.example.evil' }).token, undefined);
    assert.equal(find({ server: 'http://work.example' }, environment).token, undefined);
    assert.equal(find({ server: 'https://work.example:8443' }, environment).token, undefined);
    assert.equal(find({}, { ...environment, TENON_URL: home.url, TENON_PROFILE: 'work' }).token, undefined);
  });

  it("sends TENON_TOKEN to no server but TENON_URL's, where both are set", async () => {
    const environment = { TENON_URL: work.url, TENON_TOKEN: 'tnn_environment' };
    assert.equal(find({}, environment).token, 'tnn_environment');
    assert.equal(find({ server: home.url }, environment).token, undefined);
    assert.equal(find({ server: home.url }, { TENON_TOKEN: 'tnn_environment' }).token, 'tnn_environment');
  });

  it('lets TENON_URL and TENON_TOKEN override the current login and TENON_PROFILE', async () => {
    const environment = { ...(await having({ work, home }, 'work')), TENON_PROFILE: 'work' };
    const { token, login } = find({}, { ...environment, TENON_TOKEN: 'tnn_environment' });
    assert.deepEqual([token, login], ['tnn_environment', undefined]);
    assert.equal(find({}, { ...environment, TENON_URL: home.url }).token, 'tnn_home');
  });

  it('lets a login that the command line names override the environment', async () => {
    const variables = { TENON_URL: home.url, TENON_TOKEN: 'tnn_environment', TENON_PROFILE: 'home' };
    const environment = { ...(await having({ work, home }, 'home')), ...variables };
    for (const options of [{ profile: 'work' }, { server: 'work' }]) {
      assert.equal(find(options, environment).token, 'tnn_work');
    }
    assert.equal(find({ profile: 'work', token: 'tnn_option' }, environment).token, 'tnn_option');
  });

  it('refuses a login and a server that do not belong together', async () => {
    const environment = await having({ work, home }, 'work');
    assert.throws(() => find({ profile: 'work', server: home.url }, environment), { exitCode: 2, message: /is for/ });
    assert.equal(find({ profile: 'work', server: work.url }, environment).token, 'tnn_work');
  });

  it('prefers the wanted and the current one of several logins at a server, and guesses nothing', async () => {
    const environment = await having({ work, home, homeToo }, 'work');
    assert.throws(() => find({ server: home.url }, environment), { exitCode: 2, message: /home, homeToo/ });
    assert.equal(find({ server: home.url }, { ...environment, TENON_PROFILE: 'homeToo' }).token, 'tnn_home_too');
    const atHome = await having({ work, home, homeToo }, 'homeToo');
    assert.equal(find({ server: home.url }, atHome).token, 'tnn_home_too');
    assert.equal(find({ server: home.url, token: 'tnn_option' }, environment).token, 'tnn_option');
  });

  it('says which logins there are when the wanted one is not among them', async () => {
    const environment = await having({ work }, 'work');
    assert.throws(() => find({ profile: 'constructor' }, environment), { exitCode: 2, hint: /There is work\./ });
    assert.throws(() => find({}, { ...environment, TENON_PROFILE: 'play' }), { exitCode: 2 });
  });

  it('goes to a data folder that is named before the current login', async () => {
    const environment = await having({ work }, 'work');
    assert.deepEqual(
      [find({ dataDir }, environment), find({}, { ...environment, TENON_DATA_DIR: dataDir })].map(({ token }) => token),
      ['tnn_file', 'tnn_file'],
    );
    assert.equal(find({ dataDir }, { ...environment, TENON_URL: work.url }).url, quickstartUrl);
    assert.equal(find({ dataDir, profile: 'work' }, environment).token, 'tnn_work');
    assert.equal(find({}, { ...environment, TENON_DATA_DIR: dataDir, TENON_PROFILE: 'work' }).token, 'tnn_work');
  });

  it("uses a login at the data folder's server before the demo's token, and the demo's ids", async () => {
    const environment = await having({ local: login(quickstartUrl, 'tnn_local') });
    const { token, appId } = find({ dataDir }, environment);
    assert.deepEqual([token, appId], ['tnn_local', 'app_file']);
  });

  it('does not read the logins where server and token are given', async () => {
    const environment = await having({ work }, 'work');
    await writeFile(join(environment.TENON_CONFIG_DIR ?? '', 'credentials.json'), 'damaged', { mode: 0o600 });
    assert.throws(() => find({}, environment), { code: 'credentials_damaged' });
    const given = { ...environment, TENON_URL: work.url, TENON_TOKEN: 'tnn_environment' };
    assert.equal(find({}, given).token, 'tnn_environment');
  });
});

describe('findConnection() with a tenon.toml', () => {
  it('takes its server before the environment and the current login, and after options', async () => {
    const environment = { ...(await having({ work, home }, 'work')), TENON_URL: 'https://elsewhere.example' };
    assert.equal(find({}, environment, home.url).url, home.url);
    assert.equal(find({}, environment, 'home').login?.name, 'home');
    assert.equal(find({ server: work.url }, environment, home.url).url, work.url);
    assert.throws(() => find({}, environment, 'nobody'), { code: 'usage', message: /no profile "nobody"/ });
  });

  it("gives its server the login's token there, or its quickstart.env's", async () => {
    const environment = await having({ work, home }, 'work');
    assert.equal(find({}, environment, home.url).token, 'tnn_home');
    assert.equal(find({ dataDir }, environment, quickstartUrl).token, 'tnn_file');
  });

  it('gives its server TENON_TOKEN only where TENON_URL or an option says that it is for it', async () => {
    const evil = 'https://evil.example';
    const environment = { TENON_TOKEN: 'tnn_environment' };
    const kept = find({}, environment, evil);
    assert.deepEqual([kept.url, kept.token, kept.tokenWithheldBy], [evil, undefined, 'tenon.toml']);
    assert.throws(() => assertToken(kept), { code: 'missing_credentials', hint: /set TENON_URL=https:\/\/evil/ });
    assert.equal(find({}, { ...environment, TENON_URL: work.url }, evil).token, undefined);
    assert.equal(find({}, { ...environment, TENON_URL: `${evil}/` }, evil).token, 'tnn_environment');
    assert.equal(find({ server: evil }, environment, evil).token, 'tnn_environment');
    assert.equal(find({}, { ...environment, ...(await having({ work }, 'work')) }, 'work').token, 'tnn_work');
  });
});

describe('findConnection() with a quickstart.env that was found', () => {
  const token = 'tnn_of_another_server';

  async function makeCheckout(): Promise<string> {
    const checkout = await mkdtemp(join(folder, 'checkout-'));
    await mkdir(join(checkout, 'tenon-data'));
    await mkdir(join(checkout, 'deep', 'down'), { recursive: true });
    await writeFile(
      join(checkout, 'tenon-data', 'quickstart.env'),
      'TENON_URL=https://stranger.example\nTENON_TOKEN=tnn_demo\n',
    );
    return checkout;
  }

  const findIn = (workingFolder: string, environment: Environment) =>
    findConnection({}, { environment, platform: 'linux', warn: (text) => assert.fail(text), workingFolder });

  it('finds it here and in a folder above, and says where', async () => {
    const checkout = await makeCheckout();
    const here = findIn(checkout, {});
    assert.deepEqual(
      [here.url, here.token, here.foundIn],
      ['https://stranger.example', 'tnn_demo', join('tenon-data', 'quickstart.env')],
    );
    const above = findIn(join(checkout, 'deep', 'down'), {});
    assert.deepEqual(
      [above.url, above.foundIn],
      ['https://stranger.example', join('..', '..', 'tenon-data', 'quickstart.env')],
    );
  });

  it('sends its server TENON_TOKEN only where TENON_URL says so', async () => {
    const checkout = await makeCheckout();
    assert.equal(findIn(checkout, { TENON_TOKEN: token }).token, 'tnn_demo');
    await writeFile(join(checkout, 'tenon-data', 'quickstart.env'), 'TENON_URL=https://stranger.example\n');
    const withheld = findIn(checkout, { TENON_TOKEN: token });
    assert.deepEqual([withheld.token, withheld.tokenWithheldBy], [undefined, join('tenon-data', 'quickstart.env')]);
    assert.throws(() => assertToken(withheld), { message: /the server in tenon-data.quickstart\.env/, exitCode: 3 });
    assert.equal(findIn(checkout, { TENON_TOKEN: token, TENON_URL: 'https://stranger.example' }).token, token);
    assert.equal(findIn(folder, { TENON_TOKEN: token, TENON_DATA_DIR: join(checkout, 'tenon-data') }).token, token);
  });

  it("ignores another user's above", { skip: process.getuid?.() !== 0 && 'only root gives files away' }, async () => {
    const checkout = await makeCheckout();
    await chown(join(checkout, 'tenon-data', 'quickstart.env'), 12_345, 12_345);
    assert.throws(() => findIn(join(checkout, 'deep'), {}), { code: 'usage' });
    assert.equal(findIn(checkout, {}).url, 'https://stranger.example');
  });
});
