import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { demandToken, findConnection } from './connection.ts';

let dataDir: string;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tenon-connection-'));
  const lines = ['# comment', 'TENON_URL=http://localhost:8366', 'TENON_TOKEN=tnn_file', "TENON_APP_ID='app_file'", ''];
  await writeFile(join(dataDir, 'quickstart.env'), lines.join('\n'));
});

after(() => rm(dataDir, { recursive: true }));

describe('findConnection()', () => {
  it('takes server, token and ids from quickstart.env when nothing else is said', () => {
    assert.deepEqual(findConnection({ dataDir }, {}), {
      url: 'http://localhost:8366',
      token: 'tnn_file',
      appId: 'app_file',
      extensionPointId: undefined,
    });
  });

  it('puts options before the environment, and that before the file', () => {
    const environment = { TENON_DATA_DIR: dataDir, TENON_TOKEN: 'tnn_environment', TENON_APP_ID: '' };
    assert.equal(findConnection({}, environment).token, 'tnn_environment');
    assert.equal(findConnection({}, environment).appId, 'app_file');
    assert.equal(findConnection({ token: 'tnn_option' }, environment).token, 'tnn_option');
  });

  it("never uses the file's token with another server", () => {
    for (const url of ['http://localhost:8367', 'https://localhost:8366', 'http://localhost:8366/prefix']) {
      const connection = findConnection({ dataDir, url }, {});
      assert.deepEqual([connection.token, connection.appId], [undefined, undefined], url);
      assert.throws(() => demandToken(connection), { code: 'missing_credentials', exitCode: 3 });
    }
  });

  it("knows the file's server under the same URL, however it is written", () => {
    assert.equal(findConnection({ dataDir, url: 'HTTP://LocalHost:8366/' }, {}).token, 'tnn_file');
  });

  for (const url of ['localhost:8366', 'ftp://host', 'http://user:pw@host', 'http://host/?a', 'nonsense']) {
    it(`refuses ${url} as a server's URL`, () => {
      assert.throws(() => findConnection({ dataDir, url }, {}), { exitCode: 2 });
    });
  }
});
