import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';

/** The contents of a server's `quickstart.env`. */
export interface Quickstart {
  /** The file's assignments by name; none when there is no such file. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The file as messages name it, relative to the working folder; absent without such a file. */
  readonly file?: string;
}

/** The places of a data folder. */
export interface QuickstartPlace {
  readonly environment: Environment;
  /** The process's own by default. */
  readonly workingFolder?: string;
}

const name = 'quickstart.env';

/**
 * Reads `quickstart.env` of the data folder that is named (`--data-dir`, else TENON_DATA_DIR), else of the nearest `tenon-data` here or
 * above. A file above that belongs to another user is ignored, because any user can put one into a shared folder such as /tmp.
 */
export function findQuickstart(dataDir: string | undefined, place: QuickstartPlace): Quickstart {
  const start = resolve(place.workingFolder ?? '.');
  const named = dataDir ?? (place.environment.TENON_DATA_DIR || undefined);
  if (named !== undefined) return read(start, join(resolve(start, named), name));
  for (let folder = start; ; folder = dirname(folder)) {
    const found = read(start, join(folder, 'tenon-data', name));
    if (found.file !== undefined) {
      return folder === start || hasSameOwner(start, join(folder, 'tenon-data', name)) ? found : { values: {} };
    }
    if (dirname(folder) === folder) return { values: {} };
  }
}

function read(start: string, path: string): Quickstart {
  try {
    return { values: parseEnv(readFileSync(path, 'utf8')), file: relative(start, path) };
  } catch {
    return { values: {} }; // absent, or another user's
  }
}

function hasSameOwner(start: string, path: string): boolean {
  const { uid } = statSync(path);
  return uid === statSync(start).uid || uid === 0;
}
