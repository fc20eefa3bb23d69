import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseCsv } from '@tenon/protocol/csv';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon as runTenon, type Setting } from './helpers/streams.ts';

describe('invitations in bulk', () => {
  let server: InProcessServer;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let file: string;
  before(async () => {
    server = await startInProcessServer();
    folder = await makeFolder();
    file = join(folder.path, 'guests.csv');
  });
  after(async () => {
    await server.stop();
    await folder.remove();
  });

  const tenon = (args: readonly string[], setting: Setting = {}) =>
    runTenon(args, { environment: { TENON_DATA_DIR: server.dataDir }, ...setting });
  const links = (stdout: string) => parseCsv(stdout, 1000).map(({ cells }) => cells.slice(4, 6));

  it('come from a file or stdin, and are repeated without second invitations', async () => {
    await writeFile(file, '\ufeffGuest key;Name;Plan\r\nbulk/1;Grace;gold\r\nbulk/2;"Ada; ""A"""\r\n=bulk/3;\r\n');
    const first = await tenon(['guest', 'invite', '--csv', file]);
    assert.equal(first.exitCode, 0, first.stderr);
    assert.match(first.stderr, /Ignored columns: Plan\./);
    assert.match(first.stderr, /3 rows: 3 invited\./);
    const [header, ...rows] = links(first.stdout);
    assert.deepEqual(header, ['outcome', 'link']);
    assert.ok(rows.every(([outcome, link]) => outcome === 'invited' && link?.includes('/accept-invite?code=')));
    assert.match(first.stdout, /^'=bulk\/3,/m);

    const again = await tenon(['guest', 'invite', '--csv', '-', '--json'], {
      stdin: 'guestKey,name\nbulk/1,Grace\nbulk/4,\n',
    });
    assert.deepEqual(
      again.json().map(({ guestKey, outcome }: Record<string, string>) => [guestKey, outcome]),
      [
        ['bulk/1', 'pending'],
        ['bulk/4', 'invited'],
      ],
    );
    const renewed = await tenon(['guest', 'invite', '--csv', '-', '--renew'], {
      stdin: 'guestKey,name\nbulk/1,Grace\n',
    });
    assert.match(renewed.stderr, /1 row: 1 renewed\./);
    assert.notEqual(links(renewed.stdout)[1]?.[1], rows[0]?.[1]);
  });

  it('send nothing when a row is wrong', async () => {
    for (const [text, message] of [
      ['guestKey\nok\na//b\n', /1 row with errors; nothing was sent\.\nline 3: A guest key must not/],
      ['name\nGrace\n', /The first line must have the names/],
      ['guestKey\n', /no rows/],
      ['guestKey\n"a', /have no end/],
    ] as const) {
      const { exitCode, stderr } = await tenon(['guest', 'invite', '--csv', '-'], { stdin: text });
      assert.equal(exitCode, 7, stderr);
      assert.match(stderr, message);
    }
    assert.doesNotMatch((await tenon(['guest', 'list'])).stdout, /^ok /m);
    assert.equal((await tenon(['guest', 'invite'])).exitCode, 2);
    assert.equal((await tenon(['guest', 'invite', 'a', '--csv', file])).exitCode, 2);
    assert.equal((await tenon(['guest', 'invite', 'a', '--renew'])).exitCode, 2);
  });

  it('are renewed and revoked one by one, or all of a state', async () => {
    const rows = Array.from({ length: 120 }, (_, at) => `many/${at}`);
    assert.equal(
      (await tenon(['guest', 'invite', '--csv', '-'], { stdin: `guestKey\n${rows.join('\n')}` })).exitCode,
      0,
    );
    const pending = (await tenon(['invitation', 'list', '--json']))
      .json()
      .filter(({ status }: Record<string, string>) => status === 'pending');
    const { id } = pending.at(-1);
    const one = await tenon(['invitation', 'renew', id, '--yes']);
    assert.match(one.stdout, /\/accept-invite\?code=/);
    const old = await tenon(['invitation', 'renew', '--all', 'pending', '--older-than', '14d', '--yes', '--json']);
    assert.deepEqual(old.json(), []);
    const all = await tenon(['invitation', 'renew', '--all', 'pending', '--yes']);
    assert.equal(links(all.stdout).length, pending.length + 1);
    const { exitCode, stderr } = await tenon(['invitation', 'revoke', '--all', 'pending']);
    assert.equal(exitCode, 2);
    assert.match(stderr, new RegExp(`The links of ${pending.length} invitations will stop working`));
    const revoked = await tenon(['invitation', 'revoke', '--all', 'pending', '--yes', '--json']);
    assert.deepEqual(revoked.json(), { revoked: pending.length });
    assert.equal((await tenon(['invitation', 'revoke'])).exitCode, 2);
    assert.equal((await tenon(['invitation', 'revoke', id, '--older-than', '1d'])).exitCode, 2);
  });
});
