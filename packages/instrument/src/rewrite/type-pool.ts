import type { Module } from '../binary/module.ts';
import type { FunctionType } from '../binary/types.ts';
import { putS32, putU32 } from '../binary/writer.ts';

/** Finds function types in the module, or adds them after its last type. */
export interface TypePool {
  /** The block type without parameters that has the results of function type `typeIndex`. */
  readonly blockTypeOf: (typeIndex: number) => Uint8Array;
  /** The index of the plain function type with these value types of one byte each. */
  readonly intern: (parameters: readonly number[], results: readonly number[]) => number;
  /** The added types, each as an entry of the type section. */
  readonly added: readonly Uint8Array[];
}

/**
 * Added types come last, each in its own recursion group, so no type of the module changes its index or identity. Block
 * types depend on parameters and results only, so any function type can serve. Hosts compare the identity of an import's
 * type, which must be a plain one.
 */
export function createTypePool(module: Module): TypePool {
  const added: Uint8Array[] = [];
  const blockTypes: Uint8Array[] = [];
  let known: Map<string, number> | undefined;

  function indexOf(key: string, make: () => Uint8Array): number {
    known ??= indexTypes(module);
    const found = known.get(key);
    if (found !== undefined) return found;
    const index = module.types.length + added.length;
    added.push(make());
    known.set(key, index);
    return index;
  }

  function makeBlockType(type: FunctionType): Uint8Array {
    if (type.resultCount === 0) return Uint8Array.of(0x40);
    const results = module.bytes.subarray(type.resultsStart, type.end);
    if (type.resultCount === 1) return results;
    const index = indexOf(blockKey(module.bytes, type), () => encodeType([], 0, results, type.resultCount));
    const encoded = new Uint8Array(5);
    return encoded.subarray(0, putS32(encoded, 0, index));
  }

  return {
    added,
    blockTypeOf(typeIndex) {
      const cached = blockTypes[typeIndex];
      if (cached !== undefined) return cached;
      const made = makeBlockType(module.types[typeIndex] as FunctionType);
      blockTypes[typeIndex] = made;
      return made;
    },
    intern(parameters, results) {
      const key = plainKey(parameters, results);
      return indexOf(key, () => encodeType(parameters, parameters.length, results, results.length));
    },
  };
}

function indexTypes(module: Module): Map<string, number> {
  const known = new Map<string, number>();
  module.types.forEach((type, index) => {
    if (type === null) return;
    if (type.parameterCount === 0 && type.resultCount >= 2) setIfAbsent(known, blockKey(module.bytes, type), index);
    if (type.isPlain && type.parameterCount + type.resultCount <= 2) {
      const parameters = module.bytes.subarray(type.parametersStart, type.parametersStart + type.parameterCount);
      const results = module.bytes.subarray(type.resultsStart, type.end);
      setIfAbsent(known, plainKey(parameters, results), index);
    }
  });
  return known;
}

function setIfAbsent(map: Map<string, number>, key: string, value: number): void {
  if (!map.has(key)) map.set(key, value);
}

function plainKey(parameters: ArrayLike<number>, results: ArrayLike<number>): string {
  return `plain ${Array.from(parameters).join()} to ${Array.from(results).join()}`;
}

function blockKey(bytes: Uint8Array, type: FunctionType): string {
  return `block ${bytes.subarray(type.resultsStart, type.end).join()}`;
}

function encodeType(
  parameters: ArrayLike<number>,
  parameterCount: number,
  results: ArrayLike<number>,
  resultCount: number,
): Uint8Array {
  const encoded = new Uint8Array(11 + parameters.length + results.length);
  encoded[0] = 0x60;
  let at = putU32(encoded, 1, parameterCount);
  encoded.set(parameters, at);
  at = putU32(encoded, at + parameters.length, resultCount);
  encoded.set(results, at);
  return encoded.subarray(0, at + results.length);
}
