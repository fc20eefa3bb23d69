import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface Sweep {
  /** The folder of the entries. */
  readonly entries: string;
  /** The folder of temporary files. */
  readonly partials: string;
  readonly maxBytes: number;
  /** By the clock of the file times. */
  readonly nowMs: number;
}

interface Found {
  readonly file: string;
  readonly bytes: number;
  readonly usedMs: number;
}

/** A temporary file of this age was left by a killed process. */
const abandonedMs = 10 * 60_000;

/** The fill level after a sweep. Free space delays the next sweep. */
const targetFill = 0.9;

const concurrency = 32;

/** The approximate size of a file on disk, in whole blocks. */
export function sizeOnDisk(bytes: number): number {
  return Math.ceil(bytes / 4096) * 4096;
}

/**
 * Deletes abandoned temporary files, and the least recently used entries above the maximum size. Several processes may sweep at once.
 *
 * @returns the remaining bytes
 */
export async function sweep({ entries, partials, maxBytes, nowMs }: Sweep): Promise<number> {
  const abandoned = (await findFiles(partials)).filter(({ usedMs }) => nowMs - usedMs > abandonedMs);
  await each(abandoned, ({ file }) => rm(file, { force: true }));
  const found = await findFiles(entries);
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return total;
  const oldestFirst = found.sort((one, other) => one.usedMs - other.usedMs);
  const evicted: Found[] = [];
  for (const entry of oldestFirst) {
    if (total <= maxBytes * targetFill) break;
    evicted.push(entry);
    total -= entry.bytes;
  }
  await each(evicted, ({ file }) => rm(file, { force: true }));
  return total;
}

/** All files below a folder. None if it is missing. */
async function findFiles(folder: string): Promise<Found[]> {
  const found: Found[] = [];
  const listed = await readdir(folder, { withFileTypes: true }).catch(() => []);
  await each(listed, async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await findFiles(path)));
    if (!entry.isFile()) return;
    const stats = await stat(path).catch(() => undefined); // another process may have deleted it
    if (stats !== undefined) found.push({ file: path, bytes: sizeOnDisk(stats.size), usedMs: stats.mtimeMs });
  });
  return found;
}

/** Runs work for each item, several at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  await Promise.all(
    Array.from({ length: Math.min(concurrency, items.length) }, async () => {
      for (const item of remaining) await work(item);
    }),
  );
}
