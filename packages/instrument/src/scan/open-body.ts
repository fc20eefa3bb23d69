import { readLocals } from '../binary/code.ts';
import { countLocals } from '../binary/validation-cost.ts';
import type { CodeScan, Cursor } from './cursor.ts';

/** Reads the locals of the cursor's body, and moves the cursor to its first instruction. */
export function openBody(scan: CodeScan, cursor: Cursor): void {
  const { module, bounds } = scan;
  const { body } = cursor;
  const start = bounds[2 * body] as number;
  cursor.functionIndex = module.importedFunctions.length + body;
  cursor.end = bounds[2 * body + 1] as number;
  cursor.typeIndex = module.functionTypes[cursor.functionIndex] as number;
  cursor.widestBlock = 0;
  scan.declaredLocals = 0;
  cursor.pos = readLocals(module.bytes, start, cursor.end, cursor.functionIndex, scan.onLocals);
  countLocals(module.cost, scan.declaredLocals, cursor.typeIndex, start);
  cursor.depth = 0;
  cursor.traits = 0;
}
