// Makes a publishable package of a library: JavaScript and declarations out of the TypeScript that the workspace itself runs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { transformSync } from 'rolldown/utils';
import { findFiles, root } from './workspace.mjs';

/** The libraries that Tenon publishes. */
export const libraries = ['client', 'instrument', 'trace'];

/**
 * @param {string} name a folder of packages/
 * @returns {Promise<Map<string, string>>} the package's files, by their paths in it
 * @throws {Error} for a declaration whose type the sources don't state
 */
export async function buildLibrary(name) {
  const folder = join(root, 'packages', name);
  const files = new Map([['package.json', `${JSON.stringify(publishedManifest(folder), null, 2)}\n`]]);
  for (const file of findFiles(['**/*.ts'], join(folder, 'src'))) {
    if (/\.(?:test|proof)\.ts$/.test(file)) continue;
    const source = readFileSync(join(folder, 'src', file), 'utf8');
    const {
      code,
      declaration = '',
      errors,
    } = transformSync(join(folder, 'src', file), source, {
      target: 'es2024',
      typescript: { declaration: {}, rewriteImportExtensions: true },
    });
    if (errors.length > 0) throw new Error(errors.map((error) => `${name}/src/${file}: ${error.message}`).join('\n'));
    const usesOthers = /from ['"]@tenon\//.test(code);
    files.set(file.replace(/\.ts$/, '.js'), usesOthers ? await withOthers(join(folder, 'src', file)) : code);
    files.set(file.replace(/\.ts$/, '.d.ts'), keptReferences(source) + pointAtJavaScript(declaration));
  }
  return withDocuments(files, folder);
}

/**
 * Bundles what a module imports of the workspace's other packages, which a published package does not depend on.
 *
 * @param {string} file
 */
async function withOthers(file) {
  const bundle = await rolldown({
    input: file,
    external: /^(?!\.|\/|@tenon\/)/,
    transform: { target: 'es2024' },
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}

/**
 * @param {Map<string, string>} files
 * @param {string} folder the package's sources
 */
export function withDocuments(files, folder) {
  files.set('LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8'));
  const readme = join(folder, 'README.md');
  if (existsSync(readme)) files.set('README.md', readFileSync(readme, 'utf8'));
  return files;
}

/**
 * The references to libraries that declarations keep:
 * https://www.typescriptlang.org/docs/handbook/release-notes/typescript-5-5.html#simplified-reference-directive-declaration-emit
 *
 * @param {string} source
 */
function keptReferences(source) {
  return source.match(/^(?:\/\/\/ <reference .* preserve="true" \/>\n)*/)?.[0] ?? '';
}

/**
 * In JavaScript the compiler changes the endings of what is imported, in declarations it doesn't.
 *
 * @param {string} declarations
 */
function pointAtJavaScript(declarations) {
  return declarations.replace(/((?:\bfrom|\bimport\()\s*)(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2');
}

/**
 * The manifest as others get it: what is imported is JavaScript beside it.
 *
 * @param {string} folder
 */
function publishedManifest(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
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
