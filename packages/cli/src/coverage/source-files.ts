import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { createSourceLookup, type SourceLookup } from '@tenon/instrument/debug-info';
import { isFile, isWithin, readDebugFiles } from '../debug-files.ts';
import { standardStream } from '../files.ts';

/** Reads a module's debug information, also from files beside it. @returns undefined without any */
export function openSource(file: string, bytes: Uint8Array): SourceLookup | undefined {
  return createSourceLookup(bytes, readDebugFiles(file, bytes));
}

/** The source files of a module in a folder. */
export interface SourceFiles {
  /** Whether no source file lies in the folder. */
  readonly isEmpty: boolean;
  /** How many files of the module are not in the folder. */
  readonly others: number;
  /** The path in reports, relative to the working folder; `undefined` for a file that is not in the folder. */
  readonly pathOf: (recorded: string) => string | undefined;
  /** The text of a file, by its path in reports. */
  readonly textOf: (path: string) => string | undefined;
}

/**
 * Finds those source files of a module that lie in a folder. Compilers record absolute paths, or paths relative to the
 * working folder or the module's. Other files are never read: the module is untrusted, and a report contains its sources.
 */
export function findSources(
  recorded: readonly string[],
  folder: string,
  workingFolder: string,
  moduleFile: string,
): SourceFiles {
  const found = new Map<string, string>();
  const bases = [workingFolder, folder, ...(moduleFile === standardStream ? [] : [dirname(resolve(moduleFile))])];
  for (const file of recorded) {
    const candidates = isAbsolute(file) ? [file] : bases.map((base) => join(base, file));
    const path = candidates.find((each) => isWithin(folder, each) && isFile(each));
    if (path !== undefined) found.set(file, relative(workingFolder, path).split(sep).join('/'));
  }
  const paths = new Set(found.values());
  return {
    isEmpty: found.size === 0,
    others: recorded.length - found.size,
    pathOf: (file) => found.get(file),
    textOf(path) {
      if (!paths.has(path)) return undefined;
      try {
        return readFileSync(resolve(workingFolder, path), 'utf8');
      } catch {
        return undefined;
      }
    },
  };
}
