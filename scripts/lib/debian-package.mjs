// Makes a Debian package: https://www.debian.org/doc/debian-policy/
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { entriesBelow } from './installed-tree.mjs';
import { formatBom, serverBom } from './sbom.mjs';
import { root } from './workspace.mjs';

/** Debian's names of the machines for which the registry has a Node.js. */
const architectures = /** @type {const} */ ({ x64: 'amd64', arm64: 'arm64' });

/**
 * @param {{ tree: string, staging: string, out: string, version: string, builtAt: number, compression?: 'xz' | 'none' }} what `tree`: made by `makeInstalledTree()`,
 *   which is moved; `staging`: an empty folder; `out`: the folder of the package; `builtAt`: the time of its files, in seconds
 * @returns {string} the package's file
 */
export function makeDebianPackage({ tree, staging, out, version, builtAt, compression = 'xz' }) {
  const architecture = architectures[/** @type {keyof typeof architectures} */ (process.arch)];
  if (architecture === undefined) throw new Error(`Debian's name of the architecture ${process.arch} is not known`);
  cpSync(tree, join(staging, 'opt', 'tenon'), { recursive: true, verbatimSymlinks: true });
  const systemd = join(root, 'deploy', 'systemd');
  const unit = readFileSync(join(systemd, 'tenon.service'), 'utf8').replace(/^Documentation=.*\n/m, '');
  write('usr/lib/systemd/system/tenon.service', unit);
  write('usr/bin/tenon', readFileSync(join(systemd, 'tenon')), 0o755);
  // Without a setting, the server listens on this machine alone.
  write('etc/tenon/tenon.env', readFileSync(join(systemd, 'tenon.env'), 'utf8').replaceAll(/^(?=TENON_)/gm, '# '));
  write('usr/share/doc/tenon/copyright', copyright());
  write('usr/share/doc/tenon/changelog.gz', gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 }));
  write('usr/share/doc/tenon/tenon.cdx.json', formatBom(serverBom()));
  const size = folderSize(staging);
  for (const name of ['postinst', 'prerm', 'postrm']) write(`DEBIAN/${name}`, readDebian(name), 0o755);
  write('DEBIAN/conffiles', '/etc/tenon/tenon.env\n');
  const values = { VERSION: version, ARCHITECTURE: architecture, INSTALLED_SIZE: String(Math.ceil(size / 1024)) };
  write(
    'DEBIAN/control',
    readDebian('control').replace(/@(\w+)@/g, (_, name) => values[/** @type {keyof typeof values} */ (name)]),
  );
  chmodSync(staging, 0o755);
  normalizeModes(staging);
  chmodSync(join(staging, 'etc', 'tenon', 'tenon.env'), 0o600); // it may hold secrets
  const file = join(out, `tenon_${version}_${architecture}.deb`);
  mkdirSync(out, { recursive: true });
  packFolder({ folder: staging, file, builtAt, compression });
  rmSync(staging, { recursive: true });
  return file;

  /**
   * @param {string} path
   * @param {string | Uint8Array} content
   * @param {number} [mode]
   */
  function write(path, content, mode = 0o644) {
    mkdirSync(dirname(join(staging, path)), { recursive: true });
    writeFileSync(join(staging, path), content, { mode });
  }
}

/**
 * Packs a folder with its `DEBIAN/control`. The same files make the same bytes with the same version of dpkg-deb.
 *
 * @param {{ folder: string, file: string, builtAt: number, compression: 'xz' | 'none' }} what
 */
function packFolder({ folder, file, builtAt, compression }) {
  const { status, error } = spawnSync('dpkg-deb', ['--build', '--root-owner-group', `-Z${compression}`, folder, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SOURCE_DATE_EPOCH: String(builtAt) },
  });
  if (status !== 0) throw new Error(`dpkg-deb failed${error === undefined ? '' : `: ${error.message}`}`);
}

/** @param {string} name */
function readDebian(name) {
  return readFileSync(join(root, 'deploy', 'debian', name), 'utf8');
}

function copyright() {
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tenon

Files: *
Copyright: the authors of Tenon
License: Apache-2.0
 The license is in /usr/share/common-licenses/Apache-2.0.

Files: opt/tenon/node_modules/*
Copyright: the authors of these packages
License: several
 Each package contains its own license. That of Node.js is in /opt/tenon/node_modules/.bin/LICENSE.
`;
}

/**
 * Gives all files below a folder the modes that a package has, whatever this user's umask is.
 *
 * @param {string} folder
 */
function normalizeModes(folder) {
  for (const { path, entry } of entriesBelow(folder)) {
    if (!entry.isSymbolicLink())
      chmodSync(path, entry.isDirectory() || (statSync(path).mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}

/** @param {string} folder */
function folderSize(folder) {
  let size = 0;
  for (const { path, entry } of entriesBelow(folder)) size += entry.isFile() ? statSync(path).size : 0;
  return size;
}
