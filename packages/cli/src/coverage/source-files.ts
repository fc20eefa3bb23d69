import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createSourceLookup,
  findDebugInfo,
  type SourceLookup,
  type SourceLookupOptions,
} from '@tenon/instrument/debug-info';
import { standardStream } from '../files.ts';

/** Reads a module's debug information, also from files beside it. @returns undefined without any */
export function openSource(file: string, bytes: Uint8Array): SourceLookup | undefined {
  return createSourceLookup(bytes, readDebugFiles(file, bytes));
}

/** Reads the files with debug information that a module names, if they lie beside it. */
export function readDebugFiles(file: string, bytes: Uint8Array): SourceLookupOptions {
  const { sourceMapUrl, debugFileUrl } = findDebugInfo(bytes);
  const sourceMap = readBeside(file, sourceMapUrl);
  return {
    debugFile: readBeside(file, debugFileUrl),
    sourceMap: sourceMap && new TextDecoder().decode(sourceMap),
  };
}

/** Where the debug information of a module is. `undefined` if it has none. */
export function debugInfoOf(file: string, bytes: Uint8Array): SourceLookupOptions | undefined {
  const { dwarfBytes, sourceMapUrl } = findDebugInfo(bytes);
  const files = readDebugFiles(file, bytes);
  const isInside = dwarfBytes > 0 || sourceMapUrl?.startsWith('data:') === true;
  return isInside || files.debugFile !== undefined || files.sourceMap !== undefined ? files : undefined;
}

/** Reads a file that a module names, if it lies in the module's folder: the module is untrusted. */
function readBeside(file: string, url: string | undefined): Uint8Array | undefined {
  if (url === undefined || file === standardStream) return undefined;
  const folder = dirname(resolve(file));
  try {
    const path = /^file:/i.test(url) ? fileURLToPath(url) : resolve(folder, decodeURIComponent(url));
    return isWithin(folder, path) ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
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

function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below !== '' && below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
