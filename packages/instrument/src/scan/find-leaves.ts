import type { Module } from '../binary/module.ts';
import { Op } from '../binary/opcodes.ts';
import { BodyTrait, type CodeScan, type CodeVisitor } from './cursor.ts';

/** Without a loop, so few bytes take less than a microsecond. */
const maxLeafBytes = 2_048;

/** Finds functions whose calls are always short: they contain no loop, no call, and nothing else that can take long. */
export interface LeafFinder {
  readonly visitor: CodeVisitor;
  /** Makes leaves untraced, except those that the host can call: its calls are roots. */
  readonly clear: (scan: CodeScan, traced: Uint8Array) => void;
}

export function createLeafFinder(module: Module, bodyCount: number, inner: CodeVisitor | undefined): LeafFinder {
  const importCount = module.importedFunctions.length;
  const source = module.bytes;
  const canTakeLong = new Uint8Array(bodyCount);
  const { onBodyEnd } = inner ?? {};
  return {
    visitor: {
      onLocals: (typeAt) => inner?.onLocals(typeAt),
      onInstruction(offset, end, functionIndex, patchSites) {
        const opcode = source[offset] as number;
        if (opcode === Op.loop || opcode === Op.memoryGrow || opcode >= firstPrefix) {
          canTakeLong[functionIndex - importCount] = 1;
        }
        inner?.onInstruction(offset, end, functionIndex, patchSites);
      },
      ...(onBodyEnd === undefined ? {} : { onBodyEnd }),
    },
    clear({ traits, bounds }, traced) {
      const exported = new Set(module.exports.flatMap(({ kind, index }) => (kind === 'function' ? [index] : [])));
      for (let body = 0; body < bodyCount; body++) {
        const bytes = (bounds[2 * body + 1] as number) - (bounds[2 * body] as number);
        const isShort = canTakeLong[body] === 0 && bytes <= maxLeafBytes;
        const calls = ((traits[body] as number) & BodyTrait.canThrow) !== 0;
        if (isShort && !calls && !exported.has(importCount + body)) traced[importCount + body] = 0;
      }
    },
  };
}

/** The prefixes of bulk, array, vector, and atomic instructions. */
const firstPrefix = 0xfb;
