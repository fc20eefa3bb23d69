import type { Module } from '../binary/module.ts';
import { ImmediateKind, oneByteKinds } from '../binary/opcodes.ts';
import { findSection, SectionId } from '../binary/sections.ts';
import { peekU32 } from '../binary/skip.ts';
import { describeFunctionType } from '../binary/types.ts';
import { visitSection } from '../binary/visit-section.ts';
import { scanCode } from '../scan/scan-code.ts';

/** A function calls or references another one, or calls any function of a type. */
const toFunction = 0;
const toType = 1;

/**
 * Finds the functions that `roots` can reach inside the module, and returns 1 for each, by function index. A call by
 * reference or through a table may reach each function of the same signature that is in a table or global. All reference
 * types count as one, because a function may have a subtype of the expected type. Calls by the host are not followed, apart
 * from the `invoke_*` imports through which Emscripten calls a table.
 */
export function findReachable(module: Module, bodyBounds: Uint32Array, roots: Iterable<number>): Uint8Array {
  const reached = new Uint8Array(module.functionTypes.length);
  const { firstEdges, edges } = readCalls(module, bodyBounds);
  const signatures = createSignatures(module);
  const tableFunctions = groupTableFunctions(module, signatures.ofType);
  const open: number[] = [];
  const reach = (index: number) => {
    if (reached[index] === 1) return;
    reached[index] = 1;
    open.push(index);
  };
  const reachSignature = (signature: string) => {
    for (const index of tableFunctions.get(signature) ?? []) reach(index);
    tableFunctions.delete(signature);
  };
  for (const index of roots) reach(index);
  const importCount = module.importedFunctions.length;
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (index < importCount) {
      if (isInvoke.test(module.importedFunctions[index]?.name ?? '')) reachSignature(signatures.ofInvoke(index));
      continue;
    }
    const body = index - importCount;
    for (let at = firstEdges[body] as number; at < (firstEdges[body + 1] as number); at++) {
      const edge = edges[at] as number;
      if ((edge & 1) === toFunction) reach(edge >>> 1);
      else reachSignature(signatures.ofType(edge >>> 1));
    }
  }
  return reached;
}

/** The first parameter is the place in the table; the others are the arguments. */
const isInvoke = /^_{0,2}invoke_[a-z]+$/;

interface Calls {
  /** By body, its first edge; the edges of the last body end at the last element. */
  readonly firstEdges: Uint32Array;
  /** A function or type index, shifted by the bit {@link toFunction} or {@link toType}. */
  readonly edges: Uint32Array;
}

function readCalls(module: Module, bodyBounds: Uint32Array): Calls {
  const { bytes } = module;
  const importCount = module.importedFunctions.length;
  const firstEdges = new Uint32Array(bodyBounds.length / 2 + 1);
  let edges = new Uint32Array(1024);
  let count = 0;
  let body = 0;
  const onInstruction = (offset: number, end: number, functionIndex: number) => {
    const kind = oneByteKinds[bytes[offset] as number];
    const isOfType = kind === ImmediateKind.CallRef || kind === ImmediateKind.ReturnCallRef;
    const isIndirect = kind === ImmediateKind.CallIndirect || kind === ImmediateKind.ReturnCallIndirect || isOfType;
    const isDirect = kind === ImmediateKind.Call || kind === ImmediateKind.ReturnCall || kind === ImmediateKind.RefFunc;
    if (!isDirect && !isIndirect) return;
    while (body < functionIndex - importCount) firstEdges[++body] = count;
    if (count === edges.length) {
      const grown = new Uint32Array(2 * count);
      grown.set(edges);
      edges = grown;
    }
    edges[count++] = 2 * peekU32(bytes, offset + 1, end, functionIndex) + (isDirect ? toFunction : toType);
  };
  // The scan before the rewriting counts the cost of validating once more.
  const counted = { ...module, cost: { ...module.cost } };
  scanCode(counted, bodyBounds, () => {}, { onLocals() {}, onInstruction });
  while (body < firstEdges.length - 1) firstEdges[++body] = count;
  return { firstEdges, edges };
}

interface Signatures {
  readonly ofType: (typeIndex: number) => string;
  readonly ofInvoke: (importedFunction: number) => string;
}

function createSignatures({ bytes, types, functionTypes }: Module): Signatures {
  const known = new Map<number, string>();
  const describe = (typeIndex: number, skippedParameters: number): string => {
    const type = types[typeIndex];
    if (type === undefined || type === null) return '';
    const { params, results } = describeFunctionType(bytes, type);
    const classes = (names: string[]) => names.map((name) => (isNumeric.test(name) ? name : 'ref')).join();
    return `${classes(params.slice(skippedParameters))}:${classes(results)}`;
  };
  return {
    ofType(typeIndex) {
      const signature = known.get(typeIndex) ?? describe(typeIndex, 0);
      known.set(typeIndex, signature);
      return signature;
    },
    ofInvoke: (importedFunction) => describe(functionTypes[importedFunction] as number, 1),
  };
}

const isNumeric = /^(?:[if](?:32|64)|v128)$/;

/** The functions in tables, globals and element segments, by signature. */
function groupTableFunctions(module: Module, signatureOf: (typeIndex: number) => string): Map<string, Set<number>> {
  const groups = new Map<string, Set<number>>();
  let isDeclarative = false;
  for (const id of [SectionId.table, SectionId.global, SectionId.element] as const) {
    const section = findSection(module.sections, id);
    if (section === undefined) continue;
    visitSection(module.bytes, section, id, {
      cost: { ...module.cost },
      onElementSegment(flags) {
        isDeclarative = (flags & 3) === 3;
      },
      onFunctionIndex(index) {
        const typeIndex = module.functionTypes[index];
        if (isDeclarative || typeIndex === undefined) return;
        const signature = signatureOf(typeIndex);
        const group = groups.get(signature) ?? new Set();
        groups.set(signature, group.add(index));
      },
    });
  }
  return groups;
}
