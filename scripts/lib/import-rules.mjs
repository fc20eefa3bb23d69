// Which way imports may go. docs/explanation/architecture.md explains the rooms; this is what holds them apart.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, posix } from 'node:path';
import { findCycles } from './cycles.mjs';
import { blankComments, importsOf } from './imports.mjs';
import { findFiles } from './workspace.mjs';

/** What each package may import of the others. A package that isn't listed may import none. */
const allowed = new Map([
  ['protocol', []],
  ['extension-schema', []],
  ['instrument', []],
  ['trace', []],
  ['run-kit', ['protocol', 'extension-schema', 'instrument', 'trace']],
  ['client', ['protocol', 'extension-schema']],
  ['server', ['protocol', 'extension-schema', 'instrument', 'trace', 'run-kit']],
  ['console', ['protocol', 'extension-schema', 'instrument', 'trace', 'run-kit']],
  ['cli', ['protocol', 'extension-schema', 'client', 'instrument', 'trace', 'run-kit', 'server']],
]);

/** What the published package of a library contains of the others: they are no dependencies of it. */
const bundled = new Map([['client', ['@tenon/extension-schema']]]);

/** What the tests and benches of a package may import besides: what it works on is made there. */
const allowedInTests = new Map([
  ['trace', ['instrument']],
  ['client', ['instrument']],
  ['extension-schema', ['protocol']],
]);

/**
 * The layers of the server's sources, the lowest first. A file may import from its own layer and from lower ones: a feature from
 * `http/` and `db/`, and never the reverse. A folder is one layer; a file at the top is one too, or belongs to the last.
 */
const serverLayers = [
  ...['config/', 'workers/', 'cache/', 'db/', 'blobs/', 'http/', 'mail/'],
  ...[
    'audit/',
    'auth/',
    'attestations/',
    'plugins/',
    'webhooks/',
    'apps/',
    'changes/',
    'instrument/',
    'simulations/',
    'bundles/',
    'oci/',
    'mirror/',
    'console/',
    'packages/',
    'usage/',
    'call-reports/',
    'docs/',
  ],
  ...['queries.ts', 'open-stores.ts', 'ops/', ''],
];

/** Files of the server that list what all layers consist of. Every layer may import types from them. */
const serverTypes = ['services.ts', 'deps.ts', 'queries.ts'];

/** Packages whose sources run in any JavaScript host. */
const hostNeutral = new Set(['protocol', 'extension-schema', 'instrument', 'trace', 'run-kit', 'client', 'console']);

/** Files of these that are made for what has Node's built-ins, behind an export of their own. */
const forNode = ['packages/client/src/disk/'];

/** Files that may read the environment, by base name: where configuration is parsed. */
const mayReadEnvironment = new Set(['config.ts', 'environment.ts']);

/**
 * Checks every import of every package, example and root test.
 *
 * @param {string} root the workspace's folder
 * @returns {string[]} what is wrong, one line each, sorted; empty when nothing is
 */
export function importFaults(root) {
  const files = findFiles(
    ['packages/*/{src,test,bench,bin}/**/*.{ts,tsx,mjs}', 'examples/*/**/*.{ts,mjs}', 'test/**/*.ts'],
    root,
  );
  /** @type {string[]} */
  const faults = [];
  /** @type {Map<string, string[]>} */
  const edges = new Map();
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const targets = [];
    for (const { specifier: written, line, isType } of importsOf(text)) {
      // What follows tells the bundler how to hand the file over.
      const specifier = written.replace(/\?.*$/, '');
      const fault = specifier.startsWith('.')
        ? (relativeFault(root, file, specifier) ?? layerFault(file, specifier, isType))
        : packageFault(root, file, specifier);
      if (fault !== undefined) faults.push(`${file}:${line} imports ${written}: ${fault}`);
      if (specifier.startsWith('.')) targets.push(posix.join(posix.dirname(file), specifier));
    }
    edges.set(file, targets);
    faults.push(...environmentFaults(file, text));
  }
  faults.push(...findCycles(edges).map((cycle) => `${cycle.join(' → ')}: an import cycle`));
  return faults.sort();
}

/**
 * @param {string} root
 * @param {string} file
 * @param {string} specifier
 */
function relativeFault(root, file, specifier) {
  const target = posix.join(posix.dirname(file), specifier);
  // What opens a browser or a whole server is there once, for the tests of every package.
  const isShared = !isSource(file) && target.startsWith('test/helpers/');
  // The tests of the whole use what the tests of its parts open, type and look at.
  const isOfTheWhole = file.startsWith('test/') && /^packages\/[^/]+\/test\/helpers\//.test(target);
  if (roomOf(target) !== roomOf(file) && !isShared && !isOfTheWhole)
    return "reaches into another package's files; import it by its name";
  if (isSource(file) && !isSource(target) && basename(target) !== 'package.json')
    return 'a source file depends on a test, a bench or a script';
  return existsSync(join(root, target)) ? undefined : 'there is no such file';
}

/**
 * @param {string} file
 * @param {string} specifier
 * @param {boolean} isType
 */
function layerFault(file, specifier, isType) {
  const from = inServer(file);
  const to = inServer(posix.join(posix.dirname(file), specifier));
  if (from === undefined || to === undefined || !isSource(file)) return undefined;
  const [own, other] = [layerOf(from), layerOf(to)];
  if (own === -1) return `${posix.dirname(from)}/ is not among the layers of packages/server`;
  if (other <= own || (isType && serverTypes.includes(to))) return undefined;
  return `${serverLayers[own]} is a lower layer of packages/server`;
}

/**
 * The path below the server's sources; `undefined` elsewhere.
 *
 * @param {string} file
 */
function inServer(file) {
  const folder = 'packages/server/src/';
  return file.startsWith(folder) ? file.slice(folder.length) : undefined;
}

/** @param {string} path below the server's sources */
function layerOf(path) {
  const [folder] = /^[^/]+\//.exec(path) ?? [];
  if (folder !== undefined) return serverLayers.indexOf(folder);
  return serverLayers.includes(path) ? serverLayers.indexOf(path) : serverLayers.length - 1;
}

/**
 * @param {string} root
 * @param {string} file
 * @param {string} specifier
 */
function packageFault(root, file, specifier) {
  const room = roomOf(file);
  const [kind, own] = room.split('/');
  if (isBuiltin(specifier)) {
    const neutral =
      kind === 'packages' &&
      hostNeutral.has(own ?? '') &&
      isSource(file) &&
      !forNode.some((folder) => file.startsWith(folder));
    return neutral ? `packages/${own} runs in any JavaScript host, without Node's built-ins` : undefined;
  }
  const name = packageName(specifier);
  const ours = name.startsWith('@tenon/') ? name.slice('@tenon/'.length) : undefined;
  if (ours !== undefined) {
    const allowedHere = [
      ...(allowed.get(own ?? '') ?? []),
      ...(isSource(file) ? [] : (allowedInTests.get(own ?? '') ?? [])),
    ];
    if (kind === 'packages' && ours !== own && !allowedHere.includes(ours)) {
      return `packages/${own} may import ${allowedHere.join(', ') || 'no other package'}`;
    }
    if (!isExported(root, ours, specifier)) return "reaches past the package's `exports`";
    if (ours === own || (own !== undefined && bundled.get(own)?.includes(name))) return undefined;
  }
  return isDeclared(root, file, name) ? undefined : `${name} is not in ${declaredIn(file)}`;
}

/**
 * @param {string} file
 * @param {string} text
 */
function environmentFaults(file, text) {
  if (!/^packages\/[^/]+\/src\//.test(file) || !isSource(file) || mayReadEnvironment.has(basename(file))) return [];
  const lines = blankComments(text).split('\n');
  return lines.flatMap((line, index) =>
    /\bprocess\.env\b|\bimport\b.*\benv\b.*['"](node:)?process['"]/.test(line)
      ? [`${file}:${index + 1} reads the environment: only ${[...mayReadEnvironment].join(' and ')} may`]
      : [],
  );
}

/**
 * Sources may use what their own package.json declares for run time; tests, benches and the root also development packages.
 *
 * @param {string} root
 * @param {string} file
 * @param {string} name
 */
function isDeclared(root, file, name) {
  const own = readManifest(root, roomOf(file));
  if (name in { ...own.dependencies, ...own.optionalDependencies, ...own.peerDependencies }) return true;
  if (isSource(file)) return false;
  const workspace = readManifest(root, '');
  return name in { ...own.devDependencies, ...workspace.dependencies, ...workspace.devDependencies };
}

/** @param {string} file */
function declaredIn(file) {
  return isSource(file) ? `${roomOf(file)}/package.json` : `${roomOf(file)}/package.json or the root's`;
}

/**
 * @param {string} root
 * @param {string} name
 * @param {string} specifier
 */
function isExported(root, name, specifier) {
  const { exports } = readManifest(root, `packages/${name}`);
  return Object.keys(exports ?? {}).includes(`.${specifier.slice(`@tenon/${name}`.length)}`);
}

/**
 * @param {string} root
 * @param {string} room
 * @returns {Partial<Record<
 *   'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies' | 'exports', Record<string, unknown>>>}
 */
function readManifest(root, room) {
  const file = join(root, room, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/**
 * The package or example that a file belongs to, as its folder; `''` for the root.
 *
 * @param {string} file
 */
function roomOf(file) {
  return /^(?:packages|examples)\/[^/]+/.exec(file)?.[0] ?? '';
}

/**
 * Whether a file is part of what a package does, and not of its tests or benches.
 *
 * @param {string} file
 */
function isSource(file) {
  return (
    /^(?:packages\/[^/]+\/(?:src|bin)|examples\/[^/]+)\//.test(file) && !/\.(?:test|proof)\.ts$|\/test\//.test(file)
  );
}

/** @param {string} specifier */
function packageName(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
