import { invalidModule } from '../errors.ts';
import { readConstExpr, readFunctionIndex } from './const-expr.ts';
import { type ByteReader, readByte, readCount, readU32, skipBytes } from './reader.ts';
import type { SectionVisitor } from './section-visitor.ts';
import { readValueType } from './types.ts';

/** One of the eight kinds of element segments. https://webassembly.github.io/spec/core/binary/modules.html#element-section */
export function readElementSegment(reader: ByteReader, visitor: SectionVisitor): void {
  const offset = reader.offset;
  const flags = readU32(reader, "an element segment's flags");
  if (flags > 7) throw invalidModule(`Expected flags of an element segment from 0 to 7, found ${flags}`, offset);
  const [isActive, isExplicit, hasExpressions] = [(flags & 1) === 0, (flags & 2) !== 0, (flags & 4) !== 0];
  if (isActive && isExplicit) readU32(reader, 'a table index');
  if (isActive) readConstExpr(reader, visitor);
  const elementType = isActive && !isExplicit ? 'funcref' : readElementType(reader, hasExpressions);
  visitor.onElementSegment?.(flags, elementType);
  const count = readCount(reader, 'the number of elements');
  for (let element = 0; element < count; element++) {
    if (hasExpressions) readConstExpr(reader, visitor);
    else readFunctionIndex(reader, visitor);
  }
}

function readElementType(reader: ByteReader, hasExpressions: boolean): string {
  if (hasExpressions) return readValueType(reader);
  const offset = reader.offset;
  const kind = readByte(reader, 'an element kind');
  if (kind !== 0) throw invalidModule(`Expected element kind 0, found ${kind}`, offset);
  return 'funcref';
}

/** https://webassembly.github.io/spec/core/binary/modules.html#data-section */
export function readDataSegment(reader: ByteReader, visitor: SectionVisitor): void {
  const flags = readU32(reader, "a data segment's flags");
  visitor.onDataSegment?.(flags);
  if (flags === 2) readU32(reader, 'a memory index');
  if (flags !== 1) readConstExpr(reader, visitor);
  skipBytes(reader, readCount(reader, 'the size of a data segment'), 'a data segment');
}
