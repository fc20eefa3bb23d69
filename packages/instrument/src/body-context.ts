import type { ByteWriter } from './byte-writer.ts';
import { unsupportedFeature } from './errors.ts';
import type { Handlers, Layout } from './layout.ts';
import type { Module } from './module.ts';
import type { TypePool } from './type-pool.ts';

/** What the code turned out to hold. */
export interface CodeFindings {
  /** The generation of exception handling that some instruction belongs to. */
  generation: Handlers;
  /** Memories that `memory.grow` grows, in the order of the helpers that stand for it. */
  readonly grownMemories: number[];
  /** 1 for an imported function of which `ref.func` takes a reference. */
  readonly referencedImports: Uint8Array;
  /** Blocks put around each body, by which the indices of its labels shift. */
  readonly addedLabels: Uint8Array;
  /** Functions whose body would have passed an engine's limit. */
  readonly leftUntraced: number[];
}

/** What the rewriting of bodies reads and writes. One for each pass over the code. */
export interface BodyContext {
  readonly module: Module;
  readonly layout: Layout;
  readonly types: TypePool;
  readonly writer: ByteWriter;
  readonly findings: CodeFindings;
  /** Per memory, the function that stands for `memory.grow`; -1 as long as none is needed. */
  readonly helperOfMemory: Int32Array;
}

export function createBodyContext(module: Module, layout: Layout, types: TypePool, writer: ByteWriter): BodyContext {
  const { importCount, functionCount } = layout;
  const findings: CodeFindings = {
    generation: 'none',
    grownMemories: [],
    referencedImports: new Uint8Array(importCount),
    addedLabels: new Uint8Array(functionCount - importCount),
    leftUntraced: [],
  };
  const helperOfMemory = new Int32Array(module.memories.length).fill(-1);
  return { module, layout, types, writer, findings, helperOfMemory };
}

/** The function that stands for `memory.grow` of a memory, which gets its index the first time. */
export function growHelperOf({ layout, findings, helperOfMemory }: BodyContext, memoryIndex: number): number {
  const existing = helperOfMemory[memoryIndex] as number;
  if (existing !== -1) return existing;
  const helper = layout.growHelpersIndex + findings.grownMemories.push(memoryIndex) - 1;
  helperOfMemory[memoryIndex] = helper;
  return helper;
}

/** Notes a generation of exception handling; false if the layout's handlers are of another one. */
export function agreesWith(
  { layout, findings }: BodyContext,
  generation: Handlers,
  offset: number,
  functionIndex: number,
): boolean {
  if (findings.generation !== 'none' && findings.generation !== generation) {
    const feature = 'both generations of exception handling in one module';
    throw unsupportedFeature(feature, 'Found an instruction of the other generation', offset, functionIndex);
  }
  findings.generation = generation;
  return layout.enterIndex === -1 || layout.handlers === generation;
}
