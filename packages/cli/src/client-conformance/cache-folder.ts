import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of a client's disk cache, whose format is unknown. */
export interface CacheFolder {
  readonly folder: string;
  /** A path that can't be a folder, because it is below a file. */
  readonly unusableFolder: string;
  /** Whether there are files. */
  hasFiles(): boolean;
  /**
   * Changes all files, or those that contain these bytes if any does: a client may compress them.
   *
   * @returns how many
   */
  damage(change: (bytes: Buffer) => Buffer, contained?: Buffer): number;
  /** Whether there are files beside the folder, which the client must not create. */
  hasStrayFiles(): boolean;
  remove(): void;
}

export function createCacheFolder(): CacheFolder {
  const parent = mkdtempSync(join(tmpdir(), 'tenon-conformance-'));
  const folder = join(parent, 'deep', 'cache');
  const file = join(parent, 'file');
  mkdirSync(join(parent, 'deep'));
  writeFileSync(file, '');

  const files = () => filesBelow(folder);
  return {
    folder,
    unusableFolder: join(file, 'cache'),
    hasFiles: () => files().length > 0,
    damage(change, contained = Buffer.alloc(0)) {
      const containing = files().filter((path) => readFileSync(path).includes(contained));
      const found = containing.length > 0 ? containing : files();
      for (const path of found) writeFileSync(path, change(readFileSync(path)));
      return found.length;
    },
    hasStrayFiles: () => filesBelow(parent).length !== files().length + 1,
    remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
