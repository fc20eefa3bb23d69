import type { Module } from '../binary/module.ts';
import type { Advance } from '../progress.ts';
import type { PatchSites } from './patch-sites.ts';

/** Traits of a body, as bits. */
export const BodyTrait = {
  /** A call or a throw. */
  canThrow: 1,
  /** A `return`, or a branch to the function's own label. */
  leavesEarly: 2,
} as const;

/** Hooks for each declaration of locals and each instruction. A scan with a visitor takes the slow path only, with one exception. */
export interface CodeVisitor {
  /**
   * The visitor wants to know the proposals that code uses, and so needs not each instruction: it may miss those that need
   * no proposal, or only one that it has seen. So the kernel can scan.
   */
  readonly isForProposals?: true;
  readonly onLocals: (typeAt: number) => void;
  readonly onInstruction: (offset: number, end: number, functionIndex: number, patchSites: PatchSites) => void;
  /** After the last instruction but the body's own `end`, which is the last byte before `end`. */
  readonly onBodyEnd?: (end: number, patchSites: PatchSites) => void;
}

/** The exception handling proposal that code uses: the legacy one (`try`), or the one with references (`try_table`). */
export type ExceptionHandling = 'none' | 'legacy' | 'exnref';

/** The results of the scan. */
export interface CodeScan {
  readonly module: Module;
  /** The bounds of every body, as pairs. */
  readonly bounds: Uint32Array;
  /** The exception handling that the instructions use. */
  exceptionHandling: ExceptionHandling;
  /** 1 for a memory that the code grows. */
  readonly grownMemories: Uint8Array;
  /** 1 for an imported function that a `ref.func` names. */
  readonly referencedImports: Uint8Array;
  /** {@link BodyTrait}s, by body. */
  readonly traits: Uint8Array;
  /** The partitions of the code, in order. */
  readonly partitions: readonly Cursor[];
  readonly advance: Advance;
  readonly visitor: CodeVisitor | undefined;
  /** Locals that the body opened last declares. */
  declaredLocals: number;
  readonly onLocals: (count: number, typeAt: number) => void;
}

/** A position in one partition of the code. */
export interface Cursor {
  readonly source: Uint8Array;
  /** The partition's bodies: `[firstBody, lastBody)`. */
  readonly firstBody: number;
  readonly lastBody: number;
  readonly patchSites: PatchSites;
  /** The body that is being read. */
  body: number;
  functionIndex: number;
  /** The type of the function. */
  typeIndex: number;
  /** The number of values of the widest block type so far. */
  widestBlock: number;
  end: number;
  pos: number;
  depth: number;
  traits: number;
}
