import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { start } from './helpers/binary.ts';

describe('tenon serve --workers', () => {
  let folder: string;
  let other: Server;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-serve-workers-'));
    other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
  });
  after(async () => {
    other.close();
    await rm(folder, { recursive: true, force: true });
  });

  const serve = (name: string, workers: string, ...args: string[]) =>
    start(['serve', '--workers', workers, '--data-dir', join(folder, name), '--log-level', 'silent', ...args]);

  it('tells once what a start tells, and ends in order', async () => {
    const { says, child, ended } = serve('good', '2', '--port', '0');
    await says(/Ctrl-C stops it/);
    child.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await ended;
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout.match(/Tenon .* serves http:\/\/localhost:\d+\n/g)?.length, 1);
    assert.equal(stdout.match(/The demo data is/g)?.length, 1);
    assert.equal(stderr, '');
  });

  // `ended` waits until nothing holds the output open any more: no process is left.
  it('says that something else listens there, as one process does', async () => {
    const { port } = other.address() as { port: number };
    const { exitCode, stdout, stderr } = await serve('busy', '3', '--port', String(port)).ended;
    assert.equal(exitCode, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^error: Something listens on 127\.0\.0\.1 port \d+ already\.\n.*--port.*\n$/);
  });

  it('says which port is taken when it is the one for metrics', async () => {
    const { port } = other.address() as { port: number };
    for (const workers of ['1', '2']) {
      const args = ['serve', '--workers', workers, '--data-dir', join(folder, 'metrics'), '--port', '0'];
      const environment = { TENON_METRICS_PORT: String(port), TENON_LOG_LEVEL: 'silent' };
      const { exitCode, stderr } = await start(args, { environment }).ended;
      assert.equal(exitCode, 1);
      assert.match(
        stderr,
        new RegExp(`^error: Something listens on 127.0.0.1 port ${port} already.\\n.*TENON_METRICS_PORT`),
      );
    }
  });

  it('says in one line that a file is not a database', async () => {
    await mkdir(join(folder, 'text'));
    const file = join(folder, 'text', 'tenon.db');
    await writeFile(file, 'This is a text of more than a hundred bytes, which SQLite takes for its header. '.repeat(9));
    const { exitCode, stdout, stderr } = await serve('text', '2', '--port', '0').ended;
    const line = `error: ${file} is not a database. Keep a copy of it, and restore a backup: tenon admin copy --from <backup> --to <empty folder>.\n`;
    assert.deepEqual([exitCode, stdout, stderr], [2, '', line]);
  });

  it('says that the data is of a newer release', async () => {
    const database = new DatabaseSync(join(folder, 'good', 'tenon.db'));
    database.exec("insert into schema_versions (version, name, applied_at_ms) values (999, 'of a later release', 0)");
    database.close();
    const { exitCode, stdout, stderr } = await serve('good', '3', '--port', '0').ended;
    assert.equal(exitCode, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^error: .*999.*\nRun the newer version, or name another --data-dir\.\n$/);
  });

  it('takes no number that is none', async () => {
    const { exitCode, stderr } = await serve('none', '1.5').ended;
    assert.equal(exitCode, 2);
    assert.match(stderr, /--workers must be a whole number from 1 to 256, or auto, not "1\.5"/);
  });
});
