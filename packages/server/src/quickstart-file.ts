import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * `quickstart.env` in the data folder: where the server is, and on a demo server what opens it, as shell assignments.
 * `TENON_URL` is written at every start, the rest once; a token or an API key that has expired is renewed.
 */
export const quickstartFileName = 'quickstart.env';

/** What the first start of a demo makes. The user id is its owner's: a part of the path that a plugin is published under. */
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

const header = `# Written by Tenon: TENON_URL at every start, the rest once; an expired token or key is renewed. What else you write here stays.
# To use it in a shell: . path/to/quickstart.env
`;

const urlLine = /^(\s*(?:export\s+)?TENON_URL=).*$/m;

const pendingPattern = /^quickstart\.env\.[0-9a-f]+\.new$/;

/** What can be read from the file, by name; nothing when it is not there. */
export function readQuickstart(folder: string): ReadonlyMap<string, string> {
  const text = readText(join(folder, quickstartFileName));
  return text === undefined ? new Map() : parse(text);
}

/**
 * Lays secrets down beside the file before the store knows them, so that a crash right after it does finds them.
 *
 * @returns the path of the file that was written
 */
export function writePending(folder: string, secrets: Partial<QuickstartSecrets>): string {
  const path = join(folder, `${quickstartFileName}.${randomBytes(8).toString('hex')}.new`);
  writeDurably(path, assignments(Object.entries(secrets)));
  return path;
}

/** A file of secrets that no start has made the folder's own yet. */
export interface PendingSecrets {
  readonly path: string;
  readonly values: ReadonlyMap<string, string>;
}

/** What {@link writePending} left in the folder. */
export function findPending(folder: string): PendingSecrets[] {
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
 * Writes the file anew, whole or not at all, readable by its owner alone: the URL, the secrets when some are given, and what
 * else was in it before. Two processes must not do this at once.
 */
export function writeQuickstart(folder: string, url: string, secrets: ReadonlyMap<string, string> = new Map()): void {
  const path = join(folder, quickstartFileName);
  const before = without(readText(path) ?? header, secrets.keys());
  const withUrl = urlLine.test(before)
    ? before.replace(urlLine, (_, start: string) => start + shellWord(url))
    : `${before.replace(/\n*$/, '\n')}${assignment('TENON_URL', url)}\n`;
  const temporary = `${path}.tmp`;
  const inOrder = secretNames.flatMap((name) => (secrets.has(name) ? [[name, secrets.get(name) ?? ''] as const] : []));
  const text = withUrl.replace(/\n*$/, '\n') + assignments(inOrder);
  rmSync(temporary, { force: true }); // what an interrupted write left may be readable by others
  if (text === readText(path)) return; // so that a start needs no room on the disk
  writeDurably(temporary, text);
  renameSync(temporary, path);
  flushFolder(folder);
}

export function removePending(path: string): void {
  rmSync(path, { force: true });
}

/**
 * A text as one word of a POSIX shell. A single quote is written as `'\''`
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

function without(text: string, names: Iterable<string>): string {
  const known = new Set(names);
  const isKept = (line: string) => !known.has(/^\s*(?:export\s+)?([A-Z_]+)=/.exec(line)?.[1] ?? '');
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
  const file = openSync(path, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function flushFolder(folder: string): void {
  if (process.platform === 'win32') return; // a folder can't be opened there, and its entries are durable without
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
