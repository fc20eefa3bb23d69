import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { AppAuditEntry, OperatorAuditEntry } from '@tenon/protocol';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon } from './helpers/streams.ts';

let server: InProcessServer;
let folder: Awaited<ReturnType<typeof makeFolder>>;

before(async () => {
  server = await startInProcessServer();
  folder = await makeFolder();
  const app = server.quickstart.TENON_APP_ID ?? '';
  for (const name of ['Second', '=1+1']) assert.equal((await tenon(['app', 'rename', '--app', app, name])).exitCode, 0);
});

after(async () => {
  await server.stop();
  await folder.remove();
});

/** Runs a command with the demo owner's token, about the demo's application. */
function tenon(args: readonly string[]) {
  const { TENON_APP_ID = '' } = server.quickstart;
  return runTenon(args, { environment: { TENON_DATA_DIR: server.dataDir, TENON_APP_ID } });
}

describe('tenon app audit', () => {
  it('shows who did what, the newest first', async () => {
    const { exitCode, stdout, stderr } = await tenon(['app', 'audit']);
    assert.equal(exitCode, 0, stderr);
    const [heading, first, second, ...rest] = stdout.trimEnd().split('\n');
    assert.match(heading ?? '', /^WHEN +WHO +WHAT +TO WHAT +BY MEANS OF/);
    assert.match(first ?? '', /Demo owner +changed the application +=1\+1 +quickstart$/);
    assert.match(second ?? '', /Demo owner +changed the application +Second +quickstart$/);
    assert.match(rest.join('\n'), /the operator +invited a user for the guest +demo\/acme/);
  });

  it('is JSON on demand, cut to what is asked for', async () => {
    const entries = async (...args: string[]): Promise<AppAuditEntry[]> =>
      JSON.parse((await tenon(['app', 'audit', '--json', ...args])).stdout);
    const all = await entries();
    assert.ok(all.length >= 6);
    assert.deepEqual(await entries('--limit', '2'), all.slice(0, 2));
    const updates = await entries('--action', 'app.update');
    assert.deepEqual(
      updates.map(({ action }) => action),
      ['app.update', 'app.update'],
    );
    assert.deepEqual(await entries('--user', server.quickstart.TENON_USER_ID ?? ''), updates);
    assert.deepEqual(await entries('--since', '1h'), all);
    assert.deepEqual(await entries('--until', '1h'), []);
  });

  it('says that there is more than it shows', async () => {
    const { stdout, stderr } = await tenon(['app', 'audit', '--limit', '1']);
    assert.equal(stdout.trimEnd().split('\n').length, 2);
    assert.match(stderr, /Showing the newest 1\./);
  });

  it('writes a table to a file', async () => {
    const file = join(folder.path, 'audit.csv');
    const { exitCode, stdout, stderr } = await tenon(['app', 'audit', '--action', 'app.update', '--csv', file]);
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, '');
    const lines = (await readFile(file, 'utf8')).split('\r\n');
    assert.equal(lines.length, 4);
    assert.match(lines[1] ?? '', /,'=1\+1,/);
    const piped = await tenon(['app', 'audit', '--action', 'app.update', '--csv', '-']);
    assert.equal(piped.stdout, lines.join('\r\n'));
  });

  it('refuses what means nothing', async () => {
    for (const args of [
      ['--since', 'yesterday'],
      ['--action', 'nonsense'],
      ['--limit', '0'],
      ['--json', '--csv', '-'],
    ]) {
      assert.equal((await tenon(['app', 'audit', ...args])).exitCode, 2, args.join(' '));
    }
  });
});

describe('tenon admin audit', () => {
  it('shows what the operator did, in whatever trail', async () => {
    const { exitCode, stdout, stderr } = await tenon(['admin', 'user', 'invite', '--store', server.dataDir]);
    assert.equal(exitCode, 0, stderr);
    const shown = await tenon(['admin', 'audit', '--json', '--action', 'link.create']);
    const [entry] = JSON.parse(shown.stdout) as OperatorAuditEntry[];
    assert.deepEqual([entry?.by, entry?.appId, entry?.accountId, entry?.user], ['operator', null, null, null]);
    const code = stdout.trim().split('=').at(-1) ?? '';
    assert.ok(code.length > 20 && !shown.stdout.includes(code));
    assert.match((await tenon(['admin', 'audit', '--limit', '1'])).stdout, /the operator +created a set-up link/);
  });
});
