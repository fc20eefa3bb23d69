import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../../../test/helpers/until.ts';
import { noPostgres, type PostgresServer, startPostgres } from './helpers/postgres.ts';

const script = fileURLToPath(new URL('./helpers/serve-child.ts', import.meta.url));

describe('a node that starts while PostgreSQL is away', { skip: noPostgres }, () => {
  let postgres: PostgresServer;
  let dataDir: string;
  const children: ChildProcess[] = [];
  before(async () => {
    [postgres, dataDir] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'tenon-start-'))]);
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('logs that it waits, and serves when PostgreSQL is available', async () => {
    const { url } = await postgres.createDatabase();
    await postgres.kill();
    const child = spawn(process.execPath, [script, dataDir], {
      env: { PATH: process.env.PATH, TENON_DATABASE_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    let [output, log] = ['', ''];
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      log += chunk;
    });
    const untilOutput = (hasOutput: () => boolean) =>
      until(
        () => {
          assert.equal(child.exitCode, null, log);
          return hasOutput();
        },
        { message: () => log },
      );
    await untilOutput(() => log.includes('waiting for the stores'));
    await postgres.start();
    await untilOutput(() => output.includes('\n'));
    assert.equal((await fetch(`${output.trim()}/readyz`)).status, 200);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null], log);
  });
});
