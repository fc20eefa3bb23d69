import { readKind, skipConstImmediates } from './binary/const-expr.ts';
import { externalKinds, type Module, readBodyBounds, readModule } from './binary/module.ts';
import { ImmediateKind, Op } from './binary/opcodes.ts';
import { namesOfBits, type Proposal, ProposalBit } from './binary/proposals.ts';
import { type ByteReader, readByte, readCount, readerOver, readU32, skipBytes, skipName } from './binary/reader.ts';
import { findSection, SectionId } from './binary/sections.ts';
import { peekU32 } from './binary/skip.ts';
import { valueTypeBits, valueTypesBits } from './binary/type-proposals.ts';
import { type Limits, readLimits, readValueType } from './binary/types.ts';
import type { ValidationCost } from './binary/validation-cost.ts';
import { invalidModule } from './errors.ts';
import { codeBits, instructionBits } from './scan/code-proposals.ts';

/**
 * Lists the WebAssembly proposals that a module uses, beyond the first version (MVP): those that brought an instruction, type or
 * form of section that is in it. What one proposal presupposes of others is not listed for that alone.
 *
 * Every instruction is read, but as everywhere here not validated. Throws what {@link describeModule} throws, and
 * `unsupported_feature` for instructions of proposals that this version does not know.
 */
export function listProposals(bytes: Uint8Array): Proposal[] {
  const module = readModule(bytes);
  const bounds = readBodyBounds(module);
  return namesOfBits(
    typeBits(module) |
      importBits(module) |
      memoryBits(module) |
      tableBits(module) |
      globalBits(module) |
      elementBits(module) |
      dataBits(module) |
      (module.tagCount > 0 ? ProposalBit.someExceptions : 0) |
      codeBits(module, bounds),
  );
}

function typeBits({ bytes, types }: Module): number {
  let bits = 0;
  for (const type of types) {
    if (type === null || !type.isPlain) bits |= ProposalBit.gc;
    if (type === null) continue;
    if (type.resultCount > 1) bits |= ProposalBit.multiValue;
    bits |= valueTypesBits(readerOver(bytes, type.parametersStart), type.parameterCount);
    bits |= valueTypesBits(readerOver(bytes, type.resultsStart), type.resultCount);
  }
  return bits;
}

/** A reader that comes past constant expressions: they may speak of globals, of which the imported ones come first. */
interface SectionReader extends ByteReader {
  readonly importedGlobals: number;
  readonly cost: ValidationCost;
}

function readerOfSection({ bytes, sections, imports, cost }: Module, id: number): SectionReader | undefined {
  const section = findSection(sections, id);
  if (section === undefined) return undefined;
  const importedGlobals = imports.filter(({ kind }) => kind === 'global').length;
  return { ...readerOver(bytes, section.contentStart, section.end), importedGlobals, cost };
}

function importBits(module: Module): number {
  const reader = readerOfSection(module, SectionId.import);
  if (reader === undefined) return 0;
  let bits = 0;
  const count = readCount(reader, 'the number of imports');
  for (let index = 0; index < count; index++) {
    skipName(reader, "an import's module");
    skipName(reader, "an import's name");
    const kind = externalKinds[readByte(reader, 'the kind of an import')];
    if (kind === 'function') readU32(reader, "a function's type");
    else if (kind === 'memory') readLimits(reader, 'a memory');
    else if (kind === 'table') bits |= tableTypeBits(reader);
    else if (kind === 'global') bits |= globalTypeBits(reader);
    else skipBytes(reader, 1, "a tag's attribute");
    if (kind === 'tag') readU32(reader, "a tag's type");
  }
  return bits;
}

function memoryBits({ memories }: Module): number {
  const own = memories.reduce((bits, memory) => bits | limitBits(memory), 0);
  return memories.length > 1 ? own | ProposalBit.multiMemory : own;
}

function limitBits({ isShared, is64, pageSizeLog2 }: Limits): number {
  const { threads, memory64, customPageSizes } = ProposalBit;
  return (isShared ? threads : 0) | (is64 ? memory64 : 0) | (pageSizeLog2 === 16 ? 0 : customPageSizes);
}

/** A table of functions needs no proposal. */
function tableTypeBits(reader: ByteReader): number {
  const type = readValueType(reader);
  const { is64 } = readLimits(reader, 'a table');
  return (type === 'funcref' ? 0 : valueTypeBits(type)) | (is64 ? ProposalBit.memory64 : 0);
}

function tableBits(module: Module): number {
  const imported = module.imports.filter(({ kind }) => kind === 'table').length;
  const reader = readerOfSection(module, SectionId.table);
  const count = reader === undefined ? 0 : readCount(reader, 'the number of tables');
  let bits = imported + count > 1 ? ProposalBit.referenceTypes : 0;
  for (let index = 0; reader !== undefined && index < count; index++) {
    const hasInitializer = reader.bytes[reader.offset] === 0x40;
    if (hasInitializer) skipBytes(reader, 2, 'a table with an initializer');
    bits |= tableTypeBits(reader);
    if (hasInitializer) bits |= ProposalBit.functionReferences | constExprBits(reader);
  }
  return bits;
}

/** A global of the host's, or for it. */
function globalTypeBits(reader: ByteReader): number {
  const bits = valueTypeBits(readValueType(reader));
  return readByte(reader, "a global's mutability") === 1 ? bits | ProposalBit.mutableGlobal : bits;
}

function globalBits(module: Module): number {
  const reader = readerOfSection(module, SectionId.global);
  if (reader === undefined) return 0;
  const exported = new Set(module.exports.filter(({ kind }) => kind === 'global').map(({ index }) => index));
  let bits = 0;
  const count = readCount(reader, 'the number of globals');
  for (let index = 0; index < count; index++) {
    const own = globalTypeBits(reader);
    bits |= exported.has(reader.importedGlobals + index) ? own : own & ~ProposalBit.mutableGlobal;
    bits |= constExprBits(reader);
  }
  return bits;
}

/** The kinds of element segments that the first version had not: https://webassembly.github.io/spec/core/binary/modules.html#element-section */
function elementBits(module: Module): number {
  const reader = readerOfSection(module, SectionId.element);
  if (reader === undefined) return 0;
  let bits = 0;
  const count = readCount(reader, 'the number of element segments');
  for (let segment = 0; segment < count; segment++) bits |= elementSegmentBits(reader);
  return bits;
}

function elementSegmentBits(reader: SectionReader): number {
  const flags = readU32(reader, "an element segment's flags");
  const [isActive, isExplicit, hasExpressions] = [(flags & 1) === 0, (flags & 2) !== 0, (flags & 4) !== 0];
  const isDeclarative = !isActive && isExplicit;
  let bits = flags === 0 ? 0 : isDeclarative ? ProposalBit.referenceTypes : ProposalBit.bulkMemory;
  if (isActive && isExplicit) readU32(reader, 'a table index');
  if (isActive) bits |= constExprBits(reader);
  if (!isActive || isExplicit) {
    if (!hasExpressions) skipBytes(reader, 1, 'an element kind');
    else {
      const type = readValueType(reader);
      if (type !== 'funcref') bits |= valueTypeBits(type);
    }
  }
  const count = readCount(reader, 'the number of elements');
  for (let element = 0; element < count; element++) {
    if (hasExpressions) bits |= constExprBits(reader);
    else readU32(reader, 'a function index');
  }
  return bits;
}

function dataBits(module: Module): number {
  const declared = findSection(module.sections, SectionId.dataCount) === undefined ? 0 : ProposalBit.bulkMemory;
  const reader = readerOfSection(module, SectionId.data);
  if (reader === undefined) return declared;
  let bits = declared;
  const count = readCount(reader, 'the number of data segments');
  for (let segment = 0; segment < count; segment++) {
    const flags = readU32(reader, "a data segment's flags");
    if (flags !== 0) bits |= ProposalBit.bulkMemory;
    if (flags === 2) readU32(reader, 'a memory index');
    if (flags !== 1) bits |= constExprBits(reader);
    skipBytes(reader, readCount(reader, 'the size of a data segment'), 'a data segment');
  }
  return bits;
}

/** Reads a constant expression. The first version has constants in it and `global.get` of what is imported. */
function constExprBits(reader: SectionReader): number {
  let bits = 0;
  for (;;) {
    const start = reader.offset;
    const opcode = reader.bytes[start] as number;
    const kind = readKind(reader);
    if (kind === ImmediateKind.End) return bits;
    bits |= instructionBits(reader.bytes, start, reader.end, 0);
    // i32.add, i32.sub, i32.mul, and those of i64
    if ((opcode >= 0x6a && opcode <= 0x6c) || (opcode >= 0x7c && opcode <= 0x7e)) bits |= ProposalBit.extendedConst;
    const isOwnGlobal =
      opcode === Op.globalGet && peekU32(reader.bytes, reader.offset, reader.end, 0) >= reader.importedGlobals;
    if (isOwnGlobal) bits |= ProposalBit.gc;
    if (kind === ImmediateKind.RefFunc) readU32(reader, 'a function index');
    else if (!skipConstImmediates(reader, kind, reader.cost))
      throw invalidModule('Expected a constant instruction', start);
  }
}
