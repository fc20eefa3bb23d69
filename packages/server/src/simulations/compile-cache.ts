import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownCompileCache } from '../workers/own-compile-cache.ts';

/** Where the processes of simulations cache their compiled code. Without a folder, each takes 0.2 seconds longer to start. */
export interface CompileCache {
  /** @returns `undefined` if no folder can be created */
  readonly folder: () => string | undefined;
  /** Deletes the folder, unless it is the server's own cache. */
  readonly remove: () => Promise<void>;
}

/** Uses the folder of the server's own cache. An installation may not have one; then it creates a private folder on demand. */
export function createCompileCache(): CompileCache {
  let created: string | undefined;
  let isUnavailable = false;
  return {
    folder() {
      const own = ownCompileCache();
      if (own !== undefined) return own;
      try {
        if (!isUnavailable) created ??= mkdtempSync(join(tmpdir(), 'tenon-simulations-'));
      } catch {
        isUnavailable = true;
      }
      return created;
    },
    async remove() {
      isUnavailable = true;
      if (created !== undefined) await rm(created, { recursive: true, force: true });
    },
  };
}
