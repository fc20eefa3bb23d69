// Makes publishable packages: JavaScript and declarations out of the TypeScript that the workspace itself runs.
//
//   npm run build                          into build/<package>
//   npm run build -- --out <folder>        into <folder>/<package>
//   npm run build -- <package> …           those packages alone
//
// `npm pack` then makes an archive of each, next to the folders: tenon-client-0.1.0.tgz.
//
// Every package with a tsconfig.build.json is built: libraries, that is. What is run rather than imported (the server, the
// command line) runs from its sources.
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { findFiles, root } from './lib/workspace.mjs';

const { values, positionals: wanted } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
// npm runs scripts in the root, wherever it was called.
const out = values.out === undefined ? join(root, 'build') : resolve(process.env.INIT_CWD ?? '.', values.out);

const configs = findFiles(['packages/*/tsconfig.build.json']);
const names = configs.map((config) => basename(dirname(config)));
for (const name of wanted.filter((name) => !names.includes(name))) {
  console.error(`There is no package ${name} to build, only ${names.join(', ')}`);
  process.exit(2);
}
for (const config of configs.filter((_, place) => wanted.length === 0 || wanted.includes(names[place] ?? ''))) {
  const from = join(root, dirname(config));
  const to = join(out, basename(from));
  rmSync(to, { recursive: true, force: true });
  if (!compile(join(root, config), to)) {
    process.exitCode = 1;
    continue;
  }
  for (const file of findFiles(['**/*.d.ts'], to)) pointAtJavaScript(join(to, file));
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(publishedManifest(from), null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'));
  const readme = join(from, 'README.md');
  if (existsSync(readme)) cpSync(readme, join(to, 'README.md'));
  console.log(pack(to));
}

/**
 * @param {string} config
 * @param {string} to
 */
function compile(config, to) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', config, '--outDir', to], { stdio: 'inherit' });
  return status === 0;
}

/**
 * @param {string} folder
 * @returns the path of the archive
 */
function pack(folder) {
  const { status, stdout } = spawnSync('npm', ['pack', '--silent', '--pack-destination', out], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exitCode = 1;
  return join(out, stdout.trim());
}

/**
 * In JavaScript the compiler changes the endings of what is imported, in declarations it doesn't.
 *
 * @param {string} declarations
 */
function pointAtJavaScript(declarations) {
  const text = readFileSync(declarations, 'utf8');
  writeFileSync(declarations, text.replace(/((?:\bfrom|\bimport\()\s*)(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'));
}

/**
 * The manifest as others get it: what is imported is JavaScript beside it.
 *
 * @param {string} from
 */
function publishedManifest(from) {
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const { name, version, description, license, type, engines, dependencies, sideEffects } = manifest;
  const { peerDependencies, peerDependenciesMeta } = manifest;
  const exports = Object.fromEntries(
    Object.entries(manifest.exports).map(([name, source]) => {
      const base = /** @type {string} */ (source).replace(/^\.\/src\/(.*)\.ts$/, './$1');
      return [name, { types: `${base}.d.ts`, default: `${base}.js` }];
    }),
  );
  const needed = { dependencies, peerDependencies, peerDependenciesMeta };
  return { name, version, description, license, type, sideEffects, engines, exports, ...needed };
}
