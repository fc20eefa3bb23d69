import type { Module } from '../binary/module.ts';
import { BodyTrait, type CodeScan } from '../scan/cursor.ts';
import { type ExitGuard, guardPrologueLength } from './exit-guard.ts';
import { addedLocalsLength, enterLength } from './hook-code.ts';
import type { Layout } from './layout.ts';
import type { TypePool } from './type-pool.ts';

/** The input of measuring and writing bodies. */
export interface BodyContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly scan: CodeScan;
}

/** The guard that a body needs so that every exit path calls `exit`. */
export function exitGuardOf({ layout, scan }: BodyContext, body: number): ExitGuard {
  if (layout.traced[layout.importCount + body] !== 1) return 'none';
  const traits = scan.traits[body] as number;
  if ((traits & BodyTrait.canThrow) !== 0 && layout.exceptionHandling !== 'none') return layout.exceptionHandling;
  return (traits & BodyTrait.leavesEarly) !== 0 ? 'block' : 'bare';
}

/** The block type of a guard. A guard without a block must not add a type. */
export function blockTypeOf(types: TypePool, guard: ExitGuard, typeIndex: number): Uint8Array {
  return guard === 'none' || guard === 'bare' ? noBlockType : types.blockTypeOf(typeIndex);
}

const noBlockType = new Uint8Array();

/** Bytes that are added before the first instruction of a body. */
export function prologueLength({ module, layout, types, scan }: BodyContext, body: number, guard: ExitGuard): number {
  if (guard === 'none') return 0;
  const functionIndex = layout.importCount + body;
  const blockType = blockTypeOf(types, guard, module.functionTypes[functionIndex] as number);
  const outputIndex = functionIndex + layout.shift;
  const locals = addedLocalsLength(layout, outputIndex, module.bytes, scan.bounds[2 * body] as number);
  return locals + enterLength(layout, outputIndex) + guardPrologueLength(guard, blockType);
}
