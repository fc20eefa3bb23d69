import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InstrumentError } from '@tenon/instrument';
import { type DebugInfo, findDebugInfo, type SourceLookupOptions } from '@tenon/instrument/debug-info';
import { standardStream } from './files.ts';

/** Reads the files with debug information that a module names, if they lie in the module's folder or below it. */
export function readDebugFiles(file: string, bytes: Uint8Array): SourceLookupOptions {
  const { sourceMapUrl, debugFileUrl } = findUrls(bytes);
  const sourceMap = readBeside(file, sourceMapUrl);
  return {
    sourceMap: sourceMap && new TextDecoder().decode(sourceMap),
    debugFile: readBeside(file, debugFileUrl),
  };
}

/** Where the debug information of a module is. `undefined` if it has none. */
export function debugInfoOf(file: string, bytes: Uint8Array): SourceLookupOptions | undefined {
  const { dwarfBytes = 0, sourceMapUrl } = findUrls(bytes);
  const files = readDebugFiles(file, bytes);
  const isInside = dwarfBytes > 0 || sourceMapUrl?.startsWith('data:') === true;
  return isInside || files.debugFile !== undefined || files.sourceMap !== undefined ? files : undefined;
}

function findUrls(bytes: Uint8Array): Partial<DebugInfo> {
  try {
    return findDebugInfo(bytes);
  } catch (error) {
    if (error instanceof InstrumentError) return {}; // Instrumenting reports it.
    throw error;
  }
}

/** The module is untrusted: its URL must not lead to other folders, or to a pipe that never ends. */
function readBeside(file: string, url: string | undefined): Uint8Array | undefined {
  if (url === undefined || file === standardStream) return undefined;
  const folder = dirname(resolve(file));
  try {
    const path = /^file:/i.test(url) ? fileURLToPath(url) : resolve(folder, decodeURIComponent(url));
    return isWithin(folder, path) && isFile(path) ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

export function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below !== '' && below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below);
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
