import type { Module } from '../binary/module.ts';
import type { Advance } from '../progress.ts';
import type { PatchSites } from './patch-sites.ts';

/** What a body does, as bits. */
export const BodyTrait = {
  /** A call or a throw. */
  canThrow: 1,
  /** A `return`, or a branch to the function's own label. */
  leavesEarly: 2,
} as const;

/** Hooks for each declaration of locals and each instruction. A scan with a visitor takes the slow path only. */
export interface CodeVisitor {
  readonly onLocals: (typeAt: number) => void;
  readonly onInstruction: (offset: number, end: number, functionIndex: number) => void;
}

/** The exception handling proposal that code uses: the legacy one (`try`), or the one with references (`try_table`). */
export type ExceptionHandling = 'none' | 'legacy' | 'exnref';

/** What the code holds that the rewriter needs to know, found out before anything is written. */
export interface CodeScan {
  readonly module: Module;
  /** The bounds of every body, as pairs. */
  readonly bounds: Uint32Array;
  /** The generation of exception handling that some instruction belongs to. */
  exceptionHandling: ExceptionHandling;
  /** 1 for a memory that the code grows. */
  readonly grownMemories: Uint8Array;
  /** 1 for an imported function of which `ref.func` takes a reference. */
  readonly referencedImports: Uint8Array;
  /** {@link BodyTrait}s, by body. */
  readonly traits: Uint8Array;
  /** The two partitions of the code. */
  readonly partitions: readonly Cursor[];
  readonly advance: Advance;
  readonly visitor: CodeVisitor | undefined;
  /** Locals that the body declares which was opened last. */
  declaredLocals: number;
  readonly onLocals: (count: number, typeAt: number) => void;
}

/** One of two places at which the code is read. */
export interface Cursor {
  readonly source: Uint8Array;
  /** The bodies from here on are this cursor's. */
  readonly firstBody: number;
  /** The first body that no longer is. */
  readonly lastBody: number;
  readonly patchSites: PatchSites;
  /** The body that is being read. */
  body: number;
  functionIndex: number;
  /** The type of the function. */
  typeIndex: number;
  /** How many values the widest block of the body passes on, as far as it has been read. */
  widestBlock: number;
  end: number;
  /** Up to here four bytes can be read at once, and an instruction is not the last one. */
  fastEnd: number;
  pos: number;
  depth: number;
  /** Negative once the depth has been: there is an `end` too many. */
  lowest: number;
  traits: number;
}
