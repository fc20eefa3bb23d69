import { CliError } from '../errors.ts';
import type { BuildSession } from '../project/module-file.ts';
import { printable } from '../text.ts';
import { createWatcher, fileInWords } from './watch-files.ts';

/** Runs the tests once. It names the files on which they depend before it runs them. */
export type RunOnce = (isBuilding: boolean, onFiles: (files: readonly string[]) => Promise<void>) => Promise<void>;

const clearScreen = '\u001b[2J\u001b[3J\u001b[H';

/**
 * Runs tests, and again whenever a file changes, until the signal ends it.
 *
 * @throws CliError of the first run, if it failed before the files were known, and the signal's reason
 */
export async function watchTests(
  { io, out, signal, project }: BuildSession,
  isBuilding: boolean,
  once: RunOnce,
  onError: (error: CliError) => void,
): Promise<void> {
  const watcher = createWatcher();
  const folder = isBuilding ? project?.folder : undefined;
  let areFilesKnown = false;
  try {
    for (;;) {
      try {
        await once(isBuilding, async (files) => {
          areFilesKnown = true;
          watcher.set(files, folder);
          if (isBuilding) await watcher.forget();
        });
      } catch (error) {
        if (signal.aborted || !areFilesKnown || !(error instanceof CliError)) throw error;
        onError(error);
        if (error.code === 'build_failed') await watcher.forget();
      }
      out.note(`Watching for changes of ${isBuilding ? 'the plugin’s folder' : 'the files'}. Ctrl-C ends it.`);
      const changed = await watcher.changes(signal);
      if (io.stdout.isTTY) io.stdout.write(clearScreen);
      out.note(`Changed: ${changed.map((path) => printable(fileInWords(path, io.workingFolder))).join(', ')}`);
    }
  } finally {
    watcher.close();
  }
}
