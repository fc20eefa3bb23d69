import { readLocals } from '../binary/code.ts';
import type { Module } from '../binary/module.ts';
import { Op } from '../binary/opcodes.ts';
import { viewOf } from '../binary/reader.ts';
import { countBranches, countLocals, hasWideShortType } from '../binary/validation-cost.ts';
import { type InstrumentError, invalidModule } from '../errors.ts';
import type { Advance } from '../progress.ts';
import type { CodeScan, CodeVisitor, Cursor } from './cursor.ts';
import { descriptorBits, opcodeDescriptors } from './opcode-descriptors.ts';
import { createPatchSites } from './patch-sites.ts';
import { scanInstruction } from './scan-instruction.ts';

// V8 inlines constants of this module, but loads imported ones each time, which made this scan slower by a sixth.
const { branchBit, slowPathBit, lebBits } = descriptorBits;
const descriptors = opcodeDescriptors;

/**
 * Reads every instruction once.
 *
 * An instruction's offset is known only after the length of the one before: a latency of 16 cycles, in which a processor
 * could do three times as much. Two partitions of the code are therefore scanned in turn, which is 1.3 times as fast. A
 * third partition gains nothing.
 *
 * See `opcode-descriptors.ts` for the condition of the fast path.
 */
export function scanCode(module: Module, bounds: Uint32Array, advance: Advance, visitor?: CodeVisitor): CodeScan {
  const bodyCount = bounds.length / 2;
  const middle = findMiddle(bounds);
  const partitions = [createCursor(module, bounds, 0, middle), createCursor(module, bounds, middle, bodyCount)];
  const scan: CodeScan = {
    module,
    bounds,
    exceptionHandling: 'none',
    grownMemories: new Uint8Array(module.memories.length),
    referencedImports: new Uint8Array(module.importedFunctions.length),
    traits: new Uint8Array(bodyCount),
    partitions,
    advance,
    visitor,
    declaredLocals: 0,
    onLocals(count, typeAt) {
      scan.declaredLocals += count;
      visitor?.onLocals(typeAt);
    },
  };
  const [first, second] = partitions as [Cursor, Cursor];
  const view = viewOf(module.bytes);
  openBody(scan, first);
  openBody(scan, second);
  if (visitor !== undefined || hasWideShortType(module.cost)) scanSlowly(scan);
  while (first.body < first.lastBody && second.body < second.lastBody) {
    runBoth(scan, view, first, second);
    if (first.pos >= first.fastEnd) closeBody(scan, first);
    if (second.pos >= second.fastEnd) closeBody(scan, second);
  }
  for (const partition of partitions) {
    while (partition.body < partition.lastBody) {
      run(scan, view, partition);
      closeBody(scan, partition);
    }
  }
  return scan;
}

/** Takes the slow path for every instruction: the fast path doesn't see a block's type. */
function scanSlowly(scan: CodeScan): void {
  for (const partition of scan.partitions) {
    while (partition.body < partition.lastBody) closeBody(scan, partition);
  }
}

/** The body at which the second partition begins. */
function findMiddle(bounds: Uint32Array): number {
  const middle = ((bounds[0] ?? 0) + (bounds.at(-1) ?? 0)) / 2;
  let body = 0;
  while (2 * body < bounds.length && (bounds[2 * body] as number) < middle) body++;
  return body;
}

function createCursor(module: Module, bounds: Uint32Array, firstBody: number, lastBody: number): Cursor {
  const start = bounds[2 * firstBody] ?? 0;
  const codeBytes = (bounds[2 * lastBody - 1] ?? start) - start;
  return {
    source: module.bytes,
    firstBody,
    lastBody,
    patchSites: createPatchSites(start, 64 + (codeBytes >> 5)),
    body: firstBody,
    functionIndex: 0,
    typeIndex: 0,
    widestBlock: 0,
    end: 0,
    fastEnd: 0,
    pos: 0,
    depth: 0,
    lowest: 0,
    traits: 0,
  };
}

/** Scans both partitions until one cursor reaches the end of its body. The local variables cache the cursors' fields. */
function runBoth(scan: CodeScan, view: DataView, first: Cursor, second: Cursor): void {
  const firstEnd = first.fastEnd;
  const secondEnd = second.fastEnd;
  let { pos, depth, lowest } = first;
  let { pos: pos2, depth: depth2, lowest: lowest2 } = second;
  while (pos < firstEnd && pos2 < secondEnd) {
    const word = view.getInt32(pos, true);
    const word2 = view.getInt32(pos2, true);
    const descriptor = descriptors[word & 0xff] as number;
    const descriptor2 = descriptors[word2 & 0xff] as number;
    if ((((word & lebBits) | slowPathBit | ((depth - 1 - ((word >> 8) & 0xff)) & branchBit)) & descriptor) === 0) {
      pos += descriptor & 15;
      depth += ((descriptor >> 4) & 3) - 1;
      lowest |= depth;
    } else {
      first.pos = pos;
      first.depth = depth;
      scanInstruction(scan, first);
      pos = first.pos;
      depth = first.depth;
    }
    if ((((word2 & lebBits) | slowPathBit | ((depth2 - 1 - ((word2 >> 8) & 0xff)) & branchBit)) & descriptor2) === 0) {
      pos2 += descriptor2 & 15;
      depth2 += ((descriptor2 >> 4) & 3) - 1;
      lowest2 |= depth2;
    } else {
      second.pos = pos2;
      second.depth = depth2;
      scanInstruction(scan, second);
      pos2 = second.pos;
      depth2 = second.depth;
    }
  }
  first.pos = pos;
  first.depth = depth;
  first.lowest = lowest;
  second.pos = pos2;
  second.depth = depth2;
  second.lowest = lowest2;
}

/** The same for one partition, after the other has ended. */
function run(scan: CodeScan, view: DataView, cursor: Cursor): void {
  const { fastEnd } = cursor;
  let { pos, depth, lowest } = cursor;
  while (pos < fastEnd) {
    const word = view.getInt32(pos, true);
    const descriptor = descriptors[word & 0xff] as number;
    if ((((word & lebBits) | slowPathBit | ((depth - 1 - ((word >> 8) & 0xff)) & branchBit)) & descriptor) === 0) {
      pos += descriptor & 15;
      depth += ((descriptor >> 4) & 3) - 1;
      lowest |= depth;
    } else {
      cursor.pos = pos;
      cursor.depth = depth;
      scanInstruction(scan, cursor);
      pos = cursor.pos;
      depth = cursor.depth;
    }
  }
  cursor.pos = pos;
  cursor.depth = depth;
  cursor.lowest = lowest;
}

function openBody(scan: CodeScan, cursor: Cursor): void {
  const { module, bounds } = scan;
  const { body } = cursor;
  if (body >= cursor.lastBody) return;
  const start = bounds[2 * body] as number;
  const end = bounds[2 * body + 1] as number;
  cursor.functionIndex = module.importedFunctions.length + body;
  cursor.end = end;
  cursor.fastEnd = Math.min(end - 1, module.bytes.length - 3);
  cursor.typeIndex = module.functionTypes[cursor.functionIndex] as number;
  cursor.widestBlock = 0;
  scan.declaredLocals = 0;
  cursor.pos = readLocals(module.bytes, start, end, cursor.functionIndex, scan.onLocals);
  countLocals(module.cost, scan.declaredLocals, cursor.typeIndex, start);
  cursor.depth = 0;
  cursor.lowest = 0;
  cursor.traits = 0;
}

/** Checks that the body ends in the right place, and opens the next one. */
function closeBody(scan: CodeScan, cursor: Cursor): void {
  const { source, end } = cursor;
  while (cursor.pos < end - 1) {
    scan.visitor?.onInstruction(cursor.pos, end, cursor.functionIndex, cursor.patchSites);
    scanInstruction(scan, cursor);
  }
  const isWhole = cursor.pos === end - 1 && cursor.depth === 0 && cursor.lowest >= 0 && source[end - 1] === Op.end;
  if (!isWhole) throw findFault(scan, cursor);
  scan.visitor?.onBodyEnd?.(end, cursor.patchSites);
  const start = scan.bounds[2 * cursor.body] as number;
  countBranches(scan.module.cost, end - start, cursor.widestBlock, start);
  scan.traits[cursor.body] = cursor.traits;
  scan.advance(end - start);
  cursor.body++;
  openBody(scan, cursor);
}

/** Finds the error with the slow path, after the fast path has found that there is one. */
function findFault(scan: CodeScan, cursor: Cursor): InstrumentError {
  openBody(scan, cursor);
  while (cursor.depth >= 0) scanInstruction(scan, cursor);
  return invalidModule('Expected one end for each block', cursor.end, cursor.functionIndex);
}
