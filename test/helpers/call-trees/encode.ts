import { createRandom, type Random } from '../random.ts';
import { type Assembler, type Bytes, createAssembler, flatten, heap, op } from './assembler.ts';
import { encodeBody, hinted, payloadAndExceptionType } from './encode-body.ts';
import { type MemoryPlan, type Program, type ResultType, resultLists, tagCount } from './program.ts';

const valueTypes: Readonly<Record<ResultType, Bytes>> = {
  i32: [0x7f],
  i64: [0x7e],
  f64: [0x7c],
  funcref: [heap.func],
  anyref: [heap.any],
  typed: [0x63, 0],
  nonNull: [0x64, 0],
};
const bootType = resultLists.length;
const tagTypes = [resultLists.length + 1, resultLists.length + 2];

/** Encodes a program. What the program leaves open (the form of a segment, padding) comes from `seed`. */
export function encode(program: Program, seed: number): Uint8Array {
  const { imports, functions, memories, start, generation } = program;
  const random = createRandom(seed);
  const asm = createAssembler(random, program.paddedPercent);
  const count = imports.length + functions.length;
  const hasTags = generation !== 'none';
  const indices = Array.from({ length: count }, (_, index) => index);
  const typeOf = (index: number) =>
    (index < imports.length ? imports[index] : functions[index - imports.length])?.results ?? 0;
  const ofTypeZero = indices.find((index) => typeOf(index) === 0) ?? 0;
  const references = { globalOf: (index: number) => index, typeOf, ofTypeZero };

  const importEntries = [
    ...imports.map((_, index) => [asm.name('env'), asm.name(`h${index}`), 0, asm.u32(typeOf(index))]),
    ...memories.flatMap((memory, index) =>
      memory.visibility === 'imported' ? [[asm.name('env'), asm.name(`m${index}`), 2, limits(asm, memory)]] : [],
    ),
  ];
  const ownTypes = functions.map((_, place) => asm.u32(typeOf(imports.length + place)));
  const exportEntries = [
    ...indices.map((index) => [asm.name(`f${index}`), 0, asm.u32(index)]),
    ...memories.flatMap((memory, index) =>
      memory.visibility === 'exported' ? [[asm.name(`m${index}`), 2, asm.u32(index)]] : [],
    ),
    ...(hasTags ? [0, 1].map((tag) => [asm.name(`t${tag}`), 4, asm.u32(tag)]) : []),
    ...(start === undefined ? [] : [[asm.name('boot'), 0, asm.u32(count)]]),
  ];
  const plans = functions.map((own) => takeHints(flatten(encodeBody(program, own, asm, references))));
  const bodies = plans.map(({ code }) => asm.sized(code));
  const boot = (target: number, fuel: number) => {
    const results = resultLists[typeOf(target)] as readonly ResultType[];
    const code = [op.i32_const, asm.s32(fuel), op.call, asm.u32(target), results.map(() => op.drop), op.end];
    return asm.sized([asm.vector([]), code]);
  };
  const sections: [number, Bytes | undefined][] = [
    [1, asm.vector(types(asm, generation === 'exnref'))],
    [2, importEntries.length > 0 ? asm.vector(importEntries) : undefined],
    [3, asm.vector(start === undefined ? ownTypes : [...ownTypes, asm.u32(bootType)])],
    [4, asm.vector([[heap.func, 0, asm.u32(count + 1)]])],
    [5, ownMemories(asm, memories)],
    [13, hasTags ? asm.vector(tagTypes.map((type) => [0, asm.u32(type)])) : undefined],
    [6, asm.vector(indices.map((index) => referenceGlobal(asm, typeOf(index), index)))],
    [7, asm.vector(exportEntries)],
    [8, start === undefined ? undefined : asm.u32(count)],
    [9, asm.vector(segments(asm, random, indices))],
    [10, asm.vector(start === undefined ? bodies : [...bodies, boot(start.target, start.fuel)])],
  ];
  const custom = () =>
    program.hasCustomSections && random.below(3) === 0
      ? [0, asm.sized([asm.name(random.pick(['', 'x', 'größe'])), 1, 2, 3])]
      : [];
  return Uint8Array.from(
    flatten([
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      sections.map(([id, contents]) => [
        custom(),
        id === 10 && program.hasBranchHints ? branchHints(asm, plans, imports.length) : [],
        contents === undefined ? [] : [id, asm.sized(contents)],
      ]),
      custom(),
    ]),
  );
}

/** Separates the marks before hinted instructions from the code, and tells where these lie in it. */
function takeHints(marked: readonly number[]): { code: number[]; hints: number[] } {
  const code: number[] = [];
  const hints: number[] = [];
  for (const byte of marked) {
    if (byte === hinted) hints.push(code.length);
    else code.push(byte);
  }
  return { code, hints };
}

/** https://webassembly.github.io/branch-hinting/metadata/code/binary.html */
function branchHints(asm: Assembler, plans: readonly { hints: number[] }[], importCount: number): Bytes {
  const entries = plans.flatMap(({ hints }, place) =>
    hints.length === 0
      ? []
      : [[asm.u32(importCount + place), asm.vector(hints.map((offset, count) => [asm.u32(offset), 1, count & 1]))]],
  );
  return [0, asm.sized([asm.name('metadata.code.branch_hint'), asm.vector(entries)])];
}

function types(asm: Assembler, hasExceptionReferences: boolean): Bytes[] {
  const type = (parameters: Bytes[], results: Bytes[]): Bytes => [0x60, asm.vector(parameters), asm.vector(results)];
  const lists = resultLists.map((results) =>
    type(
      [[0x7f]],
      results.map((result) => valueTypes[result]),
    ),
  );
  const caught: Bytes[] = hasExceptionReferences ? [[0x7f], [heap.exn]] : [];
  const all = [...lists, type([], []), type([[0x7f]], []), type([], []), type([], caught)];
  if (tagTypes.length !== tagCount || all.length !== payloadAndExceptionType + 1) throw new Error('The types are off');
  return all;
}

function limits(asm: Assembler, { minimum, maximum, isShared, is64 }: MemoryPlan): Bytes {
  const flags = (maximum === undefined ? 0 : 1) | (isShared ? 2 : 0) | (is64 ? 4 : 0);
  return [flags, asm.u32(minimum), maximum === undefined ? [] : asm.u32(maximum)];
}

function ownMemories(asm: Assembler, memories: readonly MemoryPlan[]): Bytes | undefined {
  const own = memories.filter(({ visibility }) => visibility !== 'imported');
  return own.length > 0 ? asm.vector(own.map((memory) => limits(asm, memory))) : undefined;
}

/** An immutable `(ref TYPE)` that holds the function. */
function referenceGlobal(asm: Assembler, type: number, index: number): Bytes {
  return [0x64, asm.s32(type), 0, op.ref_func, asm.u32(index), op.end];
}

/** Puts every function into the slot of its own index, by segments of every active form, with others between them. */
function segments(asm: Assembler, random: Random, indices: readonly number[]): Bytes[] {
  const segments: Bytes[] = [];
  for (let from = 0; from < indices.length; ) {
    const to = Math.min(indices.length, from + 1 + random.below(4));
    const members = indices.slice(from, to);
    const asIndices = asm.vector(members.map((index) => asm.u32(index)));
    const asExpressions = asm.vector(members.map((index) => [op.ref_func, asm.u32(index), op.end]));
    const offset = [op.i32_const, asm.s32(from), op.end];
    const forms: Bytes[] = [
      [asm.u32(0), offset, asIndices],
      [asm.u32(2), asm.u32(0), offset, 0, asIndices],
      [asm.u32(4), offset, asExpressions],
      [asm.u32(6), asm.u32(0), offset, heap.func, asExpressions],
    ];
    const unused: Bytes[] = [
      [asm.u32(1), 0, asIndices],
      [asm.u32(3), 0, asIndices],
      [asm.u32(5), heap.func, asExpressions],
      [asm.u32(7), heap.func, asExpressions],
    ];
    segments.push(random.pick(forms));
    if (random.below(3) === 0) segments.push(random.pick(unused));
    from = to;
  }
  return segments;
}
