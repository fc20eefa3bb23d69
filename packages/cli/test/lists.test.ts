import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { tenon as runTenon } from './helpers/streams.ts';

let server: InProcessServer;

before(async () => {
  server = await startInProcessServer();
  for (const key of ['a', 'b', 'c']) assert.equal((await tenon(['guest', 'invite', key])).exitCode, 0);
});

after(() => server.stop());

function tenon(args: readonly string[]) {
  const { TENON_APP_ID = '' } = server.quickstart;
  return runTenon(args, { environment: { TENON_DATA_DIR: server.dataDir, TENON_APP_ID } });
}

describe('--limit of a list', () => {
  it('shows the first entries, and tells that there are more', async () => {
    const read = async (...args: string[]) =>
      JSON.parse((await tenon(['guest', 'list', '--json', ...args])).stdout) as unknown[];
    const all = await read();
    assert.equal(all.length, 4);
    assert.deepEqual(await read('--limit', '2'), all.slice(0, 2));
    assert.deepEqual(await read('--limit', '4'), all);
    assert.match((await tenon(['guest', 'list', '--limit', '2'])).stderr, /Showing the first 2\./);
    assert.doesNotMatch((await tenon(['guest', 'list', '--limit', '4'])).stderr, /Showing the first/);
    const { exitCode, stderr } = await tenon(['guest', 'list', '--limit', '0']);
    assert.equal(exitCode, 2);
    assert.match(stderr, /It must be a whole number above 0\./);
  });
});
