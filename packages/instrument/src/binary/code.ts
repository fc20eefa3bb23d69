import { invalidModule } from '../errors.ts';
import type { Module } from './module.ts';
import { expectEnd, readCount, readU32, skipBytes } from './reader.ts';
import { SectionId, sectionReader } from './sections.ts';
import { peekU32, skipLeb, skipValueType } from './skip.ts';

/**
 * Reads the bounds of every function body, as pairs: `[start, end)` without the size. Checks that there are as many bodies
 * as the function section declares.
 */
export function readBodyBounds(module: Module): Uint32Array {
  const ownCount = module.functionTypes.length - module.importedFunctions.length;
  const reader = sectionReader(module.bytes, module.sections, SectionId.code);
  if (reader === undefined) {
    if (ownCount === 0) return new Uint32Array(0);
    throw invalidModule(`Expected ${ownCount} function bodies, found no code section`, module.bytes.length);
  }
  const start = reader.offset;
  const bodyCount = readCount(reader, 'the number of function bodies', 2);
  if (bodyCount !== ownCount) throw invalidModule(`Expected ${ownCount} function bodies, found ${bodyCount}`, start);
  const bounds = new Uint32Array(2 * bodyCount);
  for (let index = 0; index < bodyCount; index++) {
    const size = readU32(reader, "a function body's size");
    bounds[2 * index] = reader.offset;
    skipBytes(reader, size, 'a function body');
    bounds[2 * index + 1] = reader.offset;
  }
  expectEnd(reader, 'the code section');
  return bounds;
}

/**
 * Reads the declarations of a body's locals, which are runs of a count and a type, and returns the offset after them.
 * `onLocals` is called for each run. Counts are not limited here.
 */
export function readLocals(
  source: Uint8Array,
  start: number,
  end: number,
  functionIndex: number,
  onLocals?: (count: number, typeAt: number) => void,
): number {
  const runs = peekU32(source, start, end, functionIndex);
  if (runs > end - start) throw invalidModule(`Expected locals, found a count of ${runs}`, start, functionIndex);
  let pos = skipLeb(source, start, 5, functionIndex);
  for (let run = 0; run < runs; run++) {
    const count = peekU32(source, pos, end, functionIndex);
    const typeAt = skipLeb(source, pos, 5, functionIndex);
    pos = skipValueType(source, typeAt, functionIndex);
    onLocals?.(count, typeAt);
  }
  return pos;
}
