import { readBodyBounds } from './binary/code.ts';
import { isExtendedConst } from './binary/const-expr.ts';
import { type Module, readModule } from './binary/module.ts';
import { Op } from './binary/opcodes.ts';
import { instructionBits, valueTypeBits, valueTypesBits } from './binary/proposal-bits.ts';
import { namesOfBits, type Proposal, ProposalBit } from './binary/proposals.ts';
import { readerOver } from './binary/reader.ts';
import type { SectionVisitor } from './binary/section-visitor.ts';
import { findSection, SectionId } from './binary/sections.ts';
import { peekU32 } from './binary/skip.ts';
import type { GlobalType, Limits, TableType } from './binary/types.ts';
import { visitSection } from './binary/visit-section.ts';
import { describe, type ModuleDescription } from './describe.ts';
import type { CodeVisitor } from './scan/cursor.ts';
import { scanCode } from './scan/scan-code.ts';

export interface ModuleInspection extends ModuleDescription {
  readonly proposals: readonly Proposal[];
}

/**
 * Lists the WebAssembly proposals beyond the first version (MVP) whose instructions, types or section grammar a module uses.
 * A proposal that another one depends on is listed only if the module uses it too.
 *
 * Every instruction is read but not validated. Throws what {@link describeModule} throws, and `unsupported_feature` for
 * instructions of unknown proposals.
 */
export function listProposals(bytes: Uint8Array): Proposal[] {
  const module = readModule(bytes);
  return proposalsOf(module, readBodyBounds(module));
}

/** What {@link describeModule} and {@link listProposals} return, for one reading of the module. */
export function inspectModule(bytes: Uint8Array): ModuleInspection {
  const module = readModule(bytes);
  return { proposals: proposalsOf(module, readBodyBounds(module)), ...describe(module) };
}

function proposalsOf(module: Module, bounds: Uint32Array): Proposal[] {
  const { bytes } = module;
  let bits = declarationBits(module);
  const add = (more: number) => {
    bits |= more;
  };
  const visitor = proposalVisitor(module, add);
  for (const id of [SectionId.table, SectionId.global, SectionId.element, SectionId.data] as const) {
    const section = findSection(module.sections, id);
    if (section !== undefined) visitSection(bytes, section, id, visitor);
  }
  scanCode(module, bounds, () => {}, codeProposalVisitor(bytes, add));
  return namesOfBits(bits);
}

/** The proposals behind what {@link readModule} reads: types, imports, memories and tags. */
function declarationBits({ bytes, types, imports, memories, tableCount, tagCount, sections }: Module): number {
  let bits = tagCount > 0 ? ProposalBit.someExceptions : 0;
  for (const type of types) {
    if (type === null || !type.isPlain) bits |= ProposalBit.gc;
    if (type === null) continue;
    if (type.resultCount > 1) bits |= ProposalBit.multiValue;
    bits |= valueTypesBits(readerOver(bytes, type.parametersStart), type.parameterCount);
    bits |= valueTypesBits(readerOver(bytes, type.resultsStart), type.resultCount);
  }
  for (const entry of imports) {
    if (entry.kind === 'table') bits |= tableBits(entry.table);
    if (entry.kind === 'global') bits |= globalBits(entry.global, true);
  }
  if (tableCount > 1) bits |= ProposalBit.referenceTypes;
  for (const memory of memories) bits |= limitBits(memory);
  if (memories.length > 1) bits |= ProposalBit.multiMemory;
  if (findSection(sections, SectionId.dataCount) !== undefined) bits |= ProposalBit.bulkMemory;
  return bits;
}

function limitBits({ isShared, is64, pageSizeLog2 }: Limits): number {
  const { threads, memory64, customPageSizes } = ProposalBit;
  return (isShared ? threads : 0) | (is64 ? memory64 : 0) | (pageSizeLog2 === 16 ? 0 : customPageSizes);
}

function tableBits({ elementType, limits }: TableType): number {
  return elementBits(elementType) | (limits.is64 ? ProposalBit.memory64 : 0);
}

/** A table of functions needs no proposal. */
function elementBits(elementType: string): number {
  return elementType === 'funcref' ? 0 : valueTypeBits(elementType);
}

/** MVP has mutable globals, but doesn't import or export them. */
function globalBits({ valueType, isMutable }: GlobalType, isShared: boolean): number {
  return valueTypeBits(valueType) | (isMutable && isShared ? ProposalBit.mutableGlobal : 0);
}

function proposalVisitor({ bytes, imports, exports, cost }: Module, add: (bits: number) => void): SectionVisitor {
  const exportedGlobals = new Set(exports.filter(({ kind }) => kind === 'global').map(({ index }) => index));
  const importedGlobals = imports.filter(({ kind }) => kind === 'global').length;
  let globals = importedGlobals;
  return {
    cost,
    onTable(type, hasInitializer) {
      add(tableBits(type) | (hasInitializer ? ProposalBit.functionReferences : 0));
    },
    onGlobal(type) {
      add(globalBits(type, exportedGlobals.has(globals++)));
    },
    onElementSegment(flags, elementType) {
      const isDeclarative = (flags & 3) === 3;
      if (flags !== 0) add(isDeclarative ? ProposalBit.referenceTypes : ProposalBit.bulkMemory);
      add(elementBits(elementType));
    },
    onDataSegment(flags) {
      if (flags !== 0) add(ProposalBit.bulkMemory);
    },
    onConstInstruction(offset, end) {
      const opcode = bytes[offset] as number;
      add(instructionBits(bytes, offset, end, 0));
      if (isExtendedConst(opcode)) add(ProposalBit.extendedConst);
      // MVP constant expressions read imported globals only.
      if (opcode === Op.globalGet && peekU32(bytes, offset + 1, end, 0) >= importedGlobals) add(ProposalBit.gc);
    },
  };
}

function codeProposalVisitor(bytes: Uint8Array, add: (bits: number) => void): CodeVisitor {
  return {
    isForProposals: true,
    onLocals: (typeAt) => add(valueTypesBits(readerOver(bytes, typeAt), 1)),
    onInstruction: (offset, end, functionIndex) => add(instructionBits(bytes, offset, end, functionIndex)),
  };
}
