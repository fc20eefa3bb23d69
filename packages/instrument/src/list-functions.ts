import { readBodyBounds } from './binary/code.ts';
import { exportName } from './binary/exports.ts';
import { readModule } from './binary/module.ts';
import { nameWithoutExport, readNames } from './binary/name-section.ts';
import { decodeUtf8 } from './binary/reader.ts';
import type { Note } from './notes.ts';
import { checkRewritable } from './rewrite/custom-sections.ts';
import { checkOptions, type InstrumentOptions } from './select/config.ts';
import { selectFunctions } from './select/selection.ts';

/** A function of a module. */
export interface FunctionDescription {
  /** Index in the input. The instrumented module has other indices. */
  readonly index: number;
  /**
   * Its name in traces: from the `name` section, else its export name, else `module.field` of an import, else
   * `func[INDEX]`.
   */
  readonly name: string;
  /** The source of the name. A configuration can't name a function with `none`. */
  readonly nameSource: 'name-section' | 'export' | 'import' | 'none';
  /** Its export names. */
  readonly exportNames: readonly string[];
  /** The source of an imported function. */
  readonly import?: { readonly module: string; readonly name: string };
  /** Size of its body in bytes, if it isn't imported. */
  readonly bodyBytes?: number;
  /** Whether `instrument()` traces it with the same options. */
  readonly isTraced: boolean;
}

export interface FunctionList {
  /** By ascending index. */
  readonly functions: readonly FunctionDescription[];
  /** Notes on the options: names without a match, imports that are never traced. */
  readonly notes: readonly Note[];
}

/**
 * Lists the functions of a module, and which of them `instrument()` would trace. Function bodies are not read, so a
 * function that is too large to be traced is listed as traced.
 *
 * Throws what `instrument()` throws, apart from errors in function bodies.
 */
export function listFunctions(bytes: Uint8Array, options: InstrumentOptions = {}): FunctionList {
  checkOptions(options);
  const module = readModule(bytes);
  checkRewritable(module);
  const bodyBounds = readBodyBounds(module);
  const notes: Note[] = [];
  const names = readNames(module, []);
  const traced = selectFunctions(module, bodyBounds, names, options, notes);
  const exportNames = new Map<number, string[]>();
  for (const entry of module.exports) {
    const { kind, index } = entry;
    if (kind !== 'function') continue;
    const name = exportName(module, entry);
    const known = exportNames.get(index);
    if (known === undefined) exportNames.set(index, [name]);
    else known.push(name);
  }
  const importCount = module.importedFunctions.length;
  const functions = Array.from(module.functionTypes, (_, index): FunctionDescription => {
    const nameStart = names.starts[index] as number;
    const own = nameStart === 0 ? '' : (decodeUtf8(bytes, nameStart, names.ends[index] as number) ?? '');
    const entry = module.importedFunctions[index];
    const exported = exportNames.get(index) ?? [];
    const ownExport = exported.find((name) => name !== '');
    const others = ownExport !== undefined ? 'export' : entry !== undefined ? 'import' : 'none';
    const place = 2 * (index - importCount);
    return {
      index,
      name: own || (ownExport ?? nameWithoutExport(module, index)),
      nameSource: own === '' ? others : 'name-section',
      exportNames: exported,
      ...(entry === undefined
        ? { bodyBytes: (bodyBounds[place + 1] as number) - (bodyBounds[place] as number) }
        : { import: { module: entry.module, name: entry.name } }),
      isTraced: traced[index] === 1,
    };
  });
  return { functions, notes };
}
