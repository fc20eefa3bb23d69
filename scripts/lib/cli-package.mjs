// Makes the package of the command line: bundled JavaScript that needs no other package, without the server.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { withDocuments } from './library-package.mjs';
import { findFiles, root } from './workspace.mjs';

const folder = join(root, 'packages', 'cli');
const source = join(folder, 'src');

/** What the package has instead of modules of the source tree. */
const replacements = new Map([
  [join(source, 'locations.ts'), join(source, 'packaged', 'locations.ts')],
  [join(source, 'commands', 'serve.ts'), join(source, 'packaged', 'server-commands.ts')],
  [join(source, 'commands', 'admin.ts'), join(source, 'packaged', 'server-commands.ts')],
]);

/** The package's file that `tenon` runs. */
export const cliEntry = 'tenon.mjs';

/**
 * @returns {Promise<Map<string, string | Uint8Array>>} the package's files, by their paths in it
 * @throws {Error} if the bundle imports anything but Node.js, or holds a part of the server
 */
export async function buildCli() {
  const bundle = await rolldown({
    input: {
      main: join(source, 'main.ts'),
      worker: join(source, 'trace', 'worker.ts'),
      'simulation-worker': join(source, 'testing', 'worker.ts'),
    },
    platform: 'node',
    external: /^node:/,
    transform: { target: 'node22' },
    onLog(_, { message }) {
      throw new Error(message);
    },
    plugins: [{ name: 'replace', resolveId: (specifier, importer = '') => replacementOf(specifier, importer) }],
  });
  const { output } = await bundle.generate({ chunkFileNames: '[name]-[hash].js', entryFileNames: '[name].js' });
  await bundle.close();
  /** @type {Map<string, string | Uint8Array>} */
  const files = new Map(withDocuments(new Map(), folder));
  const modules = new Set();
  for (const chunk of output) {
    if (chunk.type !== 'chunk') throw new Error(`the bundle has the file ${chunk.fileName}, which nothing expects`);
    files.set(chunk.fileName, chunk.code);
    for (const id of chunk.moduleIds) modules.add(id.replaceAll('\\', '/'));
  }
  const ofServer = [...modules].find((id) => id.includes('/packages/server/'));
  if (ofServer !== undefined) throw new Error(`the package of the command line holds ${ofServer}`);
  files.set(cliEntry, readFileSync(join(folder, 'bin', 'packaged.mjs'), 'utf8'));
  files.set('package.json', `${JSON.stringify(await manifest(), null, 2)}\n`);
  files.set('THIRD-PARTY-LICENSES', thirdPartyLicenses(modules));
  files.set('demangler.wasm', readFileSync(join(root, 'node_modules', 'gecko-profiler-demangle', 'index_bg.wasm')));
  for (const file of findFiles(['templates/**/*.*', 'templates/**/gitignore'], folder)) {
    files.set(file, readFileSync(join(folder, file)));
  }
  return files;
}

/**
 * @param {string} specifier
 * @param {string} importer
 */
function replacementOf(specifier, importer) {
  return specifier.startsWith('.') ? replacements.get(resolve(dirname(importer), specifier)) : undefined;
}

async function manifest() {
  // Imported here, so that a Node.js without TypeScript gets as far as the check of its version.
  const { locations } = await import('../../packages/cli/src/packaged/locations.ts');
  const { name, version, description, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin: { tenon: cliEntry },
    engines: { node: locations.neededNode },
  };
}

/**
 * The licenses of the packages that are part of the bundle, which ask for their text to go with it.
 *
 * @param {ReadonlySet<string>} modules
 */
function thirdPartyLicenses(modules) {
  const names = new Set(
    [...modules].flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []).sort(),
  );
  const texts = [...names].map((name) => {
    const from = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
    const licenses = readdirSync(from)
      .filter((file) => /^licen[cs]e/i.test(file))
      .sort();
    const text = licenses.map((file) => readFileSync(join(from, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
