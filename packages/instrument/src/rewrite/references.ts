import { copyRest, type IndexRewriter, rewriteConstExpr, rewriteFunctionIndex } from '../binary/const-expr.ts';
import { Op } from '../binary/opcodes.ts';
import { type ByteReader, expectEnd, readByte, readCount, readerOver, readU32, skipBytes } from '../binary/reader.ts';
import type { Section } from '../binary/sections.ts';
import { readLimits, readValueType } from '../binary/types.ts';
import type { ValidationCost } from '../binary/validation-cost.ts';
import { type ByteWriter, writeByte, writeS32, writeU32 } from '../binary/writer.ts';
import { invalidModule } from '../errors.ts';
import type { LastSizeGlobal } from './generated-functions.ts';

/** What the sections outside the code need to point their function indices at the right places. */
export interface ReferenceContext {
  readonly bytes: Uint8Array;
  readonly writer: ByteWriter;
  readonly functionCount: number;
  readonly cost: ValidationCost;
  readonly referenceIndex: (functionIndex: number) => number;
}

function startSection(context: ReferenceContext, section: Section | undefined, addedCount: number, what: string) {
  const reader = section
    ? readerOver(context.bytes, section.contentStart, section.end)
    : readerOver(context.bytes, 0, 0);
  const count = section ? readCount(reader, `the number of ${what}`) : 0;
  writeU32(context.writer, count + addedCount);
  const rewriter: IndexRewriter = { ...context, reader, copied: reader.offset };
  return { reader, rewriter, count };
}

/** Writes the element section; the functions in `declared` get a declarative segment behind the others. */
export function writeElementSection(
  context: ReferenceContext,
  section: Section | undefined,
  declared: readonly number[],
): void {
  const added = declared.length > 0 ? 1 : 0;
  const { reader, rewriter, count } = startSection(context, section, added, 'element segments');
  for (let segment = 0; segment < count; segment++) rewriteSegment(rewriter);
  copyRest(rewriter);
  expectEnd(reader, 'the element section');
  if (added === 0) return;
  writeByte(context.writer, 3); // declarative, of function indices
  writeByte(context.writer, 0);
  writeU32(context.writer, declared.length);
  for (const index of declared) writeU32(context.writer, index);
}

/** One of the eight kinds. https://webassembly.github.io/spec/core/binary/modules.html#element-section */
function rewriteSegment(rewriter: IndexRewriter): void {
  const { reader } = rewriter;
  const offset = reader.offset;
  const flags = readU32(reader, "an element segment's flags");
  if (flags > 7) throw invalidModule(`Expected flags of an element segment from 0 to 7, found ${flags}`, offset);
  const isActive = (flags & 1) === 0;
  const isExplicit = (flags & 2) !== 0;
  const hasExpressions = (flags & 4) !== 0;
  if (isActive && isExplicit) readU32(reader, 'a table index');
  if (isActive) rewriteConstExpr(rewriter);
  if (!isActive || isExplicit) readElementKind(reader, hasExpressions);
  const count = readCount(reader, 'the number of elements');
  for (let element = 0; element < count; element++) {
    if (hasExpressions) rewriteConstExpr(rewriter);
    else rewriteFunctionIndex(rewriter);
  }
}

function readElementKind(reader: ByteReader, hasExpressions: boolean): void {
  if (hasExpressions) {
    readValueType(reader);
    return;
  }
  const offset = reader.offset;
  const kind = readByte(reader, 'an element kind');
  if (kind !== 0) throw invalidModule(`Expected element kind 0, found ${kind}`, offset);
}

/** Writes the global section; `added` globals come behind the module's own. */
export function writeGlobalSection(
  context: ReferenceContext,
  section: Section | undefined,
  added: readonly LastSizeGlobal[],
): void {
  const { reader, rewriter, count } = startSection(context, section, added.length, 'globals');
  for (let global = 0; global < count; global++) {
    readValueType(reader);
    readByte(reader, "a global's mutability");
    rewriteConstExpr(rewriter);
  }
  copyRest(rewriter);
  expectEnd(reader, 'the global section');
  for (const { valueType, initialValue } of added) {
    writeByte(context.writer, valueType);
    writeByte(context.writer, 1); // mutable
    writeByte(context.writer, valueType === 0x7e ? Op.i64Const : Op.i32Const);
    writeS32(context.writer, initialValue);
    writeByte(context.writer, Op.end);
  }
}

/** Writes the table section: a table may come with an expression for its first elements. */
export function writeTableSection(context: ReferenceContext, section: Section): void {
  const { reader, rewriter, count } = startSection(context, section, 0, 'tables');
  for (let table = 0; table < count; table++) {
    const hasInitializer = reader.bytes[reader.offset] === 0x40;
    if (hasInitializer) skipBytes(reader, 2, 'a table with an initializer');
    readValueType(reader);
    readLimits(reader, 'a table');
    if (hasInitializer) rewriteConstExpr(rewriter);
  }
  copyRest(rewriter);
  expectEnd(reader, 'the table section');
}
