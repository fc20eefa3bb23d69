import { lstatSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CliError, usageError } from '../errors.ts';
import { fileError } from '../files.ts';

/**
 * Writes files into a folder, all of them or none.
 *
 * @throws CliError where one of them is there already
 */
export async function writeNewFiles(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  const present = [...files.keys()].filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }));
  if (present.length > 0) throw alreadyThere(folder, present);
  const made: string[] = []; // what is taken away again when it can't be ended
  try {
    for (const [name, content] of files) {
      const file = join(folder, name);
      const firstFolder = await mkdir(dirname(file), { recursive: true });
      if (firstFolder !== undefined) made.push(firstFolder);
      await writeFile(file, content, { flag: 'wx' });
      made.push(file);
    }
  } catch (cause) {
    await Promise.all(made.map((path) => rm(path, { recursive: true, force: true })));
    throw fileError(`Cannot begin a plugin in ${folder}`, cause);
  }
}

function alreadyThere(folder: string, names: readonly string[]): CliError {
  const message = `In ${folder} there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')} already. Nothing was written.`;
  return usageError(message, 'Name another folder: tenon plugin init <folder>');
}
