import { createSourceLookup, type SourceLookup, type SourceLookupOptions } from '@tenon/instrument/debug-info';
import type { RunSources } from './source-stack.ts';

/**
 * Finds the sources of a module that runs, by its own debug information or that of other files. Reads them when first asked.
 * A module with malformed debug information has no sources.
 */
export function createRunSources(module: Uint8Array, options: SourceLookupOptions = {}): RunSources {
  let opened: { readonly lookup: SourceLookup | undefined } | undefined;
  const lookup = () => {
    opened ??= { lookup: open(module, options) };
    return opened.lookup;
  };
  return {
    functionSource: (functionIndex) => lookup()?.functionSource(functionIndex),
    locate(offset) {
      const found = lookup();
      return found?.locate(offset - found.codeStart) ?? [];
    },
  };
}

function open(module: Uint8Array, options: SourceLookupOptions): SourceLookup | undefined {
  try {
    return createSourceLookup(module, options);
  } catch {
    return undefined; // a debug file that is not a module
  }
}
