import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { UsageReport } from '@tenon/protocol';
import { loadConfig, type RunningServer, serve } from '@tenon/server';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { sparkline } from '../src/commands/usage.ts';
import { tenon as runTenon } from './helpers/streams.ts';

describe('tenon usage', () => {
  let first: InProcessServer;
  let again: RunningServer | undefined;

  before(async () => {
    first = await startInProcessServer();
    const { TENON_TOKEN, TENON_EXTENSION_POINT_ID } = first.quickstart;
    const headers: Record<string, string> = { authorization: `Bearer ${TENON_TOKEN}`, 'user-agent': 'host/1.2' };
    const read = async (path: string) => {
      const response = await fetch(`${first.url}/api/v1/${path}`, { headers });
      assert.equal(response.status, 200);
      return Buffer.from(await response.arrayBuffer());
    };
    let list = '';
    for (let time = 0; time < 3; time++) {
      list = String(await read(`extension-points/${TENON_EXTENSION_POINT_ID}/bindings/demo/acme`));
    }
    const { contentAddress } = JSON.parse(list).greet;
    await read(`c/${contentAddress}`);
    headers['tenon-loaded'] = contentAddress;
    await read(`extension-points/${TENON_EXTENSION_POINT_ID}/bindings/demo/acme`);
    // A shutdown writes what was counted.
    await first.running.close();
    again = await serve(loadConfig({ dataDir: first.dataDir, port: '0', logLevel: 'silent' }, {}));
  });
  after(async () => {
    await again?.close();
    await first.stop();
  });

  const tenon = (...args: string[]) =>
    runTenon(args, { environment: { TENON_DATA_DIR: first.dataDir }, workingFolder: first.folder });
  const demand = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await tenon('usage', ...args);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };

  it('shows the numbers of the application as a table', async () => {
    const text = await demand('--days', '3');
    assert.match(text, /^Last use +\d{4}-\d\d-\d\d \d\d:\d\dZ\nPeriod +[\d-]+, 3 days\nList requests +4 +··█\n/);
    assert.match(text, /\nTokens +about 1\n/);
    assert.match(text, /\nDAY \(UTC\) +LIST REQUESTS +CONTENT FETCHES +TOKENS\n[\d-]{10} +4 +1 +1\n/);
    assert.match(text, /\nPROGRAM +REQUESTS\nhost\/1\.2 +5\n$/);
  });

  it('shows a plugin with its versions, an extension point, and a guest', async () => {
    assert.match(await demand('--plugin', 'greet'), /\nVERSION .*\ngreet@1 +4 +1 +1 +\d{4}-.*\n/);
    const ofGuest = await demand('--guest', 'demo/acme');
    assert.match(ofGuest, /\nVERSION +LOADED BY CLIENTS +LAST LOADED\ngreet@1 +1 +\d{4}-/);
    const of = async (...args: string[]): Promise<UsageReport> => JSON.parse(await demand('--json', ...args));
    const { TENON_EXTENSION_POINT_ID = '' } = first.quickstart;
    for (const args of [[], ['-e', TENON_EXTENSION_POINT_ID], ['--guest', 'demo/acme'], ['--plugin', 'greet']]) {
      const { totals, points } = await of(...args);
      assert.deepEqual(totals, { listRequests: 4, contentFetches: 1, tokens: 1 }, args.join(' '));
      assert.equal(points.length, 30);
    }
    assert.equal((await of('--by', 'hour', '--days', '2')).points.length, 48);
    const none = await demand('--from', '2020-01-01', '--to', '2020-01-02');
    assert.match(none, /\nList requests +0 +··\n/);
    assert.doesNotMatch(none, /DAY/);
  });

  it('writes CSV', async () => {
    const piped = await demand('--days', '1', '--csv', '-');
    assert.match(piped, /^day,list_requests,content_fetches,tokens\r\n[\d-]{10},4,1,1\r\n$/);
    const file = join(first.folder, 'usage.csv');
    await demand('--days', '1', '--csv', file);
    assert.equal(await readFile(file, 'utf8'), piped);
  });

  it('rejects options that exclude each other, and what is no day', async () => {
    const wrong = [
      ['--plugin', 'greet', '--guest', 'demo/acme'],
      ['--days', '3', '--from', '2026-01-01'],
      ['--from', 'yesterday'],
      ['--by', 'minute'],
      ['--json', '--csv', '-'],
    ];
    for (const args of wrong) assert.equal((await tenon('usage', ...args)).exitCode, 2, args.join(' '));
    assert.notEqual((await tenon('usage', '--guest', 'nobody')).exitCode, 0);
  });
});

describe('sparkline()', () => {
  it('draws each number relative to the largest one', () => {
    assert.equal(sparkline([]), '');
    assert.equal(sparkline([0, 0]), '··');
    assert.equal(sparkline([0, 1, 4, 8, 1_000_000]), '·▁▁▁█');
    assert.equal(sparkline([1, 2, 3, 4, 5, 6, 7, 8]), '▁▂▃▄▅▆▇█');
  });
});
