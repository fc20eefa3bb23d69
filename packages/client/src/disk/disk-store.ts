import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CacheStore } from '../cache-store.ts';
import { ClientError } from '../errors.ts';
import { sizeOnDisk, sweep } from './sweep.ts';

export interface DiskStoreOptions {
  /** A folder for the cache alone. It is created if it is missing. Processes of one machine may share it. */
  readonly directory: string | URL;
  /**
   * The maximum size. The least recently used entries are deleted. Each process may exceed it by up to a sixteenth between two
   * sweeps. Default: 1 GiB.
   */
  readonly maxBytes?: number;
}

/** How often the last use of an entry is recorded. It is a write, and most entries are read many times. */
const usedAgainMs = 60_000;

/**
 * Caches contents and binding lists in files, for `createClient({ store })`. For Node.js, Deno and Bun.
 *
 * Files are written atomically, so any number of processes may read, write, and be killed at any time. Files are not synced: the
 * client detects a file that a power failure damaged by its digest, and fetches it again.
 *
 * @throws ClientError `invalid_option`
 */
export function diskStore({ directory, maxBytes = 1024 ** 3 }: DiskStoreOptions): CacheStore {
  const root = directory instanceof URL ? fileURLToPath(directory) : directory;
  if (typeof root !== 'string' || root === '') throw invalidOption('directory', 'must name a folder');
  if (typeof maxBytes !== 'number' || !(maxBytes >= 0)) throw invalidOption('maxBytes', 'must be a number ≥ 0');
  const entries = join(root, 'entries');
  const partials = join(root, 'partial');
  /** The size as far as this process knows. A sweep counts the writes of other processes. */
  let usedBytes = Number.POSITIVE_INFINITY;
  let writtenBytes = 0;
  let sweeping: Promise<void> | undefined;

  const fileOf = (key: string) => {
    if (!/^[a-z0-9]+(?:\/[a-z0-9]+)*$/.test(key))
      throw new TypeError('A key must consist of lower-case letters, digits and "/"');
    return join(entries, ...key.split('/'));
  };

  async function makeRoom(addedBytes: number): Promise<void> {
    writtenBytes += addedBytes;
    usedBytes += addedBytes;
    if (usedBytes <= maxBytes && writtenBytes <= maxBytes / 16) return;
    sweeping ??= sweep({ entries, partials, maxBytes, nowMs: Date.now() })
      .then((remainingBytes) => {
        usedBytes = remainingBytes;
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
        await recordUse(file);
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
        // Windows doesn't replace an open file. The present one has the same content.
        if (!isBusy(error) || !(await exists(file))) throw error;
      }
      await makeRoom(sizeOnDisk(bytes.length));
    },
    async delete(key) {
      await rm(fileOf(key), { force: true });
    },
  };
}

/** The modification time of a file is that of its last use. In a read-only folder it isn't recorded. */
async function recordUse(file: string): Promise<void> {
  try {
    const now = new Date();
    const { mtimeMs } = await stat(file);
    if (Math.abs(now.getTime() - mtimeMs) > usedAgainMs) await utimes(file, now, now);
  } catch {}
}

/** Creates the folder only after a failure: usually it exists. */
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

function invalidOption(option: string, problem: string): ClientError {
  return new ClientError('invalid_option', `The option \`${option}\` of the disk store ${problem}`, { option });
}
