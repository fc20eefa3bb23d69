import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { loadConfig, serve } from '@tenon/server';
import { type InProcessServer, startInProcessServer } from '../../../test/helpers/in-process-server.ts';
import { customSection, moduleOf } from '../../../test/helpers/module-bytes.ts';
import { start } from './helpers/binary.ts';
import { makeFolder } from './helpers/folder.ts';
import { tenon } from './helpers/streams.ts';

/** A valid module whose bytes are like no other number's: an empty one with the number in a custom section. */
function numberedModule(number: number): Buffer {
  const contents = Buffer.alloc(2000);
  contents.writeUInt32LE(number);
  return Buffer.concat([moduleOf(), customSection('n', contents)]);
}

/** What a host sees of the demo at a server. */
async function asHost(url: string, environment: Readonly<Record<string, string | undefined>>) {
  const headers = { authorization: `Bearer ${environment.TENON_TOKEN}` };
  const key = encodeURIComponent(environment.TENON_GUEST_KEY ?? '');
  const path = `/api/v1/extension-points/${environment.TENON_EXTENSION_POINT_ID}/bindings/${key}`;
  const list = await fetch(url + path, { headers });
  assert.equal(list.status, 200);
  const body = await list.text();
  const contents = new Map<string, string>();
  for (const { contentAddress } of Object.values(JSON.parse(body)) as { contentAddress: string }[]) {
    const response = await fetch(`${url}/api/v1/c/${contentAddress}`, { headers });
    assert.equal(response.status, 200, contentAddress);
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.equal(createHash('sha256').update(bytes).digest('base64url'), contentAddress);
    contents.set(contentAddress, bytes.toString('base64'));
  }
  return { body, etag: list.headers.get('etag'), contents };
}

describe('tenon admin', () => {
  let server: InProcessServer;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  before(async () => {
    server = await startInProcessServer({
      settings: {
        TENON_TIMES: 'gc-interval=200ms,gc-grace=1ms',
        TENON_RATES: 'writes-per-second=10000',
      },
    });
    folder = await makeFolder();
  });
  after(async () => {
    await server.stop();
    await folder.remove();
  });

  const admin = (...args: string[]) => tenon(['admin', ...args], { environment: { TENON_DATA_DIR: server.dataDir } });
  const inFolder = (name: string) => join(folder.path, name);

  async function demand(...args: string[]) {
    const outcome = await admin(...args);
    assert.equal(outcome.exitCode, 0, `tenon admin ${args.join(' ')}: ${outcome.stderr}`);
    return outcome;
  }

  const call = (method: string, name: string, body?: Buffer) => {
    const { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_USER_ID } = server.quickstart;
    const url = `${server.url}/api/v1/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/${name}`;
    const headers = { authorization: `Bearer ${TENON_TOKEN}`, 'content-type': 'application/wasm' };
    return fetch(url, { method, headers, ...(body && { body: new Uint8Array(body) }) });
  };

  /** An extension point without an interface, so that any module may be published; as the server's environment has it. */
  async function openPoint(): Promise<void> {
    const { quickstart: environment } = server;
    const args = ['extension-point', 'update', '-e', environment.TENON_EXTENSION_POINT_ID ?? '', '--schema', '-'];
    const outcome = await tenon(args, { environment: { TENON_DATA_DIR: server.dataDir }, stdin: '{}' });
    assert.equal(outcome.exitCode, 0, outcome.stderr);
  }

  it('copy copies a server that is publishing, deleting and collecting, and what is copied is served as it was', async () => {
    await openPoint();
    for (const [at, name] of ['constructor', '10', 'steady'].entries()) {
      assert.equal((await call('PUT', name, numberedModule(at))).status, 201);
    }
    let isOver = false;
    let changes = 0;
    const publishers = [1, 2].map(async (publisher) => {
      for (let round = 0; !isOver; round++, changes++) {
        const response = await call('PUT', `busy-${publisher}`, numberedModule(1000 * publisher + (round % 50)));
        assert.ok(response.ok, await response.text());
        if (round % 3 === 2) assert.equal((await call('DELETE', `busy-${publisher}`)).status, 204);
      }
    });
    const copies = [inFolder('first'), inFolder('second')];
    const before = changes;
    for (const copy of copies) {
      const { exitCode, stderr } = await start(['admin', 'copy', '--from', server.dataDir, '--to', copy]).ended;
      assert.equal(exitCode, 0, stderr);
      const verified = await start(['admin', 'verify', '--store', server.dataDir]).ended;
      assert.equal(verified.exitCode, 0, verified.stdout);
    }
    isOver = true;
    await Promise.all(publishers);
    assert.ok(changes > before, 'the server was busy meanwhile');

    for (const copy of copies) {
      assert.equal((await tenon(['admin', 'verify', '--store', copy])).exitCode, 0);
      await withServerOn(copy, async (url) => {
        const { body } = await asHost(url, server.quickstart);
        for (const name of ['constructor', '10', 'steady', 'greet']) assert.ok(name in JSON.parse(body), name);
      });
    }
  });

  it('copy keeps what hosts see to the byte: list, ETag, contents', async () => {
    const seen = await asHost(server.url, server.quickstart);
    assert.ok(seen.contents.size > 0);
    await demand('copy', '--to', inFolder('backup'));
    await demand('copy', '--from', inFolder('backup'), '--to', inFolder('same'));
    await withServerOn(inFolder('same'), async (url) => {
      assert.deepEqual(await asHost(url, server.quickstart), seen);
    });
  });

  it('copy continues when it was killed, and no server starts on the unfinished copy', async () => {
    const dataDir = inFolder('killed');
    const args = ['admin', 'copy', '--from', server.dataDir, '--to', dataDir];
    for (const note of ['Copying metadata', 'Copying plugins', 'Verifying the copy']) {
      const copy = start(args);
      let said = '';
      copy.child.stderr?.on('data', (text) => {
        said += text;
        if (said.includes(note)) copy.child.kill('SIGKILL');
      });
      await copy.ended;
      const { exitCode, stderr } = await start(['admin', 'verify', '--store', dataDir]).ended;
      assert.deepEqual([exitCode, /is an unfinished copy/.test(stderr)], [5, true], `${note}: ${stderr}`);
    }
    assert.equal((await start(args).ended).exitCode, 0);
    assert.equal((await tenon(['admin', 'verify', '--store', dataDir])).exitCode, 0);
  });

  it('verify names changed audit events, and compares the chain with a head from elsewhere', async () => {
    const dataDir = inFolder('audited');
    await demand('copy', '--to', dataDir);
    const head = (await tenon(['admin', 'audit-head', '--store', dataDir])).stdout.trim();
    assert.match(head, /^\d+:[\w-]{43}$/);
    const verify = (...args: string[]) => tenon(['admin', 'verify', '--store', dataDir, ...args]);
    const whole = await verify('--audit-head', head);
    assert.equal(whole.exitCode, 0, whole.stderr);
    assert.ok(whole.stdout.includes(`audit head       ${head}`), whole.stdout);
    for (const wrong of ['', '7', '7:short', '0:x', `-1:${'a'.repeat(43)}`]) {
      assert.equal((await verify('--audit-head', wrong)).exitCode, 2, wrong);
    }
    const change = (sql: string): void => {
      const database = new DatabaseSync(join(dataDir, 'tenon.db'));
      database.exec(sql);
      database.close();
    };
    change(`update audit_events set "userName" = 'Eve' where id = (select "eventId" from audit_links where seq = 1)`);
    const changed = await verify();
    assert.equal(changed.exitCode, 1);
    assert.match(changed.stdout, /^fault +audit event 1, evt_\w{26}: "userName" .*$/m);
    change('delete from audit_links; delete from audit_positions; update audit_events set "isSealed" = null');
    assert.equal((await verify()).exitCode, 0, 'a chain that was computed again');
    const rewritten = await verify('--audit-head', head);
    assert.match(rewritten.stdout, /its hash is not that of the expected head: the chain was rewritten/);
  });

  it('collect keeps files that the database does not know, and verify ends with 8, until it is forced', async () => {
    const dataDir = inFolder('collected');
    await demand('copy', '--to', dataDir);
    const orphan = numberedModule(99);
    const digest = createHash('sha256').update(orphan).digest('hex');
    const file = join(dataDir, 'blobs', digest.slice(0, 2), digest);
    await writeFile(file, orphan);
    const run = async (...args: string[]) => {
      const outcome = await tenon(['admin', 'gc', '--store', dataDir, ...args]);
      assert.equal(outcome.exitCode, 0, outcome.stderr);
      return outcome;
    };
    const first = await run('--grace', '1ms');
    assert.match(first.stdout, /^deleted +0 contents, 0 B\nunused, in grace +0 contents, 0 B\n$/);
    assert.match(first.stderr, /1 file kept that the database does not know/);
    const verified = await tenon(['admin', 'verify', '--store', dataDir]);
    assert.equal(verified.exitCode, 8);
    assert.match(verified.stdout, /^unknown +content [\w-]{43}: its file has no row in the database/m);
    assert.match(verified.stderr, /The database does not know 1 file: it has lost commits\./);
    const dry = (await run('--dry-run', '--force', '--json')).json();
    assert.deepEqual([dry.isDryRun, dry.deleted, dry.unknown], [true, 1, 0]);
    assert.equal((await stat(file)).size, orphan.length);
    assert.match((await run('--force')).stdout, /^deleted +1 content, 2.0 KiB\n/);
    await assert.rejects(stat(file), { code: 'ENOENT' });
    assert.equal((await tenon(['admin', 'gc', '--store', dataDir, '--grace', 'soon'])).exitCode, 2);
    assert.equal((await tenon(['admin', 'verify', '--store', dataDir])).exitCode, 0);
  });

  it('verify shows every fault, and ends with 1', async () => {
    const dataDir = inFolder('broken');
    await demand('copy', '--to', dataDir);
    const whole = await tenon(['admin', 'verify', '--store', dataDir]);
    assert.equal(whole.exitCode, 0);
    assert.match(whole.stdout, /faults +none\n$/);
    const files = (await readdir(join(dataDir, 'blobs'), { recursive: true })).filter((name) => name.length > 60);
    const [file] = files;
    assert.ok(file !== undefined);
    await writeFile(join(dataDir, 'blobs', file), 'damaged');
    const damaged = await tenon(['admin', 'verify', '--store', dataDir]);
    assert.equal(damaged.exitCode, 1);
    assert.match(
      damaged.stdout,
      /^fault +content [\w-]{43}: its file has 7 bytes, and not \d+; 1 version references it$/m,
    );
    assert.match(damaged.stderr, /Not all is as it must be: 2 faults\./);
    const json = await tenon(['admin', 'verify', '--store', dataDir, '--json']);
    assert.deepEqual([json.json().isWhole, json.json().faults.length], [false, 2]);
    await rm(join(dataDir, 'blobs', file));
    assert.match((await tenon(['admin', 'verify', '--store', dataDir])).stdout, /its file is missing/);
  });

  it('make no folder where there is no data', async () => {
    for (const args of [['verify'], ['gc']]) {
      const outcome = await tenon(['admin', ...args, '--store', inFolder('nowhere')]);
      assert.equal(outcome.exitCode, 4, args.join(' '));
      assert.match(outcome.stderr, /There is no data in /);
    }
    await assert.rejects(stat(inFolder('nowhere')));
  });

  it('shows how far it is on a terminal', async (t) => {
    const setting = { environment: { TENON_DATA_DIR: server.dataDir }, isTerminal: true };
    t.mock.method(
      performance,
      'now',
      (() => {
        let nowMs = 0;
        return () => (nowMs += 1000);
      })(),
    );
    const verified = await tenon(['admin', 'verify'], setting);
    assert.match(verified.stderr, /Verifying [━─]+ +\d+ %/);
  });
});

async function withServerOn(dataDir: string, work: (url: string) => Promise<void>): Promise<void> {
  const running = await serve(loadConfig({ dataDir, port: '0', host: '127.0.0.1', logLevel: 'silent' }, {}));
  try {
    await work(running.url);
  } finally {
    await running.close();
  }
}
