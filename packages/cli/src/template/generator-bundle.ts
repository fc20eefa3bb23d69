import { type Dirent, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { parse } from 'yaml';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileError } from '../files.ts';
import { formatSize, printable } from '../text.ts';
import { findClash, pathFault } from './safe-path.ts';
import { readZip, ZipError } from './zip.ts';

/** A generator for `xtp plugin init`: https://github.com/dylibso/xtp-bindgen. */
export interface GeneratorBundle {
  /** An Extism plugin that exports `render`. */
  readonly plugin: Uint8Array;
  /** The files of `template/` by path, with `/`. */
  readonly template: ReadonlyMap<string, Uint8Array>;
  /** The ending of files that are rendered: `.ejs`. */
  readonly suffix: string;
  /** The names of the flags that it knows; `undefined` if it doesn't say. */
  readonly featureFlags: readonly string[] | undefined;
}

/** Limits of a bundle. `totalBytes` is also that of the zip file. */
export const bundleLimits = { entries: 2_000, totalBytes: 64 * 1024 ** 2, ratio: 200 };
const pluginName = 'plugin.wasm';
const configName = 'config.yaml';

/**
 * Reads a bundle: a zip file, or a folder with the same files. They can lie in one folder within it, as `bundle.sh` packs them.
 *
 * @throws CliError
 */
export async function readGeneratorBundle(path: string): Promise<GeneratorBundle> {
  const fault = (message: string) =>
    new CliError('invalid_generator', `${printable(path)} is not a generator: ${message}.`, {
      exitCode: exitCodes.refused,
    });
  const files = await readBundleFiles(path).catch((cause) => {
    if (cause instanceof ZipError) throw fault(`the archive ${cause.message}`);
    if (cause instanceof BundleError) throw fault(cause.message);
    throw fileError(`Cannot read the generator ${path}`, cause);
  });
  for (const name of files.keys()) {
    const why = pathFault(name);
    if (why !== undefined) throw fault(`the path ${shownName(name)} ${why}`);
  }
  const root = rootOf(files);
  const plugin = files.get(`${root}${pluginName}`);
  if (plugin === undefined) throw fault(`it has no ${pluginName}`);
  const folder = `${root}template/`;
  const template = new Map(
    [...files].filter(([name]) => name.startsWith(folder)).map(([name, bytes]) => [name.slice(folder.length), bytes]),
  );
  if (template.size === 0) throw fault('it has no files in template/');
  try {
    return { plugin, template, ...readConfig(files.get(root + configName)) };
  } catch (cause) {
    throw fault(`its ${configName} is invalid: ${printable(cause instanceof Error ? cause.message : String(cause))}`);
  }
}

class BundleError extends Error {}

/** Writes a path of a bundle for people. */
export function shownName(name: string): string {
  return printable(JSON.stringify(name.length > 200 ? `${name.slice(0, 200).toWellFormed()}…` : name));
}

async function readBundleFiles(path: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = await stat(path);
  if (found.isDirectory()) return readFolder(path);
  if (!found.isFile()) throw new BundleError('it is neither a file nor a folder');
  if (found.size > bundleLimits.totalBytes) throw tooLarge();
  const { entries, totalBytes, ratio } = bundleLimits;
  const files = readZip(await readFile(path), { maxEntries: entries, maxTotalBytes: totalBytes, maxRatio: ratio });
  const clash = findClash(files.map(({ name }) => name));
  if (clash !== undefined) throw new BundleError(`it has ${shownName(clash[0])} and ${shownName(clash[1])}`);
  return new Map(files.map(({ name, bytes }) => [name, bytes]));
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  let totalBytes = 0;
  const add = async (entry: Dirent) => {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path).replaceAll(sep, '/');
    if (entry.isDirectory()) return;
    if (!entry.isFile()) throw new BundleError(`${shownName(name)} is a link or a device`);
    totalBytes += statSync(path).size;
    if (totalBytes > bundleLimits.totalBytes) throw tooLarge();
    if (files.size >= bundleLimits.entries) throw new BundleError(`it has more than ${bundleLimits.entries} files`);
    files.set(name, await readFile(path));
  };
  // Only what belongs to a bundle is read: the folder can be a repository.
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === pluginName || entry.name === configName) await add(entry);
    if (entry.name !== 'template' || !entry.isDirectory()) continue;
    const within = await readdir(join(folder, entry.name), { recursive: true, withFileTypes: true });
    for (const each of within) await add(each);
  }
  return files;
}

function tooLarge(): BundleError {
  return new BundleError(`it is larger than ${formatSize(bundleLimits.totalBytes)}`);
}

function rootOf(files: ReadonlyMap<string, unknown>): string {
  if (files.has(pluginName)) return '';
  const within = [...files.keys()].find((name) => name.split('/').length === 2 && name.endsWith(`/${pluginName}`));
  return within?.slice(0, -pluginName.length) ?? '';
}

function readConfig(bytes: Uint8Array | undefined): Pick<GeneratorBundle, 'suffix' | 'featureFlags'> {
  const config: unknown = bytes && parse(new TextDecoder().decode(bytes), { maxAliasCount: 0 });
  const read = (key: string): unknown =>
    typeof config === 'object' && config !== null ? (config as Record<string, unknown>)[key] : undefined;
  const suffix = read('template-suffix') ?? 'ejs';
  if (typeof suffix !== 'string' || !/^\.?[A-Za-z0-9_-]{1,20}$/.test(suffix)) {
    throw new Error('template-suffix must be letters and digits');
  }
  const flags = read('available-feature-flags');
  const names = Array.isArray(flags)
    ? flags.map((flag: unknown) => (flag as { name?: unknown } | null)?.name)
    : undefined;
  return {
    suffix: `.${suffix.replace(/^\./, '')}`,
    featureFlags: names?.filter((name) => typeof name === 'string'),
  };
}
