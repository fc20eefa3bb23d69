import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { loadConfig, serve } from '@tenon/server';
import { start } from './helpers/binary.ts';
import { makeFolder, startServer, type TestServer } from './helpers/server.ts';
import { tenon } from './helpers/streams.ts';

/** A valid module whose bytes are like no other number's: an empty one with the number in a custom section. */
function moduleOf(number: number): Buffer {
  const section = Buffer.alloc(2000);
  section.set([1, 0x6e]); // a name of one byte, "n"
  section.writeUInt32LE(number, 2);
  const size = [(section.length & 0x7f) | 0x80, section.length >> 7]; // LEB128
  return Buffer.concat([Buffer.from('0061736d01000000', 'hex'), Buffer.from([0, ...size]), section]);
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
  let server: TestServer;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  before(async () => {
    server = await startServer({
      TENON_TIMES: 'gc-interval=200ms,gc-grace=1ms',
      TENON_RATES: 'writes-per-second=10000',
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
    const { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_USER_ID } = server.environment;
    const url = `${server.url}/api/v1/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/${name}`;
    const headers = { authorization: `Bearer ${TENON_TOKEN}`, 'content-type': 'application/wasm' };
    return fetch(url, { method, headers, ...(body && { body: new Uint8Array(body) }) });
  };

  /** An extension point without an interface, so that any module may be published; as the server's environment has it. */
  async function openPoint(): Promise<void> {
    const { environment } = server;
    const args = ['extension-point', 'update', environment.TENON_EXTENSION_POINT_ID ?? '', '--schema', '-'];
    const outcome = await tenon(args, { environment: { TENON_DATA_DIR: server.dataDir }, stdin: '{}' });
    assert.equal(outcome.exitCode, 0, outcome.stderr);
  }

  it('backup copies a server that is publishing, deleting and collecting, and restore makes the same again', async () => {
    await openPoint();
    for (const [at, name] of ['constructor', '10', 'steady'].entries()) {
      assert.equal((await call('PUT', name, moduleOf(at))).status, 201);
    }
    let isOver = false;
    let changes = 0;
    const publishers = [1, 2].map(async (publisher) => {
      for (let round = 0; !isOver; round++, changes++) {
        const response = await call('PUT', `busy-${publisher}`, moduleOf(1000 * publisher + (round % 50)));
        assert.ok(response.ok, await response.text());
        if (round % 3 === 2) assert.equal((await call('DELETE', `busy-${publisher}`)).status, 204);
      }
    });
    const archives = [inFolder('first.tar'), inFolder('second.tar')];
    const before = changes;
    for (const archive of archives) {
      const backup = start(['admin', 'backup', archive, '--data-dir', server.dataDir]);
      const { exitCode, stdout, stderr } = await backup.ended;
      assert.deepEqual([exitCode, stdout], [0, `${archive}\n`], stderr);
      const verified = await start(['admin', 'verify', '--data-dir', server.dataDir]).ended;
      assert.equal(verified.exitCode, 0, verified.stdout);
    }
    isOver = true;
    await Promise.all(publishers);
    assert.ok(changes > before, 'the server was busy meanwhile');

    for (const archive of archives) {
      const dataDir = `${archive}.restored`;
      const restored = await start(['admin', 'restore', archive, '--data-dir', dataDir]).ended;
      assert.equal(restored.exitCode, 0, restored.stderr);
      await withServerOn(dataDir, async (url) => {
        const { body } = await asHost(url, server.environment);
        for (const name of ['constructor', '10', 'steady', 'greet']) assert.ok(name in JSON.parse(body), name);
      });
      assert.equal((await tenon(['admin', 'verify', '--data-dir', dataDir])).exitCode, 0);
    }
  });

  it('backup and restore keep what hosts see to the byte: list, ETag, contents', async () => {
    const seen = await asHost(server.url, server.environment);
    assert.ok(seen.contents.size > 0);
    const archive = (await demand('backup', folder.path)).stdout.trim();
    assert.match(archive, /tenon-backup-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar$/);
    assert.equal((await stat(archive)).mode & 0o777, 0o600);
    await demand('restore', archive, '--data-dir', inFolder('same'));
    await withServerOn(inFolder('same'), async (url) => {
      assert.deepEqual(await asHost(url, server.environment), seen);
    });
  });

  it('backup holds no secret of quickstart.env, and says that it leaves it out', async () => {
    const { stderr } = await demand('backup', inFolder('secrets.tar'));
    assert.match(stderr, /quickstart\.env is not in it/);
    const bytes = await readFile(inFolder('secrets.tar'));
    const secrets = parseEnv(await readFile(join(server.dataDir, 'quickstart.env'), 'utf8'));
    for (const name of ['TENON_TOKEN', 'TENON_API_KEY', 'TENON_PASSWORD']) {
      assert.ok((secrets[name] ?? '').length > 10, name);
      assert.ok(!bytes.includes(secrets[name] ?? ''), name);
    }
  });

  it('backup goes through a pipe, and restore takes it from one', async () => {
    const { bytes, stderr } = await demand('backup', '-');
    assert.match(stderr, /^Backed up/);
    const outcome = await tenon(['admin', 'restore', '-', '--data-dir', inFolder('piped'), '--json'], { stdin: bytes });
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    const { dataDir, replacedFolder, blobs } = outcome.json();
    assert.deepEqual([dataDir, replacedFolder], [inFolder('piped'), null]);
    assert.ok(blobs > 0);
    assert.equal((await admin('backup', '-', '--json')).exitCode, 2);
    const onTerminal = await tenon(['admin', 'backup', '-', '--data-dir', server.dataDir], { isTerminal: true });
    assert.equal(onTerminal.exitCode, 2);
  });

  it('backup replaces an older one whole, and leaves it when it fails', async () => {
    const archive = inFolder('nightly.tar');
    await demand('backup', archive);
    const older = await readFile(archive);
    await demand('backup', archive);
    assert.notDeepEqual(await readFile(archive), older);
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const present = await readFile(archive);
    const ended = await tenon(['admin', 'backup', archive, '--data-dir', server.dataDir], {
      signal: controller.signal,
    });
    assert.notEqual(ended.exitCode, 0);
    assert.deepEqual(await readFile(archive), present);
    assert.deepEqual(
      (await readdir(folder.path)).filter((name) => name.startsWith('.')),
      [],
    );
  });

  it('backup removes what those that were killed have left where it writes, and nothing else', async () => {
    const target = await mkdtemp(inFolder('killed-'));
    let left: readonly string[] = [];
    for (let at = 0; left.length < 2; at++) {
      const backup = start(['admin', 'backup', join(target, `${at}.tar`), '--data-dir', server.dataDir]);
      const isOver = backup.ended.then(() => true);
      do left = (await readdir(target)).filter((name) => name.startsWith('.'));
      while (left.length < 2 && !(await Promise.race([isOver, setTimeout(1, false)])));
      backup.child.kill('SIGKILL');
      await backup.ended;
      left = (await readdir(target)).filter((name) => name.startsWith('.'));
    }
    assert.deepEqual(
      left.filter((name) => !/^\.tenon-backup-/.test(name)),
      [],
    );
    const others = ['.nightly.tar.0123456789ab.tmp', '.tenon-backup-of-mine', 'tenon-backup-0123456789ab.tmp'];
    for (const name of others) await writeFile(join(target, name), 'of another program');
    const dayAgo = Date.now() / 1000 - 25 * 60 * 60;
    for (const name of [...left, ...others]) await utimes(join(target, name), dayAgo, dayAgo);
    await writeFile(join(target, '.tenon-backup-0123456789ab.tmp'), 'of a backup under way');
    await demand('backup', join(target, 'whole.tar'));
    const names = (await readdir(target)).filter((name) => !/^\d+\.tar$/.test(name));
    assert.deepEqual(names.sort(), [...others, '.tenon-backup-0123456789ab.tmp', 'whole.tar'].sort());
  });

  it('restore says what is wrong with a folder or a backup, and changes nothing', async () => {
    const archive = inFolder('whole.tar');
    await demand('backup', archive);
    const into = (file: string, dataDir: string, ...more: string[]) =>
      tenon(['admin', 'restore', file, '--data-dir', dataDir, ...more]);
    const running = await into(archive, server.dataDir, '--force');
    assert.deepEqual([running.exitCode, /using it/.test(running.stderr)], [5, true], running.stderr);
    const full = await into(archive, server.dataDir);
    assert.deepEqual([full.exitCode, /not empty/.test(full.stderr)], [5, true], full.stderr);
    assert.equal((await into(inFolder('missing.tar'), inFolder('a'))).exitCode, 1);
    assert.match((await into(folder.path, inFolder('a'))).stderr, /Cannot read the backup .*: it is a folder/);
    await assert.rejects(stat(inFolder('a')), { code: 'ENOENT' });
    const bytes = await readFile(archive);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(inFolder('damaged.tar'), bytes);
    const damaged = await into(inFolder('damaged.tar'), inFolder('b'), '--json');
    assert.equal(damaged.exitCode, 7);
    assert.equal(JSON.parse(damaged.stderr).error.code, 'damaged_backup');
    assert.deepEqual(await readdir(inFolder('b')), []);
    await writeFile(inFolder('module.tar'), moduleOf(1));
    assert.match((await into(inFolder('module.tar'), inFolder('b'))).stderr, /none that `tenon admin backup` made/);
    assert.equal((await asHost(server.url, server.environment)).contents.size > 0, true);
  });

  it('collect keeps files that the database does not know, and verify ends with 8, until it is forced', async () => {
    const dataDir = inFolder('collected');
    await demand('backup', inFolder('collected.tar'));
    await demand('restore', inFolder('collected.tar'), '--data-dir', dataDir);
    const orphan = moduleOf(99);
    const digest = createHash('sha256').update(orphan).digest('hex');
    const file = join(dataDir, 'blobs', digest.slice(0, 2), digest);
    await writeFile(file, orphan);
    const run = async (...args: string[]) => {
      const outcome = await tenon(['admin', 'collect', '--data-dir', dataDir, ...args]);
      assert.equal(outcome.exitCode, 0, outcome.stderr);
      return outcome;
    };
    const first = await run('--grace', '1ms');
    assert.match(first.stdout, /^deleted +0 contents, 0 B\nunused, in grace +0 contents, 0 B\n$/);
    assert.match(first.stderr, /1 file kept that the database does not know/);
    const verified = await tenon(['admin', 'verify', '--data-dir', dataDir]);
    assert.equal(verified.exitCode, 8);
    assert.match(verified.stdout, /^unknown +content [\w-]{43}: no row of the database knows its file/m);
    assert.match(verified.stderr, /The database does not know 1 file: it has lost commits\./);
    const dry = (await run('--dry-run', '--force', '--json')).json();
    assert.deepEqual([dry.isDryRun, dry.deleted, dry.unknown], [true, 1, 0]);
    assert.equal((await stat(file)).size, orphan.length);
    assert.match((await run('--force')).stdout, /^deleted +1 content, 2.0 KiB\n/);
    await assert.rejects(stat(file), { code: 'ENOENT' });
    assert.equal((await tenon(['admin', 'collect', '--data-dir', dataDir, '--grace', 'soon'])).exitCode, 2);
    assert.equal((await tenon(['admin', 'verify', '--data-dir', dataDir])).exitCode, 0);
  });

  it('verify shows every fault, and ends with 1', async () => {
    const dataDir = inFolder('broken');
    await demand('backup', inFolder('broken.tar'));
    await demand('restore', inFolder('broken.tar'), '--data-dir', dataDir);
    const whole = await tenon(['admin', 'verify', '--data-dir', dataDir]);
    assert.equal(whole.exitCode, 0);
    assert.match(whole.stdout, /faults +none\n$/);
    const files = (await readdir(join(dataDir, 'blobs'), { recursive: true })).filter((name) => name.length > 60);
    const [file] = files;
    assert.ok(file !== undefined);
    await writeFile(join(dataDir, 'blobs', file), 'damaged');
    const damaged = await tenon(['admin', 'verify', '--data-dir', dataDir]);
    assert.equal(damaged.exitCode, 1);
    assert.match(damaged.stdout, /^fault +content [\w-]{43}: its file has 7 bytes, and not \d+; 1 version names it$/m);
    assert.match(damaged.stderr, /Not all is as it must be: 2 faults\./);
    const json = await tenon(['admin', 'verify', '--data-dir', dataDir, '--json']);
    assert.deepEqual([json.json().isWhole, json.json().faults.length], [false, 2]);
    await rm(join(dataDir, 'blobs', file));
    assert.match((await tenon(['admin', 'verify', '--data-dir', dataDir])).stdout, /its file is missing/);
  });

  it('make no folder where there is no data', async () => {
    for (const args of [['verify'], ['collect'], ['backup', inFolder('none.tar')]]) {
      const outcome = await tenon(['admin', ...args, '--data-dir', inFolder('nowhere')]);
      assert.equal(outcome.exitCode, 4, args.join(' '));
      assert.match(outcome.stderr, /There is no data in /);
    }
    await assert.rejects(stat(inFolder('nowhere')));
    await assert.rejects(stat(inFolder('none.tar')));
  });

  it('shows how far it is on a terminal', async (t) => {
    await writeFile(inFolder('slow.tar'), '');
    await chmod(inFolder('slow.tar'), 0o644);
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
    const backedUp = await tenon(['admin', 'backup', inFolder('slow.tar')], setting);
    assert.match(backedUp.stderr, /Backing up [━─]+ +\d+ %/);
    assert.equal((await stat(inFolder('slow.tar'))).mode & 0o777, 0o600);
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
