import { existsSync } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CliError, usageError } from '../errors.ts';
import { fileError } from '../files.ts';
import { maxTenonTomlBytes, parseTenonToml, type TenonToml, tenonTomlName } from './tenon-toml.ts';
import { parseXtpToml, xtpTomlName } from './xtp-toml.ts';

/** A plugin's folder: where its `tenon.toml` is, or its `xtp.toml`. */
export interface Project {
  readonly folder: string;
  /** The path of the file. */
  readonly file: string;
  /** The name of the file. */
  readonly fileName: string;
  readonly settings: TenonToml;
  readonly warnings: readonly string[];
}

const parsers = [
  [tenonTomlName, parseTenonToml],
  [xtpTomlName, parseXtpToml],
] as const;

/**
 * Finds the `tenon.toml`, or else the `xtp.toml`, of the folder or of the nearest one above it that has one, and reads it.
 *
 * @returns `undefined` when there is none
 * @throws CliError for one that can't be read or is wrong
 */
export async function findProject(from: string): Promise<Project | undefined> {
  const start = resolve(from);
  for (let folder = start; ; folder = dirname(folder)) {
    for (const [fileName, parse] of parsers) {
      const file = join(folder, fileName);
      const text = await readIfThere(file, folder === start ? undefined : start);
      if (text === undefined) continue;
      const { settings, warnings } = parse(text, relative(start, file) || fileName);
      const isIgnored = fileName === tenonTomlName && existsSync(join(folder, xtpTomlName));
      const note = `${tenonTomlName} is used; the ${xtpTomlName} beside it is ignored.`;
      return { folder, file, fileName, settings, warnings: isIgnored ? [...warnings, note] : warnings };
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** @param below the folder from which it was searched, when the file lies further up */
async function readIfThere(file: string, below: string | undefined): Promise<string | undefined> {
  let handle: FileHandle;
  try {
    // Reading a pipe could wait forever.
    if (!(await stat(file)).isFile()) throw usageError(`${file} is not a file.`);
    handle = await open(file, 'r');
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'EACCES' && below !== undefined) return undefined; // others' folders are none of our business
    throw fileError(`Cannot read ${file}`, cause);
  }
  try {
    if (below !== undefined) await assertSameOwner(handle, file, below);
    return await readText(handle, file);
  } finally {
    await handle.close();
  }
}

/** A file that another user has put into a parent folder, such as /tmp, must not decide what is published or run here. */
async function assertSameOwner(handle: FileHandle, file: string, below: string): Promise<void> {
  const [{ uid }, own] = [await handle.stat(), await stat(below)];
  if (uid === own.uid || uid === 0) return;
  throw usageError(
    `${file} belongs to another user than ${below}: it is not taken.`,
    'If you trust it, name its folder with --project.',
  );
}

async function readText(handle: FileHandle, file: string): Promise<string> {
  const bytes = Buffer.alloc(maxTenonTomlBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    ({ bytesRead: read } = await handle.read(bytes, length, bytes.length - length));
  }
  if (length > maxTenonTomlBytes) {
    throw usageError(`${file} is larger than the ${maxTenonTomlBytes / 1024} KiB that it may have.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } catch {
    throw usageError(`${file} is not UTF-8 text.`);
  }
}

/**
 * Where the module is that a `tenon.toml` names. The file is untrusted: it can't name a file outside of its folder,
 * not through links either, which would be uploaded then.
 *
 * @returns its path; `isThere` says whether there is such a file
 * @throws CliError for a path that leads out of the folder
 */
export function findModule(project: Pick<Project, 'folder' | 'fileName'>, module: string): Promise<FoundFile> {
  const hint = 'To publish it anyway: tenon plugin push <module>';
  return findInProject(project, module, { what: 'module', hint });
}

export interface FoundFile {
  readonly path: string;
  readonly isThere: boolean;
}

/** As {@link findModule}, for any file. */
export async function findInProject(
  { folder, fileName }: Pick<Project, 'folder' | 'fileName'>,
  name: string,
  { what, hint }: { readonly what: string; readonly hint: string },
): Promise<FoundFile> {
  if (/^https?:\/\//i.test(name)) {
    throw usageError(
      `The ${what} that ${fileName} names is a URL, which is not fetched: ${name}`,
      'Download it, and name the file.',
    );
  }
  const path = resolve(folder, name);
  const outside = () => usageError(`The ${what} that ${fileName} names is outside of its folder: ${name}`, hint);
  if (isAbsolute(name) || !isWithin(folder, path)) throw outside();
  try {
    if (!isWithin(await realpath(folder), await realpath(path))) throw outside();
    return { path, isThere: true };
  } catch (error) {
    if (error instanceof CliError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { path, isThere: false };
    throw fileError(`Cannot read the ${what} from ${path}`, error);
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
