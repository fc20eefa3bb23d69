import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * `quickstart.env` in the data folder holds the server's URL and, on a demo server, its credentials, as shell assignments. The server
 * writes `TENON_URL` at every start and the rest once. It renews a token or an API key that has expired.
 */
const quickstartFileName = 'quickstart.env';

/** Created with the demo. `TENON_USER_ID` is the owner's id, which is part of the path for publishing a plugin. */
const secretNames = [
  'TENON_EMAIL',
  'TENON_PASSWORD',
  'TENON_TOKEN',
  'TENON_APP_ID',
  'TENON_EXTENSION_POINT_ID',
  'TENON_GUEST_KEY',
  'TENON_USER_ID',
  'TENON_API_KEY',
] as const;

export type QuickstartSecrets = { readonly [Name in (typeof secretNames)[number]]: string };

const header = `# Written by Tenon: TENON_URL at every start, the rest once. Expired tokens and keys are renewed. Your own lines are kept.
# To use it in a shell: . path/to/quickstart.env
`;

const urlLine = /^(\s*(?:export\s+)?TENON_URL=).*$/m;

const pendingPattern = /^quickstart\.env\.[0-9a-f]+\.new$/;

/** A file that is being written, or was when its process was killed. */
const temporaryPattern = /^quickstart\.env\.[0-9a-f]+\.tmp$/;

/** A write takes less time than this. */
const maxWriteMs = 60_000;

/** Returns the assignments in the file; none if the file doesn't exist. */
export function readQuickstart(folder: string): ReadonlyMap<string, string> {
  const text = readText(join(folder, quickstartFileName));
  return text === undefined ? new Map() : parse(text);
}

/**
 * Writes secrets to a separate file. Call this before the transaction that stores their hashes commits, so that the secrets survive a
 * crash after the commit.
 *
 * @returns the path of the file
 */
export function writePendingSecrets(folder: string, secrets: Partial<QuickstartSecrets>): string {
  const path = join(folder, `${quickstartFileName}.${randomBytes(8).toString('hex')}.new`);
  writeDurably(path, assignments(Object.entries(secrets)));
  return path;
}

/** A file of {@link writePendingSecrets} that a start has not merged into `quickstart.env` yet. */
interface PendingSecrets {
  readonly path: string;
  readonly values: ReadonlyMap<string, string>;
}

export function findPendingSecrets(folder: string): PendingSecrets[] {
  const found: PendingSecrets[] = [];
  for (const name of readdirSync(folder)) {
    if (!pendingPattern.test(name)) continue;
    const path = join(folder, name);
    const text = readText(path);
    if (text !== undefined) found.push({ path, values: parse(text) });
  }
  return found;
}

/**
 * Updates the URL and the given secrets in the file, and keeps all other lines. The write is atomic, and the file is readable only by its
 * owner. If two processes do this at the same time, the secrets that one of them adds may be missing.
 */
export function writeQuickstart(folder: string, url: string, secrets: ReadonlyMap<string, string> = new Map()): void {
  const path = join(folder, quickstartFileName);
  const keptLines = removeAssignments(readText(path) ?? header, secrets.keys());
  const withUrl = urlLine.test(keptLines)
    ? keptLines.replace(urlLine, (_, start: string) => start + shellWord(url))
    : `${keptLines.replace(/\n*$/, '\n')}${assignment('TENON_URL', url)}\n`;
  const ordered = secretNames.flatMap((name) => (secrets.has(name) ? [[name, secrets.get(name) ?? ''] as const] : []));
  const text = withUrl.replace(/\n*$/, '\n') + assignments(ordered);
  if (text === readText(path)) return; // lets a server start on a full disk
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`; // other nodes may write at the same time
  try {
    writeDurably(temporary, text);
    deleteAbandoned(folder, statSync(temporary).mtimeMs);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  flushFolder(folder);
}

export function deletePendingSecrets(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Quotes text as one word of a POSIX shell. A single quote becomes `'\''`
 * (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_02_02).
 */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function assignment(name: string, value: string): string {
  return `${name}=${shellWord(value)}`;
}

function assignments(values: Iterable<readonly [string, string]>): string {
  return Array.from(values, ([name, value]) => `${assignment(name, value)}\n`).join('');
}

function removeAssignments(text: string, names: Iterable<string>): string {
  const removed = new Set(names);
  const isKept = (line: string) => !removed.has(/^\s*(?:export\s+)?([A-Z_]+)=/.exec(line)?.[1] ?? '');
  return text.split('\n').filter(isKept).join('\n');
}

function parse(text: string): Map<string, string> {
  return new Map(Object.entries(parseEnv(text)).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Deletes the files of interrupted writes, which hold secrets. */
function deleteAbandoned(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    if (!temporaryPattern.test(name)) continue;
    const path = join(folder, name);
    const writtenAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
    if (writtenAtMs + maxWriteMs < nowMs) rmSync(path, { force: true });
  }
}

function flushFolder(folder: string): void {
  if (process.platform === 'win32') return; // Windows can't open folders; NTFS journals their entries
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
