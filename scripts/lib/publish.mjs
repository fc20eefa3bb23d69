import { packArchive } from './archive.mjs';
import { buildCli, cliEntry } from './cli-package.mjs';
import { buildLibrary, libraries } from './library-package.mjs';

/** The packages that Tenon publishes, by their folders in packages/. */
export const published = [...libraries, 'cli'];

/**
 * @typedef {object} PublishedPackage
 * @property {string} name such as `@tenon/client`
 * @property {string} version
 * @property {string} file the archive's name, as `npm pack` gives it: `tenon-client-0.1.0.tgz`
 * @property {ReadonlyMap<string, string | Uint8Array>} files by their paths in the package
 * @property {Buffer} archive
 */

/**
 * Builds and packs a package.
 *
 * @param {string} folder one of {@link published}
 * @returns {Promise<PublishedPackage>}
 */
export async function buildPackage(folder) {
  const files = folder === 'cli' ? await buildCli() : await buildLibrary(folder);
  const { name, version } = JSON.parse(String(files.get('package.json')));
  const file = `${name.slice(1).replace('/', '-')}-${version}.tgz`;
  return { name, version, file, files, archive: packArchive(files, new Set([cliEntry])) };
}
