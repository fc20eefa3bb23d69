// Makes what operators install, out of one tree: a Debian package, and an image where there is a container engine.
//
//   npm run package                       into build/
//   npm run package -- --out <folder>     into another folder
//   npm run package -- deb | image        one of them alone; fails if it can't be made
//
// Without a choice, it makes what it has the tools for, and names what it left out.
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { makeDebianPackage } from './lib/debian-package.mjs';
import { makeInstalledTree } from './lib/installed-tree.mjs';
import { root } from './lib/workspace.mjs';

const kinds = { deb: makeDeb, image: makeImage };

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
const out = values.out === undefined ? join(root, 'build') : resolve(process.env.INIT_CWD ?? '.', values.out);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
mkdirSync(out, { recursive: true });
for (const kind of positionals.filter((kind) => !(kind in kinds))) {
  console.error(`There is no package ${kind}, only ${Object.keys(kinds).join(' and ')}`);
  process.exit(2);
}
for (const [kind, make] of Object.entries(kinds)) {
  const isWanted = positionals.includes(kind);
  if (positionals.length > 0 && !isWanted) continue;
  const missing = make();
  if (missing === undefined) continue;
  console.error(`Not made: ${kind}. ${missing}`);
  if (isWanted) process.exitCode = 1;
}

/** @returns {string | undefined} why it was not made */
function makeDeb() {
  if (process.platform !== 'linux')
    return 'It contains the Node.js of the machine that makes it, and this is not Linux.';
  if (!runs('dpkg-deb', '--version')) return 'There is no dpkg-deb.';
  const work = mkdtempSync(join(tmpdir(), 'tenon-package-'));
  try {
    const [tree, staging] = [join(work, 'tree'), join(work, 'deb')];
    mkdirSync(tree);
    makeInstalledTree(tree);
    report(makeDebianPackage({ tree, staging, out, version, builtAt: builtAt() }));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return undefined;
}

/** @returns {string | undefined} why it was not made */
function makeImage() {
  const name = `tenon:${version}`;
  const file = join(out, `tenon-${version}-image.tar`);
  const build = ['build', '-f', join(root, 'deploy', 'Dockerfile'), '-t', name, root];
  if (runs('docker', 'info')) {
    run('docker', ...build);
    run('docker', 'save', '-o', file, name);
  } else if (runs('podman', 'info')) {
    run('podman', ...build);
    run('podman', 'save', '--format', 'oci-archive', '-o', file, name);
  } else if (runs('buildah', 'info')) {
    run('buildah', ...build);
    run('buildah', 'push', name, `oci-archive:${file}`);
  } else return 'No container engine responds: docker, podman, or buildah.';
  report(file);
  return undefined;
}

/** The time of the commit, so that the same commit makes the same bytes; npm's fixed time outside a repository. */
function builtAt() {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? Number(stdout) : 499162500;
}

/**
 * @param {string} program
 * @param {string} question
 */
function runs(program, question) {
  return spawnSync(program, [question], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, ...args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`\`${program} ${args.join(' ')}\` failed`);
}

/** @param {string} file */
function report(file) {
  console.log(`${file} (${(statSync(file).size / 2 ** 20).toFixed(1)} MiB)`);
}
