import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configFolder } from './config-folder.ts';
import { type Credentials, formatCredentials, noCredentials, parseCredentials } from './credentials.ts';
import { CliError } from './errors.ts';
import { fileError, writeFileWhole } from './files.ts';
import type { Io } from './io.ts';
import { withLock } from './lock.ts';

/** Only this user has access to the file, and to the folder if it is created here. */
const folderMode = 0o700;
const fileMode = 0o600;

/** What is needed to find the credentials file and to warn about it. */
export type CredentialsPlace = Pick<Io, 'environment' | 'platform'> & { readonly warn: (text: string) => void };

/** The path of the file; `undefined` for a user without a home. */
export function credentialsPath({ environment, platform }: Pick<Io, 'environment' | 'platform'>): string | undefined {
  const folder = configFolder(environment, platform);
  return folder === undefined ? undefined : join(folder, 'credentials.json');
}

/**
 * Reads the logins. If others may read the file, makes it private and warns.
 *
 * @throws CliError if the file exists but can't be read, or is damaged
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
    makePrivate(file, path, place);
    return parseCredentials(readFileSync(file, 'utf8'), path);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw fileError(`Cannot read the logins in ${path}`, cause);
  } finally {
    closeSync(file);
  }
}

function makePrivate(file: number, path: string, { platform, warn }: CredentialsPlace): void {
  if (platform === 'win32') return; // APPDATA is private to the user, and has no modes.
  const { mode } = fstatSync(file);
  if ((mode & 0o077) === 0) return;
  try {
    fchmodSync(file, fileMode);
    warn(`Others could read your logins in ${path}. They can't any more, but may have: log in again to be sure.`);
  } catch {
    warn(
      `Others can read your logins in ${path}, and \`chmod 600\` fails. Move the file to a file system with permissions.`,
    );
  }
}

/**
 * Changes the logins, one process at a time. `change` receives the logins that the file holds, and its result is written
 * whole or not at all.
 *
 * @returns the path of the file
 * @throws CliError if there is no home folder, or the file is damaged; the file is then not changed
 */
export async function updateCredentials(
  place: CredentialsPlace,
  change: (present: Credentials) => Credentials,
): Promise<string> {
  const path = assertCredentialsPath(place);
  const lockPath = `${path}.lock`;
  await prepareFolder(dirname(path), lockPath, place);
  await withLock(lockPath, async () => {
    const present = readCredentials(place);
    const next = change(present);
    if (next !== present)
      await writeFileWhole(path, (file) => file.writeFile(formatCredentials(next)), {
        mode: fileMode,
        isDurable: true,
      });
  });
  return path;
}

/**
 * Checks before a login that logins can be stored: creates the folder and the lock file, and reads the logins.
 *
 * @throws CliError if any of that fails
 */
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

/** Creates the folder, and in it the lock file: private, and with a clear error if the folder isn't writable. */
async function prepareFolder(folder: string, lockPath: string, { platform, warn }: CredentialsPlace): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: folderMode });
    const { mode } = await stat(folder);
    const isSticky = (mode & 0o1000) !== 0; // as /tmp is: others can't take our files away
    if (platform !== 'win32' && (mode & 0o022) !== 0 && !isSticky) {
      warn(`Others may write to ${folder}, and so replace your logins: chmod 700 it.`);
    }
    await (await open(lockPath, 'a', fileMode)).close();
  } catch (cause) {
    throw fileError(`Cannot keep logins in ${folder}`, cause);
  }
}
