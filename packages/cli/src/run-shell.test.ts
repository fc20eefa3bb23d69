import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/helpers/until.ts';
import { runShell } from './run-shell.ts';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-shell-'));
});

after(() => rm(folder, { recursive: true }));

const environment = { PATH: process.env.PATH, TENON_TOKEN: 'tnn_secret', TENON_API_KEY: 'tnk_secret', TENON_URL: 'u' };
const never = new AbortController().signal;

function contentOf(name: string): Promise<string> {
  return until(async () => {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    return text.endsWith('\n') && text;
  });
}

describe('runShell()', { skip: process.platform === 'win32' && 'the lines are for /bin/sh' }, () => {
  it('runs a line in a folder, and tells what it ends with', async () => {
    assert.equal(await runShell('pwd > where.txt; exit 7', { folder, environment, signal: never }), 7);
    assert.equal(await contentOf('where.txt'), `${folder}\n`);
    assert.equal(await runShell('kill -9 $$', { folder, environment, signal: never }), null);
  });

  it('hands on the environment without what opens the server', async () => {
    await runShell('echo "$TENON_URL,$TENON_TOKEN,$TENON_API_KEY" > said.txt', { folder, environment, signal: never });
    assert.equal(await contentOf('said.txt'), 'u,,\n');
  });

  it('gives it no stdin to take from others', async () => {
    assert.equal(await runShell('! read line', { folder, environment, signal: never }), 0);
  });

  it('ends it with all that it has started', async () => {
    const controller = new AbortController();
    const line = `sh -c 'trap "echo ended > ended.txt; exit" TERM; echo > up.txt; while :; do sleep 0.1; done' && true`;
    const running = runShell(line, { folder, environment, signal: controller.signal });
    await contentOf('up.txt');
    const reason = new Error('stop');
    controller.abort(reason);
    await assert.rejects(running, reason);
    assert.equal(await contentOf('ended.txt'), 'ended\n');
  });

  it('says that there is no such folder', async () => {
    await assert.rejects(runShell('true', { folder: join(folder, 'none'), environment, signal: never }), {
      code: 'ENOENT',
    });
  });
});
