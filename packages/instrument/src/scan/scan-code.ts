import type { Module } from '../binary/module.ts';
import { countBranches } from '../binary/validation-cost.ts';
import { InstrumentError, invalidModule } from '../errors.ts';
import type { Advance } from '../progress.ts';
import type { CodeScan, CodeVisitor, Cursor } from './cursor.ts';
import { openBody } from './open-body.ts';
import { createPatchSites } from './patch-sites.ts';
import { scanInstruction } from './scan-instruction.ts';
import { releaseKernel, streamCount, takeKernel, takeWatchingKernel } from './scan-kernel.ts';
import { scanStreams } from './scan-streams.ts';

/**
 * Reads every instruction once: with the kernel, a WebAssembly module that reads several partitions of the code in turn, or
 * without it if a visitor needs every instruction. If the kernel finds a fault, the code is scanned again without it: only the
 * slow path's errors count, so they name the first fault.
 */
export function scanCode(module: Module, bounds: Uint32Array, advance: Advance, visitor?: CodeVisitor): CodeScan {
  const kernel = visitor === undefined ? takeKernel() : visitor.isForProposals ? takeWatchingKernel() : undefined;
  if (kernel !== undefined) {
    const { checkedValues } = module.cost;
    try {
      const scan = createScan(module, bounds, advance, visitor);
      scanStreams(scan, kernel);
      return scan;
    } catch (error) {
      if (!(error instanceof InstrumentError)) throw error;
      module.cost.checkedValues = checkedValues;
    } finally {
      releaseKernel(kernel);
    }
  }
  const scan = createScan(module, bounds, advance, visitor);
  for (const partition of scan.partitions) {
    for (; partition.body < partition.lastBody; partition.body++) scanBody(scan, partition);
  }
  return scan;
}

function createScan(module: Module, bounds: Uint32Array, advance: Advance, visitor: CodeVisitor | undefined): CodeScan {
  const bodyCount = bounds.length / 2;
  const scan: CodeScan = {
    module,
    bounds,
    exceptionHandling: 'none',
    grownMemories: new Uint8Array(module.memories.length),
    referencedImports: new Uint8Array(module.importedFunctions.length),
    traits: new Uint8Array(bodyCount),
    partitions: createPartitions(module, bounds),
    advance,
    visitor,
    declaredLocals: 0,
    onLocals(count, typeAt) {
      scan.declaredLocals += count;
      visitor?.onLocals(typeAt);
    },
  };
  return scan;
}

/** Divides the bodies into partitions of about the same number of bytes. */
function createPartitions(module: Module, bounds: Uint32Array): Cursor[] {
  const bodyCount = bounds.length / 2;
  const start = bounds[0] ?? 0;
  const codeBytes = (bounds.at(-1) ?? 0) - start;
  const partitions: Cursor[] = [];
  let body = 0;
  for (let number = 1; number <= streamCount; number++) {
    const firstBody = body;
    const until = start + (codeBytes * number) / streamCount;
    while (body < bodyCount && (bounds[2 * body] as number) < until) body++;
    partitions.push(createCursor(module, bounds, firstBody, number === streamCount ? bodyCount : body));
  }
  return partitions;
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
    pos: 0,
    depth: 0,
    traits: 0,
  };
}

/** Scans one body without the kernel. */
function scanBody(scan: CodeScan, cursor: Cursor): void {
  openBody(scan, cursor);
  const { end, body } = cursor;
  const { visitor } = scan;
  while (cursor.depth >= 0) {
    if (cursor.pos < end - 1) visitor?.onInstruction(cursor.pos, end, cursor.functionIndex, cursor.patchSites);
    scanInstruction(scan, cursor);
  }
  if (cursor.pos !== end) throw invalidModule('Expected one end for each block', end, cursor.functionIndex);
  visitor?.onBodyEnd?.(end, cursor.patchSites);
  const start = scan.bounds[2 * body] as number;
  countBranches(scan.module.cost, end - start, cursor.widestBlock, start);
  scan.traits[body] = cursor.traits;
  scan.advance(end - start);
}
