import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configFolder } from './config-folder.ts';
import { type Credentials, formatCredentials, noCredentials, parseCredentials } from './credentials.ts';
import { CliError } from './errors.ts';
import { fileError, writeFileWhole } from './files.ts';
import type { Io } from './io.ts';
import { withLock } from './lock.ts';

/** The folder is this user's alone, and so is the file. */
const folderMode = 0o700;
const fileMode = 0o600;

/** The file of logins, and a way to warn about it. */
export type CredentialsPlace = Pick<Io, 'environment' | 'platform'> & { readonly warn: (text: string) => void };

/** The path of the file; `undefined` for a user without a home. */
export function credentialsPath({ environment, platform }: Pick<Io, 'environment' | 'platform'>): string | undefined {
  const folder = configFolder(environment, platform);
  return folder === undefined ? undefined : join(folder, 'credentials.json');
}

/**
 * Reads the logins. A file that others may read is taken from them, with a warning.
 *
 * @throws CliError when there is a file that can't be read, or that is damaged
 */
export function readCredentials(place: CredentialsPlace): Credentials {
  const path = credentialsPath(place);
  if (path === undefined) return noCredentials;
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe in its place must not block
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return noCredentials;
    throw fileError(`Cannot read the logins in ${path}`, cause);
  }
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is no file');
    closeToOthers(file, path, place);
    return parseCredentials(readFileSync(file, 'utf8'), path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw fileError(`Cannot read the logins in ${path}`, cause);
  } finally {
    closeSync(file);
  }
}

function closeToOthers(file: number, path: string, { platform, warn }: CredentialsPlace): void {
  if (platform === 'win32') return; // APPDATA is private to the user, and has no modes.
  const { mode } = fstatSync(file);
  if ((mode & 0o077) === 0) return;
  try {
    fchmodSync(file, fileMode);
    warn(`Others could read your logins in ${path}. They can't any more, but may have: log in again to be sure.`);
  } catch {
    warn(`Others can read your logins in ${path}, and that can't be mended: chmod 600 fails.`);
  }
}

/**
 * Changes the logins, one process at a time: what `change` gets is what the file holds now, and what it returns is written
 * whole or not at all.
 *
 * @returns the path of the file
 * @throws CliError when there is no place for the file, or it is damaged, which leaves it as it is
 */
export async function updateCredentials(
  place: CredentialsPlace,
  change: (present: Credentials) => Credentials,
): Promise<string> {
  const path = assertCredentialsPath(place);
  await makeFolder(dirname(path), place);
  await withLock(`${path}.lock`, async () => {
    const present = readCredentials(place);
    const next = change(present);
    if (next !== present)
      await writeFileWhole(path, (file) => file.writeFile(formatCredentials(next)), { mode: fileMode });
  });
  return path;
}

/** Checks before a log-in that logins can be stored. @throws CliError if not */
export async function assertWritableCredentials(place: CredentialsPlace): Promise<void> {
  await updateCredentials(place, (present) => present);
}

function assertCredentialsPath(place: CredentialsPlace): string {
  const path = credentialsPath(place);
  if (path !== undefined) return path;
  throw new CliError('file', 'Cannot store logins: there is no home folder.', {
    hint: 'Name a folder for them: TENON_CONFIG_DIR',
  });
}

async function makeFolder(folder: string, { platform, warn }: CredentialsPlace): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: folderMode });
    const { mode } = await stat(folder);
    const isSticky = (mode & 0o1000) !== 0; // as /tmp is: others can't take our files away
    if (platform !== 'win32' && (mode & 0o022) !== 0 && !isSticky) {
      warn(`Others may write to ${folder}, and so replace your logins: chmod 700 it.`);
    }
    await (await open(join(folder, 'credentials.json.lock'), 'a', fileMode)).close();
  } catch (cause) {
    throw fileError(`Cannot keep logins in ${folder}`, cause);
  }
}
