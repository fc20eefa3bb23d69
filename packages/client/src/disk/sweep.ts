import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface Sweep {
  /** The folder that holds the entries, in folders of their own. */
  readonly entries: string;
  /** The folder of files that are being written. */
  readonly partials: string;
  readonly maxBytes: number;
  /** By the clock that files have their times from. */
  readonly nowMs: number;
}

interface Found {
  readonly file: string;
  readonly bytes: number;
  readonly usedMs: number;
}

/** What a killed process has left behind: nobody takes this long to write a file. */
const abandonedMs = 10 * 60_000;

/** How full it is when it has been swept. Room for some time, so that not every write sweeps. */
const fillAfterwards = 0.9;

const atOnce = 32;

/** What a file of so many bytes takes up, about: disks give room in blocks. */
export function sizeOnDisk(bytes: number): number {
  return Math.ceil(bytes / 4096) * 4096;
}

/**
 * Deletes what was not used for longest where there is too much, and what was never finished. Several processes may do so at once: what one
 * has deleted is gone for the other too.
 *
 * @returns how many bytes are left
 */
export async function sweep({ entries, partials, maxBytes, nowMs }: Sweep): Promise<number> {
  const abandoned = (await findFiles(partials)).filter(({ usedMs }) => nowMs - usedMs > abandonedMs);
  await each(abandoned, ({ file }) => rm(file, { force: true }));
  const found = await findFiles(entries);
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return total;
  const oldestFirst = found.sort((one, other) => one.usedMs - other.usedMs);
  const doomed: Found[] = [];
  for (const entry of oldestFirst) {
    if (total <= maxBytes * fillAfterwards) break;
    doomed.push(entry);
    total -= entry.bytes;
  }
  await each(doomed, ({ file }) => rm(file, { force: true }));
  return total;
}

/** All files at and below a folder; none where it is missing. */
async function findFiles(folder: string): Promise<Found[]> {
  const found: Found[] = [];
  const listed = await readdir(folder, { withFileTypes: true }).catch(() => []);
  await each(listed, async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await findFiles(path)));
    if (!entry.isFile()) return;
    const seen = await stat(path).catch(() => undefined); // somebody may have deleted it meanwhile
    if (seen !== undefined) found.push({ file: path, bytes: sizeOnDisk(seen.size), usedMs: seen.mtimeMs });
  });
  return found;
}

/** Does something for each, several at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: Math.min(atOnce, items.length) }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}
