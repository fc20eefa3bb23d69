import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { fileError } from '../files.ts';

/** Further changes within this time belong to the same save or build. */
const settleMs = 100;

const ignoredFolders = new Set(['node_modules', '.git']);

/** Notices changes of files. */
export interface Watcher {
  /** Sets the files to watch, also those that don't exist yet, and optionally a folder with all that is in it. */
  readonly set: (files: Iterable<string>, folder: string | undefined) => void;
  /** Forgets the changes so far, such as those that a build has made. */
  readonly forget: () => Promise<void>;
  /** Waits for changes since the last call. @returns the paths. @throws the signal's reason */
  readonly changes: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly close: () => void;
}

export function createWatcher(): Watcher {
  const closers = new Map<string, () => void>();
  const changed = new Set<string>();
  let files: ReadonlySet<string> = new Set();
  let notify = () => {};

  function open(folder: string, recursive: boolean): void {
    const key = `${recursive} ${folder}`;
    if (closers.has(key)) return;
    const watcher = startWatching(folder, recursive, (name) => {
      const path = resolve(folder, name);
      const isSource =
        recursive &&
        !relative(folder, path)
          .split(sep)
          .some((part) => ignoredFolders.has(part));
      if (!isSource && !files.has(path)) return;
      changed.add(path);
      notify();
    });
    // A folder that is deleted is watched again when its file is named again.
    watcher.on('error', () => closers.delete(key));
    closers.set(key, () => watcher.close());
  }

  return {
    set(paths, folder) {
      files = new Set(paths);
      // A file that an editor or a compiler replaces is another one, so its folder is watched.
      for (const path of new Set([...files].map((path) => dirname(path)))) open(path, false);
      if (folder !== undefined) open(folder, true);
    },
    async forget() {
      await new Promise((done) => setTimeout(done, settleMs));
      changed.clear();
    },
    changes: (signal) =>
      new Promise((done, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const stop = () => {
          clearTimeout(timer);
          notify = () => {};
          reject(signal.reason);
        };
        const settle = () => {
          const paths = [...changed];
          changed.clear();
          notify = () => {};
          signal.removeEventListener('abort', stop);
          done(paths);
        };
        notify = () => {
          clearTimeout(timer);
          timer = setTimeout(settle, settleMs);
        };
        signal.addEventListener('abort', stop);
        if (signal.aborted) stop();
        else if (changed.size > 0) notify();
      }),
    close() {
      for (const close of closers.values()) close();
    },
  };
}

function startWatching(folder: string, recursive: boolean, onChange: (name: string) => void): FSWatcher {
  try {
    return watch(folder, { recursive }, (_, name) => {
      if (name !== null) onChange(name);
    });
  } catch (cause) {
    throw fileError(`Cannot watch ${folder}`, cause);
  }
}

/** A path as people say it, in a line about a change. */
export function fileInWords(path: string, folder: string): string {
  const below = relative(folder, path);
  return below.startsWith('..') ? basename(path) : below;
}
