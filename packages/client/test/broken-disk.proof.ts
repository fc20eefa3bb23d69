import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { createRandom, type Random } from '../../../test/helpers/random.ts';
import type { HostReport } from './helpers/host-child.ts';
import { addressOf, type NumberedModule, numberedModule } from './helpers/numbered-module.ts';
import { openStage, type Stage } from './helpers/stage.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const run = promisify(execFile);
const child = join(import.meta.dirname, 'helpers', 'host-child.ts');
const isPosix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;

describe('createClient() with a broken disk', () => {
  let stage: Stage;
  let module: NumberedModule;

  before(async () => {
    stage = await openStage();
    module = numberedModule(1, createRandom(1), 20_000);
    await stage.invite('a guest');
    await stage.publish('a guest', 'plugin', module);
  });
  after(() => stage?.close());

  /** Runs the host in a shell command. `"$@"` stands for the host. */
  async function host(directory: string, line = 'exec "$@"', more: { uid?: number } = {}): Promise<HostReport[]> {
    const command = [process.execPath, child, directory, stage.url, stage.extensionPointId, 'a guest'];
    const env = { ...process.env, HOST_TOKEN: stage.token, FOLDER: directory };
    const { stdout } = await run('sh', ['-c', line, 'sh', ...command], { env, ...more });
    return JSON.parse(stdout);
  }

  function assertAllCame(reports: readonly HostReport[]): void {
    assert.deepEqual(
      reports.map(({ address }) => address),
      [module.address, module.address],
    );
  }

  it('works with a good disk', { skip: !isPosix }, async (test) => {
    const reports = await host(await temporaryFolder(test));
    assertAllCame(reports);
    assert.deepEqual(
      reports.map(({ sources, problems }) => [...sources, ...problems]),
      [['network'], ['store']],
    );
  });

  it('continues if files cannot grow, emits one error, and leaves no partial file', {
    skip: !isPosix,
  }, async (test) => {
    const folder = await temporaryFolder(test);
    // Writes beyond the limit, in blocks of 512 or 1,024 bytes, fail half-way, as on a full disk.
    const reports = await host(folder, `trap '' XFSZ; ulimit -f 8; exec "$@"`);
    assertAllCame(reports);
    for (const { sources, problems } of reports) {
      assert.deepEqual(sources, ['network']);
      assert.deepEqual(problems, ['store_failed: EFBIG']);
    }
    await assertNothingInPart(folder);
  });

  it('continues with a full disk, emits one error, and leaves no partial file', async (test) => {
    const folder = await temporaryFolder(test);
    const mount = 'mount -t tmpfs -o size=16k none "$FOLDER"';
    const mayMount = await run('unshare', ['-m', 'sh', '-c', mount], { env: { ...process.env, FOLDER: folder } }).catch(
      () => false,
    );
    if (mayMount === false) {
      test.skip('a small file system can be mounted by root on Linux alone');
      return;
    }
    const whole = `test -z "$(find "$FOLDER" -type f -path "*partial*")"`;
    const reports = await host(folder, `exec unshare -m sh -c '${mount} && "$@" && ${whole}' sh "$@"`);
    assertAllCame(reports);
    for (const { sources, problems } of reports) {
      assert.deepEqual(sources, ['network']);
      assert.deepEqual(problems, ['store_failed: ENOSPC']);
    }
  });

  it('reads from a read-only folder', { skip: !isPosix }, async (test) => {
    const folder = await temporaryFolder(test);
    await host(folder);
    await run('chmod', ['-R', 'a-w,a+rX', folder]);
    const otherUser = isRoot ? { uid: 65_534 } : {};
    const reports = await host(folder, undefined, otherUser).finally(() => run('chmod', ['-R', 'u+w', folder]));
    assertAllCame(reports);
    for (const { sources } of reports) assert.deepEqual(sources, ['store']);
  });

  it('continues with an unreadable folder', { skip: !isPosix }, async (test) => {
    const folder = await temporaryFolder(test);
    const closed = join(folder, 'closed');
    await mkdir(closed);
    await chmod(folder, 0o755);
    await chmod(closed, 0o000);
    const reports = await host(closed, undefined, isRoot ? { uid: 65_534 } : {});
    assertAllCame(reports);
    for (const { sources, problems } of reports) {
      assert.deepEqual(sources, ['network']);
      assert.deepEqual(new Set(problems), new Set(['store_failed: EACCES']));
    }
    await chmod(closed, 0o700);
  });

  it('returns no wrong byte of damaged files, in a hundred rounds', async (test) => {
    test.diagnostic(`FAULTS_SEED=${seed}`);
    const folder = await temporaryFolder(test);
    const random = createRandom(seed);
    const guests = ['a guest', 'b', 'c/d'];
    const modules = new Map([['a guest', module]]);
    for (const key of guests.slice(1)) {
      const other = numberedModule(modules.size + 1, random, random.below(5_000));
      await stage.invite(key);
      await stage.publish(key, `plugin.${modules.size}`, other);
      modules.set(key, other);
    }
    const damages = new Map<string, number>();
    const reported = new Map<string, number>();
    for (let round = 0; round < 100; round++) {
      const done = await damageFiles(folder, random);
      for (const name of done) damages.set(name, (damages.get(name) ?? 0) + 1);
      const client = createClient({
        baseUrl: stage.url,
        token: stage.token,
        store: diskStore({ directory: folder }),
        streaming: false,
      });
      client.on('error', ({ error }) => reported.set(error.code, (reported.get(error.code) ?? 0) + 1));
      for (const key of guests) {
        const [binding] = Object.values(
          (await client.getBindings({ extensionPointId: stage.extensionPointId, guestKey: key })).bindings,
        );
        const bytes = await client.getContent(binding?.contentAddress ?? '');
        assert.equal(addressOf(bytes), modules.get(key)?.address);
      }
      await client.close();
    }
    test.diagnostic(
      `done: ${JSON.stringify(Object.fromEntries(damages))}, reported: ${JSON.stringify(Object.fromEntries(reported))}`,
    );
    assert.ok((reported.get('damaged_entry') ?? 0) > 10);
  });
});

async function assertNothingInPart(folder: string): Promise<void> {
  const left = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { parentPath, name } of left) {
    assert.ok(!parentPath.includes('partial'), join(parentPath, name));
  }
}

/** Damages about every third file, as disks, people and programs do. */
async function damageFiles(folder: string, random: Random): Promise<string[]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  // A folder in place of a file stays until it is removed.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() && /^[0-9a-f]{64}$/.test(entry.name)) {
      await rmdir(join(entry.parentPath, entry.name)).catch(() => {}); // a folder with files belongs there
    }
  }
  const files = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const done: string[] = [];
  for (const file of files) {
    if (!random.chance(0.35)) continue;
    const bytes = await readFile(file);
    const ways: Readonly<Record<string, () => Promise<void>>> = {
      async bit() {
        const at = random.below(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        await writeFile(file, bytes);
      },
      cut: () => writeFile(file, bytes.subarray(0, random.below(bytes.length))),
      empty: () => writeFile(file, ''),
      zeroes: () => writeFile(file, Buffer.alloc(bytes.length)),
      longer: () => writeFile(file, Buffer.concat([bytes, Buffer.from('\n')])),
      async other() {
        await writeFile(file, await readFile(random.pick(files)).catch(() => ''));
      },
      gone: () => rm(file),
      async folder() {
        await rm(file);
        await mkdir(file);
      },
    };
    const name = random.pick(Object.keys(ways));
    await ways[name]?.();
    done.push(name);
  }
  return done;
}
