// Compares the Node.js executables that the workspace installs from the package registry with the official release, and writes the result
// to docs/reference/node-binaries.md. Run it whenever a version of them changes; a test fails until then.
//
//   node scripts/compare-node.mjs [--from https://nodejs.org/dist]
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { nodeBinariesPage, pinnedNodes } from './lib/node-binaries.mjs';
import { root } from './lib/workspace.mjs';

const option = process.argv.indexOf('--from');
const from = (option > 0 ? process.argv[option + 1] : undefined) ?? 'https://nodejs.org/dist';
const page = join(root, 'docs', 'reference', 'node-binaries.md');
const folder = mkdtempSync(join(tmpdir(), 'tenon-compare-node-'));
try {
  const rows = [];
  for (const pinned of pinnedNodes(root)) {
    const executable = await fromRegistry(pinned);
    const result = await compare(pinned, executable);
    console.log(`${pinned.name}@${pinned.version}: ${result}`);
    rows.push({ ...pinned, sha256: sha256(executable), result });
    if (result.startsWith('differs')) process.exitCode = 1;
  }
  writeFileSync(page, nodeBinariesPage(rows, new Date().toISOString().slice(0, 10)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * The executable as the registry has it, held against the lock file's digest.
 *
 * @param {import('./lib/node-binaries.mjs').PinnedNode} pinned
 */
async function fromRegistry({ name, version, integrity, executable }) {
  const target = mkdtempSync(join(folder, 'package-'));
  run('npm', ['pack', `${name}@${version}`, '--pack-destination', target, '--silent']);
  const [file = ''] = readdirSync(target);
  const bytes = readFileSync(join(target, file));
  const digest = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (digest !== integrity)
    throw new Error(`${name}@${version}: the registry's archive is not the one in package-lock.json`);
  run('tar', ['-xzf', join(target, file), '-C', target, `package/${executable}`]);
  return readFileSync(join(target, 'package', executable));
}

/**
 * @param {import('./lib/node-binaries.mjs').PinnedNode} pinned
 * @param {Buffer} executable
 */
async function compare({ version, archive, path }, executable) {
  try {
    const sums = (await download(`${from}/v${version}/SHASUMS256.txt`)).toString();
    const wanted = sums
      .split('\n')
      .find((line) => line.endsWith(`  ${archive}`))
      ?.split(' ')[0];
    if (wanted === undefined) return `not compared: SHASUMS256.txt of ${version} does not list ${archive}`;
    if (path === undefined) return wanted === sha256(executable) ? 'the same' : 'differs';
    const bytes = await download(`${from}/v${version}/${archive}`);
    if (sha256(bytes) !== wanted) return `differs: ${archive} does not have the digest in SHASUMS256.txt`;
    const target = mkdtempSync(join(folder, 'official-'));
    writeFileSync(join(target, 'archive'), bytes);
    run('tar', ['-xzf', join(target, 'archive'), '-C', target, path]);
    return sha256(readFileSync(join(target, path))) === sha256(executable) ? 'the same' : 'differs';
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return `not compared: ${new URL(from).host} could not be reached (${cause instanceof Error && 'code' in cause ? cause.code : cause})`;
  }
}

/** @param {string} url */
async function download(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) });
  if (!response.ok) throw new Error(`HTTP ${response.status} for ${url}`);
  return Buffer.from(await response.arrayBuffer());
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed: ${error?.message ?? stderr}`);
}

/** @param {Uint8Array} bytes */
function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
