import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClientError } from '../errors.ts';
import type { Store } from '../store.ts';
import { sizeOnDisk, sweep } from './sweep.ts';

export interface DiskStoreOptions {
  /** A folder of its own, which is made when it isn't there. Processes of one machine may share it. */
  readonly directory: string | URL;
  /**
   * How much it may hold, in bytes. What was not used for longest is deleted. As much as a sixteenth per process can be there in
   * excess, until somebody looks again. Default: 1 GiB.
   */
  readonly maxBytes?: number;
}

/** How old the note of an entry's last use may become. A note is a write, and most entries are read many times. */
const usedAgainMs = 60_000;

/**
 * Keeps contents and lists in files, for `createClient({ store })`. For Node.js, Deno and Bun.
 *
 * Files appear whole or not at all, so any number of processes may read and write, and be killed while they do. Nothing is forced to the
 * disk: what a loss of power leaves half-written is found out by its digest, and fetched again.
 *
 * @throws ClientError `invalid_option`
 */
export function diskStore({ directory, maxBytes = 1024 ** 3 }: DiskStoreOptions): Store {
  const root = directory instanceof URL ? fileURLToPath(directory) : directory;
  if (typeof root !== 'string' || root === '') throw invalidOption('directory', 'names no folder');
  if (typeof maxBytes !== 'number' || !(maxBytes >= 0)) throw invalidOption('maxBytes', 'is no number from 0 up');
  const entries = join(root, 'entries');
  const partials = join(root, 'partial');
  /** What is there, as far as this process knows: the others' writes are seen when it looks again. */
  let usedBytes = Number.POSITIVE_INFINITY;
  let writtenBytes = 0;
  let sweeping: Promise<void> | undefined;

  const fileOf = (key: string) => {
    if (!/^[a-z0-9]+(?:\/[a-z0-9]+)*$/.test(key)) throw new TypeError('A key has lower-case letters, digits and "/"');
    return join(entries, ...key.split('/'));
  };

  async function makeRoom(addedBytes: number): Promise<void> {
    writtenBytes += addedBytes;
    usedBytes += addedBytes;
    if (usedBytes <= maxBytes && writtenBytes <= maxBytes / 16) return;
    sweeping ??= sweep({ entries, partials, maxBytes, nowMs: Date.now() })
      .then((leftBytes) => {
        usedBytes = leftBytes;
        writtenBytes = 0;
      })
      .finally(() => {
        sweeping = undefined;
      });
    await sweeping;
  }

  return {
    async get(key) {
      const file = fileOf(key);
      try {
        const bytes = await readFile(file);
        await noteUse(file);
        return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async set(key, bytes) {
      const file = fileOf(key);
      if (sizeOnDisk(bytes.length) > maxBytes) return;
      const partial = join(partials, randomUUID());
      try {
        await inFolder(partials, () => writeFile(partial, bytes, { flag: 'wx', mode: 0o600 }));
        await inFolder(dirname(file), () => rename(partial, file));
      } catch (error) {
        await rm(partial, { force: true }).catch(() => {});
        // Windows doesn't replace a file that somebody is reading; whatever is there is as good.
        if (!isBusy(error) || !(await exists(file))) throw error;
      }
      await makeRoom(sizeOnDisk(bytes.length));
    },
    async delete(key) {
      await rm(fileOf(key), { force: true });
    },
  };
}

/** A file's time of change is that of its last use. A folder that can't be written to keeps no such notes. */
async function noteUse(file: string): Promise<void> {
  try {
    const now = new Date();
    const { mtimeMs } = await stat(file);
    if (Math.abs(now.getTime() - mtimeMs) > usedAgainMs) await utimes(file, now, now);
  } catch {}
}

/** Makes the folder if it turns out to be missing: most of the time it is there. */
async function inFolder(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await work();
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ENOENT';
}

function isBusy(error: unknown): boolean {
  return ['EPERM', 'EACCES', 'EBUSY'].includes(String((error as { code?: unknown }).code));
}

function invalidOption(option: string, fault: string): ClientError {
  return new ClientError('invalid_option', `The option \`${option}\` of the disk store ${fault}`, { option });
}
